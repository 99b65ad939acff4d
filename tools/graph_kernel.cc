#include "tools/graph_kernel.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "cost/cost_model.h"
#include "spec/cat.h"
#include "spec/plan_program.h"

namespace kirsch {
namespace {

std::string_view StopName(const PlanResult& result) {
  return Name(result.optimal ? StopReason::kOptimal : StopReason::kBudget);
}

// "F(4x4,3x3)" for each convolution by Winograd's algorithm.
std::vector<std::string> WinogradNames(const Plan& plan) {
  std::vector<std::string> names;
  for (const auto& [node, tile] : WinogradConvolutions(plan)) names.push_back(WinogradName(tile));
  return names;
}

}  // namespace

absl::StatusOr<GraphSynthesis> SolveGraph(const SolveArguments& arguments, const Graph& graph,
                                          const std::string& source, const Target& target,
                                          const std::shared_ptr<Memo>& memo, SearchBudget& budget) {
  const CostModel model(target);
  PlanOptions options;
  options.threads = arguments.threads;
  options.residency = arguments.cold ? Residency::kCold : Residency::kWarm;
  options.fuse = arguments.fuse;
  options.allow_winograd = arguments.allow_winograd;
  options.solve = [&](const Spec& placed) {
    SolveArguments own = arguments;
    own.time_budget = budget.Left();
    absl::StatusOr<SearchResult> result = SolvePlaced(own, placed, model, *memo);
    if (result.ok() && result->stop == StopReason::kCancelled) budget.End();
    return result;
  };
  absl::StatusOr<PlanResult> result = SearchPlan(graph, source, model, options);
  if (!result.ok()) return result.status();
  return GraphSynthesis{target, *std::move(result)};
}

absl::Status CheckNotPinned(const SolveArguments& arguments) {
  if (arguments.schedule.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("--schedule: expected a spec, as the plans of graphs can't be pinned");
}

double PredictedGflops(const GraphSynthesis& synthesis) {
  const Plan& plan = synthesis.result.plan;
  return plan.cycles > 0 ? Flops(plan.graph) / plan.cycles * synthesis.target.ghz : 0;
}

nlohmann::ordered_json GraphJson(const GraphSynthesis& synthesis) {
  const PlanResult& result = synthesis.result;
  nlohmann::ordered_json json;
  json["kernel"] = PrintGraph(result.plan.graph);
  json["target"] = synthesis.target.name;
  json["version"] = KIRSCH_VERSION;
  json["search"] = {{"seconds", result.seconds},
                    {"stop", std::string(StopName(result))},
                    {"specs_solved", result.stats.specs_solved},
                    {"memo_hits", result.stats.memo_hits},
                    {"pruned", result.stats.pruned}};
  json["cost_cycles"] = result.plan.cycles;
  if (result.unfused_cycles) json["unfused_cycles"] = *result.unfused_cycles;
  json["predicted_gflops"] = PredictedGflops(synthesis);
  json["winograd"] = WinogradNames(result.plan);
  const Program program = ProgramOf(result.plan, synthesis.target);
  if (result.plan.graph.HasConstants()) json["packed_bytes"] = program.packed_bytes;
  json["buffer_bytes"] = program.own_bytes;
  json["shared_bytes"] = program.shared_bytes;
  json["phases"] = result.plan.phases();
  json["plan"] = PrintPlan(result.plan) + PrintMemory(program);
  return json;
}

void PrintGraphSummary(const GraphSynthesis& synthesis) {
  const PlanResult& result = synthesis.result;
  const std::vector<std::string> winograd = WinogradNames(result.plan);
  std::fprintf(
      stderr, "%s on %s: %.0f cycles, %.1f GFLOP/s predicted; %s%s; %d specs in %.3f s%s\n",
      result.plan.graph.name.c_str(), synthesis.target.name.c_str(), result.plan.cycles,
      PredictedGflops(synthesis),
      result.unfused_cycles ? absl::StrFormat("%.0f cycles one by one; ", *result.unfused_cycles).c_str()
                            : "",
      std::string(StopName(result)).c_str(), static_cast<int>(result.stats.specs_solved), result.seconds,
      winograd.empty() ? "" : Cat("; by Winograd's algorithm, ", Join(winograd, " ")).c_str());
}

std::string ExplainedGraph(const GraphSynthesis& synthesis) {
  const PlanResult& result = synthesis.result;
  const Plan& plan = result.plan;
  return Cat(
      PrintGraph(plan.graph), "\n", PrintPlan(plan), PrintMemory(ProgramOf(plan, synthesis.target)), "\n",
      absl::StrFormat("%s on %s: %.0f cycles, %.1f GFLOP/s at %g GHz", plan.graph.name, synthesis.target.name,
                      plan.cycles, PredictedGflops(synthesis), synthesis.target.ghz),
      result.unfused_cycles
          ? absl::StrFormat("; with a group for each operation %.0f cycles", *result.unfused_cycles)
          : "",
      "\n");
}

}  // namespace kirsch
