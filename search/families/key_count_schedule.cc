// SPDX-License-Identifier: Apache-2.0
#include "search/families/key_count_schedule.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "cost/cost.h"
#include "search/families/nest_times.h"
#include "search/graph/group_cost.h"
#include "search/graph/stage_cost.h"
#include "spec/check.h"

namespace kirsch {
namespace {

Spec WithKeys(const Stage& stage, int64_t keys) {
  Spec spec = stage.impl.spec;
  spec.size[static_cast<size_t>(stage.keys_along)] = static_cast<uint32_t>(keys);
  return spec;
}

// Keys in the largest blocks; 0: there are none.
int64_t BlockOf(const LoopNest& nest) {
  int64_t block = 0;
  for (const Stage* stage : StagesOf(nest))
    if (!stage->at_once) block = std::max(block, stage->keys);
  return block;
}

}  // namespace

KeyCountSchedule::KeyCountSchedule(Plan plan, const CostModel& model, const SymbolicScheduleOptions& choice)
    : plan_(std::move(plan)), model_(model), most_(std::numeric_limits<int64_t>::max()) {
  for (const LoopNest& nest : plan_.nests)
    for (const Stage* stage : StagesOf(nest)) {
      if (!stage->at_once) continue;
      if (BlockOf(nest) == 0) most_ = std::min(most_, stage->keys);
      if (stage->kind != StageKind::kContraction) continue;
      const auto dim = static_cast<size_t>(stage->keys_along);
      contractions_[stage] = std::make_unique<SymbolicSchedule>(
          stage->impl, dim, model, dim == MatmulDims::kN ? choice : SymbolicScheduleOptions{});
    }
}

bool KeyCountSchedule::LeavesColumns() const {
  return std::any_of(contractions_.begin(), contractions_.end(), [](const auto& contraction) {
    const Stage& stage = *contraction.first;
    return stage.keys_along == MatmulDims::kN && LeavesRest(stage.impl, MatmulDims::kN);
  });
}

double KeyCountSchedule::CyclesFor(int64_t keys) {
  if (keys > most_) return kInfiniteCycles;
  double cycles = plan_.cycles;
  for (const LoopNest& nest : plan_.nests) {
    const int64_t block = BlockOf(nest);
    LoopNest times = TimesOf(nest);
    const std::vector<Stage*> timed = StagesOf(times);
    const std::vector<const Stage*> stages = StagesOf(nest);
    for (size_t i = 0; i < stages.size(); ++i) timed[i]->cycles = StageCycles(*stages[i], block, keys);
    cycles += GroupCost(1).Of(times) - nest.cycles;
  }
  return cycles;
}

// `block`: keys in the largest blocks.
double KeyCountSchedule::StageCycles(const Stage& stage, int64_t block, int64_t keys) {
  if (stage.keys == 0) return stage.cycles;
  if (!stage.at_once) {
    const int64_t left = stage.keys == block ? keys : keys % (2 * stage.keys);
    return stage.cycles * static_cast<double>(left / stage.keys) / static_cast<double>(stage.repeats);
  }
  const int64_t left = block == 0 ? keys : keys % block;
  if (left == 0) return 0;
  if (stage.keys_along < 0) return stage.cycles;
  if (stage.kind == StageKind::kRows) return RowCyclesFor(stage, stage.rows, left, model_.target());
  const Cost cost = contractions_.at(&stage)->Price(WithKeys(stage, left));
  return cost < kInfiniteCost ? ToCycles(cost) : kInfiniteCycles;
}

std::optional<Plan> KeyCountSchedule::ApplyToRange(int64_t least, int64_t most) {
  KIRSCH_CHECK(1 <= least && least <= most && most <= most_);
  Plan plan = plan_;
  plan.size.emplace();
  for (size_t i = 0; i < plan.nests.size(); ++i) {
    const bool in_blocks = BlockOf(plan_.nests[i]) != 0;  // then anything may be left
    const std::vector<const Stage*> from = StagesOf(plan_.nests[i]);
    const std::vector<Stage*> to = StagesOf(plan.nests[i]);
    for (size_t j = 0; j < from.size(); ++j) {
      const auto contraction = contractions_.find(from[j]);
      if (contraction == contractions_.end()) continue;
      std::optional<Impl> range = contraction->second->ApplyToRange(
          WithKeys(*from[j], in_blocks ? 1 : least), WithKeys(*from[j], in_blocks ? from[j]->keys : most));
      if (!range) return std::nullopt;
      to[j]->impl = *std::move(range);
    }
  }
  return plan;
}

}  // namespace kirsch
