// SPDX-License-Identifier: Apache-2.0
// Turns a shortest path through the fusion graph into the Plan it stands for. Every group on the path must
// already have been priced.
#ifndef KIRSCH_SEARCH_GRAPH_PATH_PLAN_H_
#define KIRSCH_SEARCH_GRAPH_PATH_PLAN_H_

#include <functional>

#include "search/graph/group_pricer.h"
#include "search/graph/plan_paths.h"
#include "spec/graph/graph.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// Builds the plan for so many threads. Its cycles are left to the caller, as is the price of starting
// threads. `group_of` returns a priced group of the path, by its operations and who computes it.
Plan PlanAlong(const PlanPath& path, const Graph& graph, const Target& target, int threads,
               const std::function<const PricedGroup&(const GroupQuestion&)>& group_of);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_PATH_PLAN_H_
