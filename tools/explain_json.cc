// SPDX-License-Identifier: Apache-2.0
#include "tools/explain_json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "synthesis/explain/best_programs.h"
#include "synthesis/explain/explained.h"
#include "synthesis/explain/facts_json.h"
#include "tools/synthesis_report.h"

namespace kirsch {
namespace {

using nlohmann::ordered_json;

// A node of a program. `cycles` are of one run with what is below it, `own_cycles` without.
//   {"depth": 1, "decision": "microkernel", "spec": "matmul f32 8x8x8 ...", "trips": 1, "runs": 1.0,
//    "weight": 1.0, "cycles": 52.0, "own_cycles": 52.0, "traffic": {}, "holds": {"L1": 768}, "tile": {...}}
ordered_json Json(const ExplainedNode& node) {
  const OpKind op = node.impl->spec.op;
  ordered_json json = {{"depth", node.depth},
                       {"decision", PrintDecision(op, node.impl->decision)},
                       {"spec", PrintSpec(node.impl->spec)},
                       {"trips", node.trips},
                       {"runs", node.runs},
                       {"weight", node.weight},
                       {"cycles", ToCycles(node.cost)},
                       {"own_cycles", ToCycles(node.own)},
                       {"traffic", TrafficJson(node.traffic)}};
  // Bytes held are by level; levels that hold nothing are left out.
  ordered_json& held = json["holds"] = ordered_json::object();
  for (size_t level = 0; level < node.bytes_held.size(); ++level)
    if (node.bytes_held[level] > 0) held[std::string(kLevelNames[level])] = node.bytes_held[level];
  if (node.tile) json["tile"] = TileJson(*node.tile);
  if (node.runner_up.kind != RewriteKind::kNone)
    json["runner_up"] = {{"decision", PrintDecision(op, node.runner_up)},
                         {"cycles", ToCycles(node.runner_up_cost)}};
  return json;
}

// The nodes in program order. `depth` says which node is below which.
ordered_json Json(const std::vector<ExplainedNode>& nodes) {
  ordered_json json = ordered_json::array();
  for (const ExplainedNode& node : nodes) json.push_back(Json(node));
  return json;
}

// A stage of a plan: `nodes` if it is a contraction, `passes` if it is a row program.
ordered_json Json(const Plan& plan, const ExplainedStage& stage) {
  ordered_json json = {{"group", stage.nest},
                       {"time", Name(stage.time)},
                       {"stage", PrintStage(plan, *stage.stage)},
                       {"runs", stage.runs},
                       {"weight", stage.weight},
                       {"cycles", stage.stage->cycles},
                       {"traffic", TrafficJson(stage.traffic)}};
  if (!stage.nodes.empty()) json["nodes"] = Json(stage.nodes);
  for (const RowVectorCycles& pass : stage.passes)
    json["passes"].push_back({{"cycles_per_vector", pass.total()}, {"bottleneck", pass.bottleneck()}});
  return json;
}

// Null: there is no second best, or none was looked for.
ordered_json Json(const std::optional<RunnerUp>& other) {
  if (!other) return nullptr;
  return {{"text", other->text}, {"cycles", other->cycles}};
}

// Keys that only a program has, or only a plan. AddSubject has those at the beginning, AddParts those at the
// end.
void AddSubject(const Explanation&, const Synthesis& synthesis, ordered_json* json) {
  (*json)["spec"] = synthesis.name;
}
void AddSubject(const ExplainedPlan& explained, const Synthesis&, ordered_json* json) {
  (*json)["kernel"] = PrintGraph(explained.plan->graph);
}
void AddParts(const Explanation& program, const Synthesis& synthesis, ordered_json* json) {
  (*json)["peak_share"] = program.peak_cycles / ToCycles(program.nodes[0].cost);
  // Two bounds: that of the cost model's closed form, and, as `bound_cycles`, the one that the search has
  // proven.
  (*json)["closed_form_bound_cycles"] = ToCycles(program.bound);
  (*json)["stop"] = StopName(synthesis);
  (*json)["nodes"] = Json(program.nodes);
}
void AddParts(const ExplainedPlan& explained, const Synthesis&, ordered_json* json) {
  const Plan& plan = *explained.plan;
  for (const GroupDecision& group : plan.groups) {
    std::vector<std::string> names;
    // A group is named by the values that its operations make.
    for (int node : group.operations) names.push_back(NameOfValue(plan.graph, node));
    (*json)["groups"].push_back({{"operations", names},
                                 {"way", PrintCandidate(group.candidate)},
                                 {"runner_up", Json(OtherCandidate(group))},
                                 {"without", Json(OtherSplit(plan.graph, group))}});
  }
  for (const ExplainedStage& stage : explained.stages) (*json)["stages"].push_back(Json(plan, stage));
}

// One program or plan: what it is, totals, and its parts.
ordered_json Json(const ExplainedMember& member) {
  const Synthesis& synthesis = *member.synthesis;
  ordered_json json;
  std::visit([&](const auto& explained) { AddSubject(explained, synthesis, &json); }, member.explanation);
  json["cost_cycles"] = member.cycles;
  json["predicted_gflops"] = synthesis.gflops();
  json["bound_cycles"] = synthesis.bound_cycles;
  json["traffic"] = TrafficJson(member.traffic);
  std::visit([&](const auto& explained) { AddParts(explained, synthesis, &json); }, member.explanation);
  return json;
}

// A kernel. A family has a region and a program for each of its regions.
ordered_json Json(const ExplainedKernel& kernel) {
  ordered_json json = {{"kernel", kernel.synthesis->request.text()}};
  if (kernel.is_family())
    for (const Region& region : kernel.synthesis->regions.list)
      json["regions"].push_back(RegionJson(kernel.synthesis->regions, region));
  for (const ExplainedMember& member : kernel.members) json["programs"].push_back(Json(member));
  return json;
}

// Where one of the cheapest programs first departs from another one.
ordered_json Json(const Departure& departure) {
  ordered_json json;
  if (departure.spec.empty())
    json["where"] = departure.where;
  else
    json = {{"path", departure.path}, {"spec", departure.spec}};
  json.update({{"best", departure.best}, {"instead", departure.instead}});
  return json;
}

// The list of --best. Ranks count from 1, BestEntry::from counts from 0.
ordered_json Json(const KBestResult& best) {
  ordered_json programs = ordered_json::array();
  for (const BestEntry& entry : MakeEntries(best)) {
    programs.push_back({{"rank", programs.size() + 1},
                        {"cost_cycles", entry.program.cycles},
                        {"above", entry.above},
                        {"schedule", PrintSchedule(entry.program.tree)}});
    // The best program departs from none.
    if (entry.departure.where.empty()) continue;
    programs.back()["departs"] = Json(entry.departure);
    programs.back()["departs"]["from"] = entry.from + 1;
  }
  return {{"complete", best.complete}, {"programs", std::move(programs)}};
}

}  // namespace

// The list of the cheapest programs stands beside the program, not instead of it as in the text.
nlohmann::ordered_json ExplainJson(const std::vector<ExplainedKernel>& kernels) {
  ordered_json json;
  for (const ExplainedKernel& kernel : kernels) {
    json["kernels"].push_back(Json(kernel));
    if (kernel.best) json["kernels"].back()["best"] = Json(*kernel.best);
  }
  return json;
}

}  // namespace kirsch
