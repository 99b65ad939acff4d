// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning_trials.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "bench/harness/expected_result.h"
#include "bench/harness/fastest.h"
#include "bench/harness/trials.h"
#include "bench/results/statistics.h"
#include "codegen/verify/engines.h"
#include "spec/target/host.h"
#include "spec/text/status_macros.h"
#include "synthesis/cold_operands.h"

namespace kirsch {
namespace {

constexpr int kMostRounds = 51;                                // in each of which every program is timed once
constexpr double kLeastSample = 1e-3, kLongestSample = 20e-3;  // seconds

using Clock = std::chrono::steady_clock;

// Compiles all candidates by the JIT. An error if this CPU lacks what one needs.
absl::StatusOr<std::vector<Kernel>> Compiled(const std::vector<TuningCandidate>& candidates,
                                             const Target& target) {
  std::vector<Kernel> kernels;
  for (const TuningCandidate& candidate : candidates) {
    KIRSCH_ASSIGN_OR_RETURN(Kernel kernel, CompileForThisCpu(Subject(candidate.program, target, "tuned")));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

// What was measured, and which program is the fastest beyond noise. Programs without samples are left out,
// except the first one: the report must have the predicted best.
//   candidates  0 1 2 3, of which 2 was stopped before it had a sample
//   the report  0 1 3; if 3 is the fastest, `chosen` is 2
TuningReport MakeReport(const SolveArguments& arguments, const std::string& name,
                        const std::vector<TuningCandidate>& candidates, const Trials& trials) {
  TuningReport report;
  report.signature = Signature(ReadHost());
  report.spec = name;
  report.threads = arguments.threads;
  report.cold = !arguments.cold.empty();
  report.ghz = trials.ghz.empty() ? 0 : Median(trials.ghz);
  const Fastest fastest = FindFastest(trials.of);
  report.noise_decides = fastest.noise_decides;
  for (size_t i = 0; i < trials.of.size(); ++i) {
    const Trial& trial = trials.of[i];
    if (i != 0 && trial.seconds.empty()) continue;
    // Numbers in the report count only the programs in it.
    if (i == fastest.program) report.chosen = report.programs.size();
    report.programs.push_back({candidates[i].schedule, candidates[i].cycles});
    if (trial.seconds.empty()) continue;
    report.programs.back().seconds = trial.MedianSeconds();
    report.programs.back().cycles = trial.MedianCycles();
    report.programs.back().spread = trial.Spread();
  }
  return report;
}

}  // namespace

absl::StatusOr<TuningProblem> MakeProblem(const Graph& graph, const SolveArguments& arguments) {
  // Plain loops in float64 compute what the graph means; results of kernels are compared with theirs.
  KIRSCH_ASSIGN_OR_RETURN(CompiledLoops loops, CompiledLoops::Compile(graph, LoopsKind::kReference, false));
  TuningProblem problem{MakeWorkload(graph, arguments.threads), std::move(loops)};
  problem.workload.evicted = ColdOperands(arguments.cold, graph).in_ram();
  return problem;
}

// A kernel for blocks of columns is timed on all of its columns in one call (engines.h).
absl::StatusOr<TuningProblem> MakeProblem(const ParsedSpec& parsed, const SolveArguments& arguments) {
  // `whole` has no blocks.
  Spec whole = parsed.spec;
  whole.block = 0;
  absl::StatusOr<Workload> workload = MakeWorkload(whole, arguments.threads);
  if (workload.ok()) {
    workload->evicted = ColdOperands(arguments.cold, parsed).in_ram();
    return TuningProblem{*std::move(workload)};
  }
  return absl::InvalidArgumentError(
      Cat("--tune: expected a matmul of matrices, or a graph, got ", Quoted(parsed.text)));
}

absl::StatusOr<TuningReport> TimeCandidates(const SolveArguments& arguments, double seconds,
                                            const std::string& name, const Target& target,
                                            const std::vector<TuningCandidate>& candidates,
                                            const TuningProblem& problem, const std::function<bool()>& stop) {
  KIRSCH_ASSIGN_OR_RETURN(const std::vector<Kernel> kernels, Compiled(candidates, target));
  // The time begins after compiling, and bounds the measuring.
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  TrialOptions trial;
  trial.rounds = kMostRounds;
  // Samples are as long as half of the time allows, if all rounds are made. 30 seconds for 16 candidates: 30
  // s / 51 / 16 / 2 = 18 ms for each.
  trial.min_seconds = std::clamp(seconds / kMostRounds / static_cast<double>(candidates.size()) / 2,
                                 kLeastSample, kLongestSample);
  trial.threads = arguments.threads;
  trial.cold = !arguments.cold.empty();
  trial.loops = problem.loops ? &*problem.loops : nullptr;
  trial.tolerance = arguments.allow_winograd ? kWinogradTolerance : 1;
  trial.stop = [&] { return stop() || Clock::now() >= end; };
  KIRSCH_ASSIGN_OR_RETURN(const Trials trials, RunTrials(problem.workload, kernels, trial));
  // A wrong result is reported with the schedule that leads to it.
  std::vector<std::string> schedules;
  for (const TuningCandidate& candidate : candidates) schedules.push_back(candidate.schedule);
  KIRSCH_RETURN_IF_ERROR(CheckResults(name, schedules, trials.of));
  return MakeReport(arguments, name, candidates, trials);
}

}  // namespace kirsch
