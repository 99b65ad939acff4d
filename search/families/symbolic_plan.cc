// SPDX-License-Identifier: Apache-2.0
#include "search/families/symbolic_plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "cost/cost.h"
#include "search/graph/group_cost.h"
#include "search/graph/stage_cost.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// The number of keys in a nest's largest blocks; 0: it has no blocks.
int64_t BlockOf(const LoopNest& nest) {
  int64_t block = 0;
  for (const Stage* stage : StagesOf(nest))
    if (stage->keys.IsConstant()) block = std::max<int64_t>(block, stage->keys);
  return block;
}

// The sizes of one repeat of the stage.
std::array<uint32_t, kMaxDims> SizesAt(const Stage& stage, const SymbolValues& values) {
  std::array<uint32_t, kMaxDims> at;
  const std::array<Size, kMaxDims> sizes = stage.Sizes();
  for (size_t dim = 0; dim < at.size(); ++dim) at[dim] = static_cast<uint32_t>(sizes[dim].At(values));
  return at;
}

// The spec of a contraction.
Spec SpecAt(const Stage& stage, const SymbolValues& values) {
  Spec spec = stage.impl.spec;
  for (size_t dim = 0; dim < spec.size.size(); ++dim)
    if (stage.symbols[dim] != SizeSymbol::kNone)
      spec.size[dim] = static_cast<uint32_t>(values[stage.symbols[dim]]);
  return spec;
}

// The nest's stages with nothing but their cycles: with counts, that is all that GroupCost looks at.
LoopNest TimesOf(const LoopNest& nest) {
  LoopNest times;
  for (auto list : {&LoopNest::before, &LoopNest::once, &LoopNest::stages, &LoopNest::rest})
    for (const Stage& stage : nest.*list) (times.*list).emplace_back().cycles = stage.cycles;
  return times;
}

}  // namespace

SymbolicPlan::SymbolicPlan(Plan plan, const SymbolValues& planned, const CostModel& model,
                           const SymbolicScheduleOptions& choice)
    : plan_(std::move(plan)), planned_(planned), choice_(choice), most_(planned), model_(model) {
  int64_t& most_keys = most_[SizeSymbol::kKeys];
  if (most_keys != 0) most_keys = std::numeric_limits<int64_t>::max();
  for (const LoopNest& nest : plan_.nests) {
    times_.push_back(TimesOf(nest));
    for (const Stage* stage : StagesOf(nest)) {
      // A stage that takes all keys at once is for so many at most.
      if (!stage->keys.IsConstant() && BlockOf(nest) == 0)
        most_keys = std::min<int64_t>(most_keys, stage->keys);
      if (stage->kind == StageKind::kContraction) AddRule(*stage);
    }
  }
}

std::unique_ptr<SymbolicPlan> SymbolicPlan::With(const SymbolicScheduleOptions& choice) const {
  return std::make_unique<SymbolicPlan>(plan_, planned_, model_, choice);
}

void SymbolicPlan::AddRule(const Stage& stage) {
  std::vector<size_t> dims;
  for (size_t dim :
       {MatmulDims::kN, MatmulDims::kM, MatmulDims::kK})  // the order that a SizeRule has them in
    if (stage.symbols[dim] != SizeSymbol::kNone) dims.push_back(dim);
  if (dims.empty()) return;
  SymbolicScheduleOptions choice = choice_;
  choice.own_rest &= dims.front() == MatmulDims::kN;
  rules_[&stage] = std::make_unique<SizeRule>(stage.impl, std::move(dims), model_, choice);
}

bool SymbolicPlan::LeavesColumns() const {
  return std::any_of(rules_.begin(), rules_.end(), [](const auto& rule) {
    return rule.first->symbols[MatmulDims::kN] != SizeSymbol::kNone &&
           LeavesRest(rule.first->impl, MatmulDims::kN);
  });
}

bool SymbolicPlan::FitsLeast(const SymbolValues& values) const {
  return std::all_of(kPlanSymbols.begin(), kPlanSymbols.end(), [&](SizeSymbol symbol) {
    return values[symbol] >= (plan_.Find(symbol) != nullptr ? 1 : most_[symbol]);
  });
}

bool SymbolicPlan::FitsMost(const SymbolValues& values) const {
  return std::all_of(kPlanSymbols.begin(), kPlanSymbols.end(),
                     [&](SizeSymbol symbol) { return values[symbol] <= most_[symbol]; });
}

// The cycles of one of the stage's repeats. They are kept, since members share sizes.
double SymbolicPlan::RunCycles(const Stage& stage, const SymbolValues& values) {
  const auto sizes = SizesAt(stage, values);
  const auto [known, is_new] = run_cycles_.try_emplace({&stage, sizes});
  if (!is_new) return known->second;
  if (stage.kind == StageKind::kRows) {
    known->second = RowCyclesFor(stage, sizes[MatmulDims::kM], sizes[MatmulDims::kN], model_.target());
  } else {
    SizeRule& rule = *rules_.at(&stage);
    const Spec spec = SpecAt(stage, values);
    const Cost cost = rule.Price(spec);
    known->second = cost < kInfiniteCost ? ToCycles(cost) : kInfiniteCycles;
    if (cost < kInfiniteCost && stage.symbols[MatmulDims::kM] != SizeSymbol::kNone)
      heights_ |= rule.HeightsOf(spec);
  }
  return known->second;
}

// The cycles of a stage with all its repeats. `block`: keys in the largest blocks of the nest.
//
// Example, of 100 keys in blocks of 64 and halves of 32, 16, ...: the block runs once, and leaves 36. The
// half of 32 takes one run of these, and leaves 4.
double SymbolicPlan::StageCycles(const Stage& stage, int64_t block, const SymbolValues& values) {
  if (!stage.keys.IsConstant() && values[SizeSymbol::kKeysLeft] == 0) return 0;
  const auto planned = static_cast<double>(stage.repeats);
  double cycles = stage.cycles;  // of the planned repeats
  const std::array<Size, kMaxDims> sizes = stage.Sizes();
  if (std::any_of(sizes.begin(), sizes.end(), [](const Size& size) { return !size.IsConstant(); }))
    cycles = planned * RunCycles(stage, values);
  if (stage.keys == 0 || !stage.keys.IsConstant()) return cycles;
  const int64_t keys = values[SizeSymbol::kKeys],
                in_blocks = stage.keys == block ? keys : keys % (2 * stage.keys);
  return cycles * static_cast<double>(in_blocks / stage.keys) / planned;
}

// The cycles of a nest: its stages are priced for the rows and keys that they get.
double SymbolicPlan::NestCycles(size_t number, SymbolValues values) {
  const LoopNest& nest = plan_.nests[number];
  LoopNest& times = times_[number];
  const int64_t block = BlockOf(nest), keys = values[SizeSymbol::kKeys];
  values[SizeSymbol::kKeysLeft] = block == 0 ? keys : keys % block;
  times.batch = nest.batch.At(values);
  times.rows = nest.rows.At(values);
  times.tile = nest.tile.At(values);
  const auto price = [&](const std::vector<Stage>& stages, int64_t rows, std::vector<Stage>* priced) {
    values[SizeSymbol::kTileRows] = rows;
    for (size_t i = 0; i < stages.size(); ++i) (*priced)[i].cycles = StageCycles(stages[i], block, values);
  };
  price(nest.before, 0, &times.before);
  price(nest.once, 0, &times.once);
  price(nest.stages, times.tile, &times.stages);
  const int64_t left = times.rows % times.tile;
  if (!nest.rows.IsConstant() && left == 0)
    for (Stage& stage : times.rest) stage.cycles = 0;
  else
    price(nest.rest, left, &times.rest);
  return GroupCost(1).Of(times);
}

double SymbolicPlan::CyclesFor(const SymbolValues& values) {
  if (!FitsLeast(values) || !FitsMost(values)) return kInfiniteCycles;
  if (plan_.symbols.empty()) return plan_.cycles;
  // The plan's own cycles, with each nest's share replaced. The rest, which a plan pays beside its nests,
  // stays.
  double cycles = plan_.cycles;
  for (size_t i = 0; i < plan_.nests.size(); ++i) cycles += NestCycles(i, values) - plan_.nests[i].cycles;
  return cycles;
}

std::optional<Plan> SymbolicPlan::ApplyToRange(const SymbolValues& least, const SymbolValues& most) {
  KIRSCH_CHECK(FitsMost(most));
  for (SizeSymbol symbol : kPlanSymbols) KIRSCH_CHECK(least[symbol] <= most[symbol]);
  Plan plan = plan_;
  for (size_t i = 0; i < plan.nests.size(); ++i) {
    const LoopNest& nest = plan_.nests[i];
    const bool in_blocks = BlockOf(nest) != 0;  // then anything may be left
    // Replaces the programs of a list of stages by programs for ranges of rows and keys.
    const auto apply = [&](std::vector<Stage> LoopNest::* list, int64_t least_rows, int64_t most_rows) {
      const std::vector<Stage>& stages = nest.*list;
      for (size_t j = 0; j < stages.size(); ++j) {
        const auto rule = rules_.find(&stages[j]);
        if (rule == rules_.end()) continue;
        const auto spec_at = [&](SymbolValues values, int64_t rows, int64_t keys_of_blocks) {
          values[SizeSymbol::kTileRows] = rows;
          values[SizeSymbol::kKeysLeft] = in_blocks ? keys_of_blocks : values[SizeSymbol::kKeys];
          return SpecAt(stages[j], values);
        };
        std::optional<Impl> range = rule->second->ApplyToRange(spec_at(least, least_rows, 1),
                                                               spec_at(most, most_rows, stages[j].keys));
        if (!range) return false;
        (plan.nests[i].*list)[j].impl = *std::move(range);
      }
      return true;
    };
    if (!apply(&LoopNest::before, 0, 0) || !apply(&LoopNest::once, 0, 0) ||
        !apply(&LoopNest::stages, nest.tile.At(least), nest.tile.At(most)) ||
        !apply(&LoopNest::rest, 1, nest.tile - 1))
      return std::nullopt;
  }
  return plan;
}

}  // namespace kirsch
