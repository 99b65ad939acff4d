// SPDX-License-Identifier: Apache-2.0
// Plans of a graph by their decisions: to draw plans, to time them, and to price them again.
#ifndef KIRSCH_SEARCH_GRAPH_FOLLOW_PLAN_H_
#define KIRSCH_SEARCH_GRAPH_FOLLOW_PLAN_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/graph/plan_search.h"
#include "spec/graph/graph.h"
#include "spec/program/plan.h"

namespace kirsch {

// One plan after the other of the same graph. Not thread-safe; all arguments outlive it. Of the options the
// threads, the residency, the fusion and Winograd's algorithm count.
class PlanFollower {
 public:
  PlanFollower(const Graph& graph, std::string_view source, const CostModel& model, Memo& memo,
               const PlanOptions& options);
  PlanFollower(const PlanFollower&) = delete;
  PlanFollower& operator=(const PlanFollower&) = delete;

  // The cheapest of all. Errors are those of SearchPlan, or that there is none.
  absl::StatusOr<Plan> Best() { return Find(nullptr); }

  // The cheapest with these decisions. An error is one line with the place of what is not in the space.
  absl::StatusOr<Plan> With(const PlanSchedule& schedule) { return Find(&schedule); }
  // The same of a text that was kept or written by hand. `file` is what errors call it.
  absl::StatusOr<Plan> With(std::string_view text, std::string_view file);

 private:
  absl::StatusOr<Plan> Find(const PlanSchedule* schedule);

  const Graph& graph_;
  const std::string_view source_;
  const CostModel& model_;
  PlanOptions options_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_FOLLOW_PLAN_H_
