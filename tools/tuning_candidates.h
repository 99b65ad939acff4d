// SPDX-License-Identifier: Apache-2.0
// Chooses the programs that --tune times: promising by the model, and different in code.
#ifndef KIRSCH_TOOLS_TUNING_CANDIDATES_H_
#define KIRSCH_TOOLS_TUNING_CANDIDATES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "search/solver/search.h"
#include "spec/program/program_tree.h"
#include "synthesis/graph_kernel.h"
#include "synthesis/synthesis.h"

namespace kirsch {

// A program to be timed, with the schedule by which it is kept.
struct TuningCandidate {
  std::string schedule;
  double cycles = 0;  // predicted
  ProgramTree program;
};

// The predicted best first, then the cheapest that depart from it in an outer choice
// (search/ranking/outer_choices.h). There are fewer if `search` is stopped.
std::vector<TuningCandidate> FindCandidates(const Synthesis& synthesis, const SearchOptions& search);

// The same for the plans of a graph. Errors are those of SearchPlan.
absl::StatusOr<std::vector<TuningCandidate>> FindCandidates(const SolveArguments& arguments,
                                                            const Graph& graph, const Target& target,
                                                            Memo& memo, const SearchOptions& search);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TUNING_CANDIDATES_H_
