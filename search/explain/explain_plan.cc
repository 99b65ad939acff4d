// SPDX-License-Identifier: Apache-2.0
#include "search/explain/explain_plan.h"

#include <utility>

#include "rewrites/spec/rewrite.h"
#include "spec/graph/row_passes.h"
#include "spec/language/plan_schedule.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// The share of `tasks` equal tasks that take time one after another.
double LargestPart(int64_t tasks, int threads) {
  return static_cast<double>((tasks + threads - 1) / threads) / static_cast<double>(tasks);
}

class PlanExplainer {
 public:
  PlanExplainer(const Plan& plan, const CostModel& model) : plan_(plan), model_(model) {}

  ExplainedPlan Explain() && {
    explained_.plan = &plan_;
    for (size_t i = 0; i < plan_.nests.size(); ++i) {
      const LoopNest& nest = plan_.nests[i];
      for (const auto& [time, stages] :
           {std::pair(StageTime::kFirst, &nest.before), std::pair(StageTime::kItem, &nest.once),
            std::pair(StageTime::kTile, &nest.stages), std::pair(StageTime::kRest, &nest.rest)})
        for (const Stage& stage : *stages) Add(static_cast<int>(i), time, stage);
    }
    return std::move(explained_);
  }

 private:
  void Add(int number, StageTime time, const Stage& stage) {
    const LoopNest& nest = plan_.nests[static_cast<size_t>(number)];
    ExplainedStage explained;
    explained.stage = &stage;
    explained.nest = number;
    explained.time = time;
    SetRuns(nest, &explained);
    AddFacts(stage, &explained);
    explained_.traffic.Add(explained.traffic, explained.runs);
    explained_.stages.push_back(std::move(explained));
  }

  // As GroupCost has it: what comes first, or is not shared, each thread does for itself.
  void SetRuns(const LoopNest& nest, ExplainedStage* stage) const {
    const auto batch = static_cast<double>(nest.batch);
    const bool by_items = nest.sharing == Sharing::kItems, by_tiles = nest.sharing == Sharing::kTiles;
    double runs = stage->time == StageTime::kFirst ? 1 : batch;
    if (stage->time == StageTime::kTile) runs *= static_cast<double>(nest.trips());
    const bool first = stage->time == StageTime::kFirst, once = stage->time == StageTime::kItem;
    stage->weight = stage->runs = runs;
    if (by_items && !first) stage->weight *= LargestPart(nest.batch, plan_.threads);
    if (by_tiles && !first && !once) stage->weight *= LargestPart(nest.batch * nest.tiles(), plan_.threads);
    if (nest.sharing == Sharing::kNone || first || (by_tiles && once)) stage->runs *= plan_.threads;
  }

  void AddFacts(const Stage& stage, ExplainedStage* explained) const {
    const auto repeats = static_cast<double>(stage.repeats);
    switch (stage.kind) {
      case StageKind::kContraction:
        explained->nodes = ExplainNodes(stage.impl, model_);
        explained->traffic.Add(TrafficOf(explained->nodes), repeats);
        break;
      case StageKind::kPack:
        explained->traffic.Add(TrafficOfCopy(stage.impl), repeats);
        break;
      case StageKind::kRows:
        AddPasses(stage, explained);
        explained->traffic = stage.traffic;
        break;
      case StageKind::kPad:
      case StageKind::kTranspose:
      case StageKind::kTransform:
        explained->traffic = stage.traffic;
        break;
    }
  }

  // A copy of a constant operand is a stage of its own.
  Traffic TrafficOfCopy(const Impl& impl) const {
    Expansion expansion;
    Expand(impl.spec, impl.decision, model_.target(), &expansion);
    return TrafficOf(expansion, model_.target());
  }

  void AddPasses(const Stage& stage, ExplainedStage* explained) const {
    const RowPasses passes = FindPasses(stage.program, stage.schedule);
    for (size_t pass = 0; pass < passes.passes.size(); ++pass)
      explained->passes.push_back(
          VectorCyclesOf(stage.program, stage.schedule, passes, pass, model_.target()));
  }

  const Plan& plan_;
  const CostModel& model_;
  ExplainedPlan explained_;
};

}  // namespace

std::string_view Name(StageTime time) {
  constexpr std::string_view kNames[] = {"first", "each item", "each tile", "the last tile"};
  return kNames[static_cast<size_t>(time)];
}

std::optional<RunnerUp> OtherCandidate(const GroupDecision& group) {
  const std::optional<GroupDecision::OtherCandidate>& other = group.other_candidate;
  if (!other) return std::nullopt;
  return RunnerUp{PrintCandidate(other->candidate), other->cycles};
}

std::optional<RunnerUp> OtherSplit(const Graph& graph, const GroupDecision& group) {
  const std::optional<GroupDecision::OtherSplit>& other = group.other_split;
  if (!other) return std::nullopt;
  std::vector<std::string> groups;
  for (const std::vector<int>& operations : other->groups) groups.push_back(NamesOfValues(graph, operations));
  return RunnerUp{Join(groups, " | "), other->cycles};
}

ExplainedPlan ExplainPlan(const Plan& plan, const CostModel& model) {
  return PlanExplainer(plan, model).Explain();
}

}  // namespace kirsch
