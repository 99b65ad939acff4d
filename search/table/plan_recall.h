// SPDX-License-Identifier: Apache-2.0
// Recalls plans of graphs from the table, and remembers those that were searched. A plan is kept as the text
// of its schedule, under a question in text form. When it is recalled the schedule is followed, and the plan
// priced anew.
#ifndef KIRSCH_SEARCH_TABLE_PLAN_RECALL_H_
#define KIRSCH_SEARCH_TABLE_PLAN_RECALL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "memo/table.h"
#include "search/graph/plan_search.h"

namespace kirsch {

// The question's text: the graph in its canonical form, without names, and what else a plan depends on. Two
// questions are the same if and only if their answers must be. An option that changes plans has to be in it.
// Plans for any number of rows or keys are asked of no table, so what makes them such is not. Example: two
// graphs that differ in names of values ask the same.
std::string PlanQuestion(const Graph& graph, const PlanOptions& options);

// Returns the plan that the table has for the graph, or else the one that SearchPlan finds. The table then
// remembers it if it is optimal. `table` may be null. The options must have no schedule of their own.
//
// An error may also be the table's, if it has a schedule that is none of the graph's plans.
absl::StatusOr<OrNoPlan<PlanResult>> AnswerPlan(const Graph& graph, std::string_view source,
                                                const CostModel& model, const PlanOptions& options,
                                                Table* table);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_TABLE_PLAN_RECALL_H_
