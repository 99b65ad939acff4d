// SPDX-License-Identifier: Apache-2.0
#include "search/graph/follow_plan.h"

#include <utility>

#include "spec/language/plan_schedule.h"
#include "spec/text/status_macros.h"

namespace kirsch {

PlanFollower::PlanFollower(const Graph& graph, std::string_view source, const CostModel& model, Memo& memo,
                           const PlanOptions& options)
    : graph_(graph), source_(source), model_(model), options_(options) {
  options_.explain = false;
  SearchStages(model, memo, &options_);
}

absl::StatusOr<Plan> PlanFollower::With(std::string_view text, std::string_view file) {
  KIRSCH_ASSIGN_OR_RETURN(const PlanSchedule schedule, ParsePlanSchedule(text, file));
  return With(schedule);
}

absl::StatusOr<Plan> PlanFollower::Find(const PlanSchedule* schedule) {
  options_.schedule = schedule;
  absl::StatusOr<PlanResult> result = Require(SearchPlan(graph_, source_, model_, options_));
  options_.schedule = nullptr;
  if (!result.ok()) return result.status();
  return std::move(result->plan);
}

}  // namespace kirsch
