// SPDX-License-Identifier: Apache-2.0
// Draws plans of a graph by chance, as draw_programs.h draws programs of a spec, to judge the cost model by
// them.
#ifndef KIRSCH_SEARCH_SAMPLING_DRAW_PLANS_H_
#define KIRSCH_SEARCH_SAMPLING_DRAW_PLANS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/graph/plan_search.h"
#include "spec/graph/graph.h"
#include "spec/program/plan.h"

namespace kirsch {

// Draws `count` plans of a graph, no two with the same schedule; fewer if no more are easily found.
// Deterministic.
// - The first is the optimum.
// - Half of the others are drawn anywhere: any groups in any order, and any candidate for each group. Each
//   stage has its best program or, as often, any. Those that cost more than kFarthestDrawn optima are left
//   out.
// - The other half is the optimum with one thing replaced, within kFarthestAround optima: a stage's program
//   or schedule, the candidate of a group, or the groups.
//
// Of `options` the threads, the residency and Winograd's algorithm count. Errors are those of SearchPlan.
absl::StatusOr<std::vector<Plan>> DrawPlans(const Graph& graph, std::string_view source,
                                            const CostModel& model, Memo& memo, const PlanOptions& options,
                                            int count, uint64_t seed);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SAMPLING_DRAW_PLANS_H_
