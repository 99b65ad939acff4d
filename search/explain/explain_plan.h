// SPDX-License-Identifier: Apache-2.0
// Explains why a plan takes the time it takes: what each of its stages moves, and what the programs of its
// contractions are like.
#ifndef KIRSCH_SEARCH_EXPLAIN_EXPLAIN_PLAN_H_
#define KIRSCH_SEARCH_EXPLAIN_EXPLAIN_PLAN_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/cost_model.h"
#include "cost/row_cost.h"
#include "search/explain/explain.h"
#include "spec/program/plan.h"
#include "spec/traffic.h"

namespace kirsch {

// When a stage runs. kFirst: once in each run of the plan. kItem: for each item of its nest's batch. kTile:
// for each whole tile of rows. kRest: for the rows that are left over.
enum class StageTime { kFirst, kItem, kTile, kRest };
std::string_view Name(StageTime time);

// One stage of a nest, and what it adds to the plan's time and traffic.
struct ExplainedStage {
  const Stage* stage = nullptr;
  int nest = 0;  // its place in Plan::nests
  StageTime time = StageTime::kFirst;
  double runs = 1;                      // in the whole plan, with all its repeats, by all threads
  double weight = 1;                    // runs that take time one after another
  Traffic traffic;                      // of one run
  std::vector<ExplainedNode> nodes;     // kContraction: its program, of one repeat; no runners-up
  std::vector<RowVectorCycles> passes;  // kRows: of one vector in each pass
};

struct ExplainedPlan {
  const Plan* plan = nullptr;
  std::vector<ExplainedStage> stages;  // in the order in which they run; none of what is made ahead
  Traffic traffic;                     // of all their runs
};

// The second best choice, as text. For a group's candidate, the cycles are the group's: "matmul tile=64
// keep=L2". For a split of the graph without the group, they are the plan's: "v6 v7 | v8 out".
struct RunnerUp {
  std::string text;
  double cycles = 0;
};
// Return nothing if there is no other choice, or if the search was not asked to explain itself
// (PlanOptions::explain).
std::optional<RunnerUp> OtherCandidate(const GroupDecision& group);
std::optional<RunnerUp> OtherSplit(const Graph& graph, const GroupDecision& group);

// Explains a plan that a search for the model's target found. A plan from a table lacks what the search knew
// of other choices. `plan` must outlive the result.
ExplainedPlan ExplainPlan(const Plan& plan, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_EXPLAIN_EXPLAIN_PLAN_H_
