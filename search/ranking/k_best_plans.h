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

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/graph/plan_search.h"
#include "search/ranking/k_best.h"
#include "spec/graph/graph.h"
#include "spec/program/plan.h"

namespace kirsch {

// Says where a plan first departs from the best, in words of its schedule (plan_schedule.h).
struct PlanDeparture {
  std::string
      where;  // "groups", "group v3 out, candidate", "group v3 out, contraction 0 at 1.0"; empty: nowhere
  std::string best, instead;
};

// One plan of the list. `departure`: from the first plan of the list.
struct RankedPlan {
  Plan plan;
  PlanDeparture departure;
};

struct KBestPlansResult {
  std::vector<RankedPlan> plans;  // by cycles; the first is SearchPlan's. Fewer than asked for: there are no
  bool complete = true;           // more, or, if not complete, the search was stopped and no more are known
  double seconds = 0;
};

// Lists the cheapest plans of a graph. Of `options` the threads, the residency, the fusion and Winograd's
// algorithm count; of `search` the time budget and cancellation. Errors are those of SearchPlan, or that
// there is no plan.
absl::StatusOr<KBestPlansResult> KBestPlans(const Graph& graph, std::string_view source,
                                            const RankOptions& rank, const CostModel& model, Memo& memo,
                                            PlanOptions options, const SearchOptions& search);

// Says where `plan` first departs from `best`. Both must be plans of the same graph.
PlanDeparture CompareWithBest(const Plan& plan, const Plan& best);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_K_BEST_PLANS_H_
