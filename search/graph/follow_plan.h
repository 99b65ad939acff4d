// SPDX-License-Identifier: Apache-2.0
// Finds plans of a graph by their decisions. It serves those who draw plans, time them, or price them again.
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

// Finds one plan after the other of the same graph, with one memo for all. Not thread-safe; all arguments
// must outlive it. Of the options the threads, the residency, the fusion and Winograd's algorithm count.
class PlanFollower {
 public:
  PlanFollower(const Graph& graph, std::string_view source, const CostModel& model, Memo& memo,
               const PlanOptions& options);
  PlanFollower(const PlanFollower&) = delete;
  PlanFollower& operator=(const PlanFollower&) = delete;

  // The cheapest plan of all. Errors are those of SearchPlan, or that there is no plan.
  absl::StatusOr<Plan> Best() { return Find(nullptr); }

  // The cheapest plan with these decisions; what they leave open is searched. An error is one line with the
  // place of the decision that is not in the space.
  absl::StatusOr<Plan> With(const PlanSchedule& schedule) { return Find(&schedule); }
  // The same for a text that was kept or written by hand. `file` is what errors call it.
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
