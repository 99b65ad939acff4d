#include "bench/run.h"

#include <algorithm>
#include <utility>

#include "bench/arena.h"
#include "bench/element.h"
#include "bench/reference.h"

namespace kirsch {
namespace {

// Of each item the problem that it is, its operands nowhere yet.
absl::StatusOr<std::vector<Problem>> MakeProblems(const BenchRequest& request) {
  std::vector<Problem> problems;
  for (const BenchItem& item : request.items) {
    const absl::StatusOr<Problem> problem = MakeProblem(item.spec, request.threads);
    if (!problem.ok()) return problem.status();
    problems.push_back(*problem);
  }
  return problems;
}

FilledSpec Fill(const Problem& problem) {
  FillInputs(problem);
  FillOutput(problem);
  FilledSpec spec;
  spec.unit = IsInteger(problem.out_type) ? "GOP/s" : "GFLOP/s";
  spec.operations = Flops(problem);
  spec.compulsory_bytes = CompulsoryBytes(problem);
  spec.fill_output = [&problem] { FillOutput(problem); };
  spec.check_output = [&problem, reference = ComputeReference(problem)] {
    return CheckOutput(reference, problem);
  };
  return spec;
}

}  // namespace

absl::StatusOr<BenchReport> RunBench(const BenchRequest& request) {
  if (request.items.empty()) return absl::InvalidArgumentError("bench: nothing to measure, expected a spec");
  absl::StatusOr<std::vector<Problem>> made = MakeProblems(request);
  if (!made.ok()) return made.status();
  std::vector<Problem>& problems = *made;
  size_t bytes = 0;
  for (const Problem& problem : problems) bytes = std::max(bytes, PlacedBytes(problem));
  const SharedArena arena(bytes);
  if (!arena.ok()) return absl::ResourceExhaustedError("bench: no memory for the operands");
  BenchPlan plan;
  std::vector<OurKernel> kernels;
  for (size_t item = 0; item < problems.size(); ++item) {
    Problem& problem = problems[item];
    Place(arena.memory(), problem);
    plan.measurements.push_back({request.items[item].text, problem, [&problem] { return Fill(problem); }});
    kernels.push_back(request.items[item].kernel);
  }
  plan.ours = [&kernels, &problems, &request] {
    return MakeRunner(MakeOurContender(kernels, request.threads), problems);
  };
  for (const std::string& name : request.peers) {
    absl::StatusOr<Peer> peer = FindPeer(name, problems);
    if (!peer.ok()) return peer.status();
    plan.peers.push_back(*std::move(peer));
  }
  return RunPlan(plan, request);
}

}  // namespace kirsch
