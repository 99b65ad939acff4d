// SPDX-License-Identifier: Apache-2.0
// From a graph and a target to a plan.
#ifndef KIRSCH_SYNTHESIS_GRAPH_KERNEL_H_
#define KIRSCH_SYNTHESIS_GRAPH_KERNEL_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "search/graph/plan_search.h"
#include "spec/graph/graph.h"
#include "synthesis/search_budget.h"
#include "synthesis/solve.h"
#include "synthesis/tuning_report.h"

namespace kirsch {

struct GraphSynthesis {
  Target target;
  PlanResult result;
  std::optional<TuningReport> tuned = {};  // as in Synthesis
};

// The cheapest plan, or that of a schedule; `source`: what errors call the text. A search that the observer
// stops ends `budget`, and so all others with the best programs so far.
absl::StatusOr<OrNoPlan<GraphSynthesis>> SolveGraph(const SolveArguments& arguments, const Graph& graph,
                                                    const std::string& source, const Target& target,
                                                    const std::shared_ptr<Memo>& memo, SearchBudget& budget);

// What a plan is to be like; how it is found is not said.
PlanOptions PlanOptionsOf(const SolveArguments& arguments, const Graph& graph);

double PredictedGflops(const GraphSynthesis& synthesis);

// As of a spec.
std::string_view StopName(const GraphSynthesis& synthesis);

// Are the products of integers? Those of the first contraction, or without one the result.
bool IsOfIntegers(const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_GRAPH_KERNEL_H_
