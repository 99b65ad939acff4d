// SPDX-License-Identifier: Apache-2.0
// Lists the K cheapest plans of a graph that differ in code: exactly those, in the space that SearchPlan
// searches.
//
// A plan is a path of groups (plan_paths.h). Each group has a candidate with choices of copies, and each
// stage a program or a schedule. So the K cheapest plans lie on the K shortest paths, whose lengths are
// learned as far as is needed. Along a path they are combinations of the cheapest of each group
// (group_k_best.h), which have the K cheapest programs of each contraction (k_best.h). Only what costs less
// than a limit is looked at, which grows from a little above the optimum until there are K below.
//
// A copy lies as one of its readers' cheapest programs would have it, or isn't made. Everything that is
// made of constants once for all calls takes no time, so it has its cheapest program only.
#ifndef KIRSCH_SEARCH_RANKING_K_BEST_PLANS_H_
#define KIRSCH_SEARCH_RANKING_K_BEST_PLANS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/graph/plan_search.h"
#include "search/ranking/k_best.h"
#include "spec/graph/graph.h"

namespace kirsch {

// Lists the cheapest plans of a graph. Of `options` the threads, the residency, the fusion and Winograd's
// algorithm count; of `search` the time budget and cancellation. Errors are those of SearchPlan, or that
// there is no plan.
absl::StatusOr<KBestResult> KBestPlans(const Graph& graph, std::string_view source, const RankOptions& rank,
                                       const CostModel& model, Memo& memo, PlanOptions options,
                                       const SearchOptions& search);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_K_BEST_PLANS_H_
