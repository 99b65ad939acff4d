// SPDX-License-Identifier: Apache-2.0
// Plans of graphs in the table: what is asked, and what is kept of the answer.
#ifndef KIRSCH_SEARCH_TABLE_PLAN_RECALL_H_
#define KIRSCH_SEARCH_TABLE_PLAN_RECALL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "memo/table.h"
#include "search/graph/plan_search.h"

namespace kirsch {

// A graph in its canonical form, without names, and what else a plan depends on, as text. Two questions are
// the same if and only if their answers must be.
std::string PlanQuestion(const Graph& graph, const PlanOptions& options);

// The plan that the table has for the graph, or that SearchPlan finds, which the table then remembers.
// `table` may be null; no schedule is given. An error may be the table's, as where it has a schedule that is
// none of the graph's.
absl::StatusOr<OrNoPlan<PlanResult>> AnswerPlan(const Graph& graph, std::string_view source,
                                                const CostModel& model, const PlanOptions& options,
                                                Table* table);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_TABLE_PLAN_RECALL_H_
