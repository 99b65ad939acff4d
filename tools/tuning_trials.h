// SPDX-License-Identifier: Apache-2.0
// Timing candidates on this machine: what --tune does.
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

// What candidates compute.
struct TuningProblem {
  Workload workload;
  std::optional<CompiledLoops> loops = {};  // of a graph
};

// For so many threads, and with operands as cold, as `arguments` say. InvalidArgument, one line, if bench
// can't say what they compute; of graphs NotFound without a compiler.
absl::StatusOr<TuningProblem> MakeProblem(const ParsedSpec& parsed, const SolveArguments& arguments);
absl::StatusOr<TuningProblem> MakeProblem(const Graph& graph, const SolveArguments& arguments);

// In rounds (bench/harness/trials.h) for so many seconds, until `stop`. Internal if a candidate computes a
// wrong result, which is a bug; errors of the machine.
absl::StatusOr<TuningReport> TimeCandidates(const SolveArguments& arguments, double seconds,
                                            const std::string& name, const Target& target,
                                            const std::vector<TuningCandidate>& candidates,
                                            const TuningProblem& problem, const std::function<bool()>& stop);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TUNING_TRIALS_H_
