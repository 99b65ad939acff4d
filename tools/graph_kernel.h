// Kernels of graphs on the command line: solved, explained.
#ifndef KIRSCH_TOOLS_GRAPH_KERNEL_H_
#define KIRSCH_TOOLS_GRAPH_KERNEL_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "search/graph/plan_search.h"
#include "spec/graph/graph.h"
#include "tools/search_budget.h"
#include "tools/solve.h"
#include "tools/tuning_report.h"

namespace kirsch {

struct GraphSynthesis {
  Target target;
  PlanResult result;
  std::optional<TuningReport> tuned = {};  // as in Synthesis
};

// The cheapest plan, or that of a schedule; `source`: what errors call the text. On a terminal, shows
// progress; Ctrl-C ends `budget`, and so the searches with the best programs so far.
absl::StatusOr<GraphSynthesis> SolveGraph(const SolveArguments& arguments, const Graph& graph,
                                          const std::string& source, const Target& target,
                                          const std::shared_ptr<Memo>& memo, SearchBudget& budget);

// What a plan is to be like; how it is found is not said.
PlanOptions PlanOptionsOf(const SolveArguments& arguments, const Graph& graph);

double PredictedGflops(const GraphSynthesis& synthesis);

// kernel, target, version, search, cost_cycles, predicted_gflops, winograd, packed_bytes
// of the constants, buffer_bytes and shared_bytes of the plan, its phases, schedule, plan: its text for
// people.
nlohmann::ordered_json SynthesisJson(const GraphSynthesis& synthesis);

// One line for people, on standard error.
void PrintSummary(const GraphSynthesis& synthesis);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_GRAPH_KERNEL_H_
