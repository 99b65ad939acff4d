// SPDX-License-Identifier: Apache-2.0
// From a graph and a target to a plan.
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

// The search alone (see Solve) for the cheapest plan, or that of a schedule; `source`: what errors call the
// text. Sets `*cancelled` if the observer stops it.
absl::StatusOr<OrNoPlan<PlanResult>> SolveGraph(const SolveArguments& arguments, const Graph& graph,
                                                const std::string& source, const Target& target,
                                                const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                                                bool* cancelled);

// What a plan is to be like; how it is found is not said.
PlanOptions MakePlanOptions(const SolveArguments& arguments, const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_GRAPH_KERNEL_H_
