#include "tools/graph_kernel.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "cost/cost_model.h"
#include "search/solver/replay.h"
#include "search/table/plan_recall.h"
#include "spec/language/plan_schedule.h"
#include "spec/program/plan_program.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tools/cold_operands.h"
#include "tools/interrupt.h"
#include "tools/prediction.h"

namespace kirsch {
namespace {

std::string_view StopName(const GraphSynthesis& synthesis) {
  const PlanResult& result = synthesis.result;
  if (IsTuned(synthesis.tuned)) return "tuned";
  if (result.from_table) return "from the table";
  if (result.pinned) return Name(StopReason::kPinned);
  return Name(result.optimal ? StopReason::kOptimal : StopReason::kBudget);
}

// "F(4x4,3x3)" for each convolution by Winograd's algorithm.
std::vector<std::string> WinogradNames(const Plan& plan) {
  std::vector<std::string> names;
  for (const auto& [node, tile] : WinogradConvolutions(plan)) names.push_back(WinogradName(tile));
  return names;
}

}  // namespace

PlanOptions PlanOptionsOf(const SolveArguments& arguments, const Graph& graph) {
  PlanOptions options;
  options.threads = arguments.threads;
  options.residency = ColdOperands(arguments.cold, graph);
  options.fuse = arguments.fuse;
  options.allow_winograd = arguments.allow_winograd;
  options.packing = arguments.packing;
  options.ahead = arguments.ahead;
  options.cutoff = arguments.most_cycles;
  return options;
}

absl::StatusOr<GraphSynthesis> SolveGraph(const SolveArguments& arguments, const Graph& graph,
                                          const std::string& source, const Target& target,
                                          const std::shared_ptr<Memo>& memo, SearchBudget& budget) {
  if (arguments.tuner != nullptr)
    if (absl::Status tuning = arguments.tuner->Check(arguments); !tuning.ok()) return tuning;
  const InterruptGuard guard(arguments.console);  // over all searches, and what is tuned
  const CostModel model(target);
  PlanOptions options = PlanOptionsOf(arguments, graph);
  options.explain = arguments.explain;
  std::string text;
  PlanSchedule schedule;
  if (!arguments.schedule.empty()) {
    absl::StatusOr<std::string> read = ReadFile(arguments.schedule);
    if (!read.ok()) return read.status();
    text = *std::move(read);
    absl::StatusOr<PlanSchedule> parsed = ParsePlanSchedule(text, arguments.schedule);
    if (!parsed.ok()) return parsed.status();
    schedule = *std::move(parsed);
    options.schedule = &schedule;
  }
  options.replay = [&](const Spec& placed, const Schedule& of_spec, std::string_view file) {
    return Replay(placed, of_spec, file, model, *memo, {});
  };
  std::unique_ptr<Table> table;
  const DbOptions none{"", true};
  bool cancelled = false;
  options.solve = [&](const Spec& placed, Cost cutoff) {
    SolveArguments own = arguments;
    own.schedule.clear();
    if (table == nullptr) own.db = &none;
    own.time_budget = budget.Left();
    absl::StatusOr<SearchResult> result = SolvePlaced(own, placed, model, *memo, cutoff, table.get());
    if (result.ok() && result->stop == StopReason::kCancelled) {
      cancelled = true;
      budget.End();
    }
    return result;
  };
  // What the table has explains nothing.
  if (options.schedule == nullptr && !options.explain) {
    absl::StatusOr<std::unique_ptr<Table>> opened = OpenTable(*arguments.db, target);
    if (!opened.ok()) return opened.status();
    table = *std::move(opened);
  }
  absl::StatusOr<PlanResult> result = options.schedule != nullptr
                                          ? SearchPlan(graph, source, model, options)
                                          : AnswerPlan(graph, source, model, options, table.get());
  if (table != nullptr && !result.ok() && !absl::IsInvalidArgument(result.status())) {
    if (absl::Status status = WithoutTable(*arguments.db, result.status()); !status.ok()) return status;
    table = nullptr;
    result = SearchPlan(graph, source, model, options);
  }
  if (!result.ok()) return result.status();
  if (table != nullptr)
    if (absl::Status status = CommitTable(*arguments.db, *table); !status.ok()) return status;
  GraphSynthesis synthesis{target, *std::move(result)};
  if (arguments.tuner != nullptr)
    if (absl::Status tuned = arguments.tuner->Tune(arguments, graph, cancelled, *memo, &synthesis);
        !tuned.ok())
      return tuned;
  return synthesis;
}

double PredictedGflops(const GraphSynthesis& synthesis) {
  const Plan& plan = synthesis.result.plan;
  return plan.cycles > 0 ? Flops(plan.graph) / plan.cycles * synthesis.target.ghz : 0;
}

nlohmann::ordered_json SynthesisJson(const GraphSynthesis& synthesis) {
  const PlanResult& result = synthesis.result;
  nlohmann::ordered_json json;
  json["kernel"] = PrintGraph(result.plan.graph);
  json["target"] = synthesis.target.name;
  json["version"] = KIRSCH_VERSION;
  json["search"] = {{"seconds", result.seconds},           {"stop", std::string(StopName(synthesis))},
                    {"bound_cycles", result.bound_cycles}, {"specs_solved", result.stats.specs_solved},
                    {"memo_hits", result.stats.memo_hits}, {"pruned", result.stats.pruned}};
  json["cost_cycles"] = result.plan.cycles;
  json["predicted_gflops"] = PredictedGflops(synthesis);
  json["winograd"] = WinogradNames(result.plan);
  const Program program = ProgramOf(result.plan, synthesis.target);
  if (result.plan.graph.HasConstants()) json["packed_bytes"] = program.packed_bytes;
  json["buffer_bytes"] = program.own_bytes;
  json["shared_bytes"] = program.shared_bytes;
  json["phases"] = result.plan.phases();
  if (synthesis.tuned) json["tuned"] = synthesis.tuned->ToJson();
  json["schedule"] = PrintPlanSchedule(result.plan);
  json["plan"] = PrintPlan(result.plan) + PrintMemory(program);
  return json;
}

void PrintSummary(const GraphSynthesis& synthesis) {
  const PlanResult& result = synthesis.result;
  const std::vector<std::string> winograd = WinogradNames(result.plan);
  std::fprintf(stderr, "%s on %s: %s; %s, bound %.0f; %d specs in %.3f s%s%s\n",
               result.plan.graph.name.c_str(), synthesis.target.name.c_str(),
               PredictionText(PredictionOf(result.plan, synthesis.target), synthesis.target).c_str(),
               std::string(StopName(synthesis)).c_str(), result.bound_cycles,
               static_cast<int>(result.stats.specs_solved), result.seconds,
               winograd.empty() ? "" : Cat("; by Winograd's algorithm, ", Join(winograd, " ")).c_str(),
               PackedText(result.plan, synthesis.target).c_str());
  if (synthesis.tuned) std::fprintf(stderr, "%s\n", synthesis.tuned->Summary().c_str());
}

}  // namespace kirsch
