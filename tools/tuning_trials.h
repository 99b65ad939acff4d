// SPDX-License-Identifier: Apache-2.0
// Times candidates on this machine, and makes a report of it: what --tune does.
#ifndef KIRSCH_TOOLS_TUNING_TRIALS_H_
#define KIRSCH_TOOLS_TUNING_TRIALS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/loops/compiled_loops.h"
#include "bench/workload/workload.h"
#include "codegen/kernel.h"
#include "synthesis/tuning_report.h"
#include "tools/tuning_candidates.h"

namespace kirsch {

// What all candidates compute: operands, work, and for a graph a reference to compare results with.
struct TuningProblem {
  Workload workload;
  std::optional<CompiledLoops> loops = {};  // of a graph
};

// The problem for the threads and the cold operands of `arguments`. InvalidArgument, one line, if bench can't
// say what a spec computes. Of graphs NotFound without a C compiler.
absl::StatusOr<TuningProblem> MakeProblem(const ParsedSpec& parsed, const SolveArguments& arguments);
absl::StatusOr<TuningProblem> MakeProblem(const Graph& graph, const SolveArguments& arguments);

// Times the candidates in rounds (bench/harness/trials.h), for `seconds` or until `stop`. Internal if a
// candidate computes a wrong result, which is a bug. Other errors are those of the machine.
absl::StatusOr<TuningReport> TimeCandidates(const SolveArguments& arguments, double seconds,
                                            const std::string& name, const Target& target,
                                            const std::vector<TuningCandidate>& candidates,
                                            const TuningProblem& problem, const std::function<bool()>& stop);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TUNING_TRIALS_H_
