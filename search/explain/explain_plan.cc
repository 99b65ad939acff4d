// SPDX-License-Identifier: Apache-2.0
#include "search/explain/explain_plan.h"

#include <utility>

#include "rewrites/spec/rewrite.h"
#include "spec/graph/row_passes.h"
#include "spec/language/plan_schedule.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Tasks are dealt out evenly, so the time is that of the thread with the most of them. Returns that thread's
// share of `tasks` equal tasks. Example: 5 tasks for 2 threads take 3 turns, which is 0.6.
double LargestPart(int64_t tasks, int threads) {
  return static_cast<double>((tasks + threads - 1) / threads) / static_cast<double>(tasks);
}

// Goes through the stages in the order in which they run.
class PlanExplainer {
 public:
  PlanExplainer(const Plan& plan, const CostModel& model) : plan_(plan), model_(model) {}

  // The order of a nest's stages: those before all items, those of an item, those of a tile, those of the
  // last tile.
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
  // Appends a stage, and adds its traffic to the plan's as often as it runs.
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

  // Counts runs, and those that take time, by the same rules as GroupCost: a stage that comes first or is not
  // shared runs once in each thread. So it counts once for the time, and once per thread for the traffic.
  void SetRuns(const LoopNest& nest, ExplainedStage* stage) const {
    const auto batch = static_cast<double>(nest.batch);
    const bool by_items = nest.sharing == Sharing::kItems, by_tiles = nest.sharing == Sharing::kTiles;
    // First the runs of one thread that does everything, then what sharing makes of them.
    double runs = stage->time == StageTime::kFirst ? 1 : batch;
    if (stage->time == StageTime::kTile) runs *= static_cast<double>(nest.trips());
    const bool first = stage->time == StageTime::kFirst, once = stage->time == StageTime::kItem;
    stage->weight = stage->runs = runs;
    if (by_items && !first) stage->weight *= LargestPart(nest.batch, plan_.threads);
    if (by_tiles && !first && !once) stage->weight *= LargestPart(nest.batch * nest.tiles(), plan_.threads);
    if (nest.sharing == Sharing::kNone || first || (by_tiles && once)) stage->runs *= plan_.threads;
  }

  // Contractions and copies are expanded again, since their traffic follows from their decisions. All other
  // stages know theirs since they were priced.
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

  // A copy of a constant operand is a stage of its own. Its traffic is that of the pack decision alone.
  Traffic TrafficOfCopy(const Impl& impl) const {
    Expansion expansion;
    Expand(impl.spec, impl.decision, model_.target(), &expansion);
    return TrafficOf(expansion, model_.target());
  }

  // The cycles of a vector in each pass of a row program, as the cost model has them.
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

// As `explain` prints them.
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
  const auto names = [&](const std::vector<int>& operations) { return NamesOfValues(graph, operations); };
  return RunnerUp{Join(other->groups, " | ", names), other->cycles};
}

ExplainedPlan ExplainPlan(const Plan& plan, const CostModel& model) {
  return PlanExplainer(plan, model).Explain();
}

}  // namespace kirsch
