// SPDX-License-Identifier: Apache-2.0
// Finds the plan of a graph for one target. The search of plans asks back for the programs of contractions;
// this decides where those come from: the table, the memo, or a search within the budget.
#ifndef KIRSCH_SYNTHESIS_GRAPH_KERNEL_H_
#define KIRSCH_SYNTHESIS_GRAPH_KERNEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "search/graph/plan_search.h"
#include "spec/graph/graph.h"
#include "synthesis/search_budget.h"
#include "synthesis/solve.h"

namespace kirsch {

// The search alone, without tuning (see Solve): for the cheapest plan, or for the plan of a schedule.
// `source` is what errors call the graph's text. Sets `*cancelled`, and ends `budget`, if the observer stops
// a search.
absl::StatusOr<OrNoPlan<PlanResult>> SolveGraph(const SolveArguments& arguments, const Graph& graph,
                                                const std::string& source, const Target& target,
                                                const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                                                bool* cancelled);

// The options that say what a plan is to be like: threads, cold operands, fusion, packing. How programs of
// stages are found (`solve`, `replay`) is left to the caller.
PlanOptions MakePlanOptions(const SolveArguments& arguments, const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_GRAPH_KERNEL_H_
