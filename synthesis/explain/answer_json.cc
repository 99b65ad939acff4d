// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/answer_json.h"

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "cost/cost_model.h"
#include "cost/shared_cost_model.h"
#include "cost/tile_facts.h"
#include "search/explain/explain.h"
#include "search/explain/explain_plan.h"
#include "spec/language/plan_schedule.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "synthesis/explain/explained.h"
#include "synthesis/explain/facts_json.h"
#include "synthesis/explain/main_path.h"

namespace kirsch {
namespace {

using nlohmann::ordered_json;

// The decisions of a schedule alone.
std::string WithoutComments(const std::string& schedule) {
  std::string text;
  for (const absl::string_view line : absl::StrSplit(schedule, '\n', absl::SkipEmpty())) {
    const std::string decision(absl::StripTrailingAsciiWhitespace(line.substr(0, line.find('#'))));
    if (!decision.empty()) Append(&text, decision, "\n");
  }
  return text;
}

std::string_view DimName(const ExplainedNode& node) {
  return node.impl->spec.op_info().dims[node.impl->decision.dim].name;
}
std::string_view OperandName(const ExplainedNode& node) {
  return node.impl->spec.op_info().operands[node.impl->decision.operand].name;
}

// One decision. Of a tile also how many whole ones there are; of a split, which is a tile that the path does
// not go on in, what is left.
ordered_json StepJson(const std::vector<const ExplainedNode*>& path, size_t place) {
  const ExplainedNode& node = *path[place];
  const Decision& decision = node.impl->decision;
  switch (decision.kind) {
    case RewriteKind::kTile:
    case RewriteKind::kParallelTile: {
      if (!IsTile(path, place))
        return {{"step", "split"},
                {"dim", DimName(node)},
                {"size", decision.size},
                {"left", path[place + 1]->impl->spec.size[decision.dim]}};
      ordered_json step = {{"step", "tile"},
                           {"dim", DimName(node)},
                           {"size", decision.size},
                           {"trips", node.impl->spec.size[decision.dim] / decision.size}};
      if (decision.kind == RewriteKind::kParallelTile) step["parts"] = decision.parts;
      return step;
    }
    case RewriteKind::kMove:
      return {{"step", decision.level == Level::kVrf ? "registers" : "move"},
              {"operand", OperandName(node)},
              {"level", Name(decision.level)}};
    case RewriteKind::kPack:
      return {{"step", "pack"},
              {"operand", OperandName(node)},
              {"level", Name(decision.level)},
              {"layout", PrintLayout(decision.layout)},
              {"type", Info(decision.dtype).name}};
    case RewriteKind::kMicrokernel:
    case RewriteKind::kNone:
      break;
  }
  ordered_json step = {{"step", "microkernel"}};
  if (decision.size > 0) step["prefetch"] = decision.size;
  return step;
}

// The decisions as names and values.
ordered_json KnobsJson(const std::vector<const ExplainedNode*>& path) {
  ordered_json knobs = ordered_json::object();
  for (size_t i = 0; i < path.size(); ++i) {
    const Decision& decision = path[i]->impl->decision;
    if (decision.kind == RewriteKind::kPack)
      knobs[Cat("pack_", OperandName(*path[i]))] = PrintLayout(decision.layout);
    if (!IsTile(path, i)) continue;
    knobs[TileName(path, i)] = decision.size;
    if (decision.kind == RewriteKind::kParallelTile) knobs[Cat(TileName(path, i), "_parts")] = decision.parts;
  }
  return knobs;
}

// The steps of a contraction's program, its register tile and its knobs.
void AddSteps(const std::vector<ExplainedNode>& nodes, ordered_json* json) {
  const std::vector<const ExplainedNode*> path = MainPath(nodes);
  ordered_json& steps = (*json)["steps"] = ordered_json::array();
  for (size_t i = 0; i < path.size(); ++i) steps.push_back(StepJson(path, i));
  if (path.back()->tile) (*json)["inner_tile"] = TileJson(*path.back()->tile);
  (*json)["knobs"] = KnobsJson(path);
}

ordered_json ProgramJson(const Impl& impl, const CostModel& model) {
  const std::vector<ExplainedNode> nodes = ExplainNodes(impl, model);
  const double cycles = ToCycles(nodes.front().cost), ghz = model.target().ghz;
  ordered_json json = {{"cycles", cycles},
                       {"seconds", 1e-9 * cycles / ghz},
                       {"peak_share", PeakCycles(impl.spec, model.target()) / cycles},
                       {"bytes", TrafficJson(TrafficOf(nodes))},
                       {"threads", impl.spec.threads},
                       {"bound_by", BoundText(nodes)},
                       {"schedule", WithoutComments(PrintSchedule(impl))}};
  AddSteps(nodes, &json);
  return json;
}

ordered_json GroupJson(const Plan& plan, size_t number) {
  const GroupDecision& group = plan.groups[number];
  ordered_json operations = ordered_json::array(), parameters = ordered_json::object();
  for (int node : group.operations) operations.push_back(NameOfValue(plan.graph, node));
  for (const AppliedRewrite::Parameter& parameter : group.candidate.rewrite.parameters)
    parameters[std::string(parameter.name)] = parameter.value;
  return {{"operations", std::move(operations)},
          {"rewrite", group.candidate.rewrite.name},
          {"parameters", std::move(parameters)},
          {"keep", Name(group.candidate.keep)},
          {"cycles", plan.GroupCycles(number)}};
}

ordered_json ProgramJson(const Plan& plan, const CostModel& model) {
  const ExplainedPlan explained = ExplainPlan(plan, model);
  ordered_json json = {{"cycles", plan.cycles},
                       {"seconds", 1e-9 * plan.cycles / model.target().ghz},
                       {"bytes", TrafficJson(explained.traffic)},
                       {"threads", plan.threads},
                       {"bound_by", BoundText(explained)},
                       {"schedule", WithoutComments(PrintPlanSchedule(plan))}};
  ordered_json& groups = json["groups"] = ordered_json::array();
  for (size_t i = 0; i < plan.groups.size(); ++i) groups.push_back(GroupJson(plan, i));
  ordered_json& programs = json["programs"] = ordered_json::array();
  for (const ExplainedStage& stage : explained.stages) {
    if (stage.nodes.empty()) continue;
    ordered_json program = {{"group", plan.nests[static_cast<size_t>(stage.nest)].group},
                            {"spec", PrintSpec(stage.stage->spec)},
                            {"runs", stage.runs},
                            {"cycles", stage.stage->cycles}};
    AddSteps(stage.nodes, &program);
    programs.push_back(std::move(program));
  }
  return json;
}

}  // namespace

ordered_json AnswerJson(const ProgramTree& program, const Target& target) {
  const std::shared_ptr<const CostModel> model = SharedCostModel(target);
  return std::visit([&](const auto& tree) { return ProgramJson(tree, *model); }, program);
}

ordered_json AnswerJson(const FamilySynthesis& solved, int64_t member) {
  const Synthesis& one = solved.members[static_cast<size_t>(member)];
  ordered_json json = AnswerJson(*solved.programs()[static_cast<size_t>(member)], one.target);
  json["cycles"] = one.cycles;
  json["seconds"] = 1e-9 * one.cycles / one.target.ghz;
  json["bound_cycles"] = one.bound_cycles;
  json["stop"] = StopName(one);
  json["search_seconds"] = one.seconds;
  return json;
}

ordered_json AlternativesJson(const KBestResult& best, const Target& target) {
  ordered_json json = ordered_json::array();
  const RankedProgram& first = best.programs.front();
  for (size_t i = 1; i < best.programs.size(); ++i) {
    const RankedProgram& program = best.programs[i];
    const Departure departure = CompareWithBest(program.tree, first.tree);
    json.push_back(AnswerJson(program.tree, target));
    json.back().update({{"above", program.cycles / first.cycles - 1},
                        {"instead_of", departure.best},
                        {"decision", departure.instead}});
  }
  return json;
}

}  // namespace kirsch
