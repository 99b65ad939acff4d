// SPDX-License-Identifier: Apache-2.0
#include "search/families/symbolic_plan.h"

#include <algorithm>
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
    if (!stage->at_once) block = std::max(block, stage->keys);
  return block;
}

// True if the stage is for the keys that blocks leave, or for all keys at once.
bool GrowsAlongKeys(const Stage& stage) { return stage.at_once && stage.keys_along >= 0; }

// The nest's counts, and stages with nothing but their cycles: all that GroupCost looks at.
LoopNest TimesOf(const LoopNest& nest) {
  LoopNest times;
  times.batch = nest.batch;
  times.rows = nest.rows;
  times.tile = nest.tile;
  for (auto list : {&LoopNest::before, &LoopNest::once, &LoopNest::stages, &LoopNest::rest})
    for (const Stage& stage : nest.*list) (times.*list).emplace_back().cycles = stage.cycles;
  return times;
}

}  // namespace

SymbolicPlan::SymbolicPlan(Plan plan, const PlanPoint& planned, bool any_rows, const CostModel& model,
                           const SymbolicScheduleOptions& choice)
    : plan_(std::move(plan)),
      planned_(planned),
      any_rows_(any_rows),
      model_(model),
      most_keys_(planned.keys == 0 ? 0 : std::numeric_limits<int64_t>::max()) {
  for (const LoopNest& nest : plan_.nests)
    for (const Stage* stage : StagesOf(nest)) {
      // A stage that takes all keys at once is for so many at most.
      if (stage->at_once && BlockOf(nest) == 0) most_keys_ = std::min(most_keys_, stage->keys);
      if (stage->kind == StageKind::kContraction) AddRule(*stage, choice);
    }
}

void SymbolicPlan::AddRule(const Stage& stage, const SymbolicScheduleOptions& choice) {
  const auto along = static_cast<size_t>(stage.keys_along);
  const bool keys = GrowsAlongKeys(stage), columns = keys && along == MatmulDims::kN;
  std::vector<size_t> dims;  // in the order that a SizeRule has them
  if (GrowsAlongRows(stage)) dims.push_back(MatmulDims::kM);
  if (keys) dims.insert(columns ? dims.begin() : dims.end(), along);
  if (dims.empty()) return;
  rules_[&stage] = std::make_unique<SizeRule>(stage.impl, std::move(dims), model_,
                                              columns ? choice : SymbolicScheduleOptions{});
}

bool SymbolicPlan::LeavesColumns() const {
  return std::any_of(rules_.begin(), rules_.end(), [](const auto& rule) {
    const Stage& stage = *rule.first;
    return GrowsAlongKeys(stage) && stage.keys_along == MatmulDims::kN &&
           LeavesRest(stage.impl, MatmulDims::kN);
  });
}

// The stage's spec for a tile of so many rows, and for so many keys at once.
Spec SymbolicPlan::SpecOf(const Stage& stage, int64_t rows, int64_t keys) const {
  Spec spec = stage.impl.spec;
  if (GrowsAlongRows(stage)) spec.size[MatmulDims::kM] = static_cast<uint32_t>(rows);
  if (GrowsAlongKeys(stage)) spec.size[static_cast<size_t>(stage.keys_along)] = static_cast<uint32_t>(keys);
  return spec;
}

// The cycles of one of the stage's repeats. They are kept, since members share rows or keys. `keys` may be
// columns (Stage::columns_grow).
double SymbolicPlan::RunCycles(const Stage& stage, int64_t rows, int64_t keys) {
  const auto [known, is_new] = run_cycles_.try_emplace({&stage, rows, keys});
  if (!is_new) return known->second;
  if (stage.kind == StageKind::kRows) {
    const bool goes_by_keys = stage.columns_grow || GrowsAlongKeys(stage);
    const int64_t columns = stage.any_columns ? rows : goes_by_keys ? keys : stage.columns;
    known->second = RowCyclesFor(stage, stage.any_rows ? rows : stage.rows, columns, model_.target());
  } else {
    const Cost cost = rules_.at(&stage)->Price(SpecOf(stage, rows, keys));
    known->second = cost < kInfiniteCost ? ToCycles(cost) : kInfiniteCycles;
  }
  return known->second;
}

// The cycles of a stage with all its repeats. `block`: keys in the largest blocks of the nest; `rows`: of the
// tile.
//
// Example, of 100 keys in blocks of 64 and halves of 32, 16, ...: the block runs once, and leaves 36. The
// half of 32 takes one run of these, and leaves 4.
double SymbolicPlan::StageCycles(const Stage& stage, int64_t block, int64_t rows, const PlanPoint& sizes) {
  const int64_t keys = sizes.keys, left = block == 0 ? keys : keys % block;
  if (stage.at_once && left == 0) return 0;
  const auto planned = static_cast<double>(stage.repeats);
  const bool any_rows = GrowsAlongRows(stage), any_keys = GrowsAlongKeys(stage);
  double cycles = stage.cycles;  // of the planned repeats
  const int64_t columns = stage.columns_grow ? GrownColumns(stage, sizes) : any_keys ? left : 0;
  if (any_rows || any_keys) cycles = planned * RunCycles(stage, any_rows ? rows : 0, columns);
  if (stage.keys == 0 || stage.at_once) return cycles;
  const int64_t in_blocks = stage.keys == block ? keys : keys % (2 * stage.keys);
  return cycles * static_cast<double>(in_blocks / stage.keys) / planned;
}

// The cycles of a nest for these sizes: its counts grow first, then its stages are priced for the rows that
// they get.
double SymbolicPlan::NestCycles(const LoopNest& nest, const PlanPoint& sizes) {
  const int64_t block = BlockOf(nest);
  LoopNest times = TimesOf(nest);
  int64_t left = 0;
  if (nest.batch_grows) times.batch = Grown(nest.batch, sizes.rows);
  if (any_rows_ && nest.rows_grow) {
    times.rows = Grown(nest.rows, sizes.rows);
    if (nest.tile == nest.rows) times.tile = times.rows;
    left = times.rows % times.tile;
  }
  const auto price = [&](const std::vector<Stage>& stages, int64_t rows, std::vector<Stage>* priced) {
    for (size_t i = 0; i < stages.size(); ++i)
      (*priced)[i].cycles = StageCycles(stages[i], block, rows, sizes);
  };
  price(nest.before, 0, &times.before);
  price(nest.once, 0, &times.once);
  price(nest.stages, times.tile, &times.stages);
  if (any_rows_ && nest.rows_grow && left == 0)
    times.rest.clear();
  else
    price(nest.rest, left, &times.rest);
  return GroupCost(1).Of(times);
}

double SymbolicPlan::CyclesFor(const PlanPoint& sizes) {
  if (sizes.rows < least().rows || sizes.rows > most().rows || sizes.keys > most().keys ||
      sizes.columns < least().columns || sizes.columns > most().columns)
    return kInfiniteCycles;
  if (!any_rows_ && planned_.keys == 0) return plan_.cycles;
  // The plan's own cycles, with each nest's share replaced. The rest, which a plan pays beside its nests,
  // stays.
  double cycles = plan_.cycles;
  for (const LoopNest& nest : plan_.nests) cycles += NestCycles(nest, sizes) - nest.cycles;
  return cycles;
}

std::optional<Plan> SymbolicPlan::ApplyToRange(const PlanPoint& least, const PlanPoint& most) {
  KIRSCH_CHECK(least.rows <= most.rows && most.rows <= this->most().rows);
  KIRSCH_CHECK(least.keys <= most.keys && most.keys <= this->most().keys);
  KIRSCH_CHECK(least.columns <= most.columns && most.columns <= this->most().columns);
  Plan plan = plan_;
  if (any_rows_) plan.sizes.push_back({PlanSizeKind::kRows, "", 1, 1, planned_.rows});
  if (planned_.keys != 0) plan.sizes.push_back({PlanSizeKind::kKeys, "", 1, 1, 1});
  if (any_rows_ && planned_.columns != 0)
    plan.sizes.push_back({PlanSizeKind::kColumns, "", 1, 1, planned_.columns});
  for (size_t i = 0; i < plan.nests.size(); ++i) {
    const LoopNest& nest = plan_.nests[i];
    const bool in_blocks = BlockOf(nest) != 0;  // then anything may be left
    // Replaces the programs of a list of stages by programs for ranges of rows and keys.
    const auto apply = [&](std::vector<Stage> LoopNest::* list, int64_t least_rows, int64_t most_rows) {
      const std::vector<Stage>& stages = nest.*list;
      for (size_t j = 0; j < stages.size(); ++j) {
        const auto rule = rules_.find(&stages[j]);
        if (rule == rules_.end()) continue;
        std::optional<Impl> range =
            rule->second->ApplyToRange(SpecOf(stages[j], least_rows, in_blocks ? 1 : least.keys),
                                       SpecOf(stages[j], most_rows, in_blocks ? stages[j].keys : most.keys));
        if (!range) return false;
        (plan.nests[i].*list)[j].impl = *std::move(range);
      }
      return true;
    };
    if (!apply(&LoopNest::before, 0, 0) || !apply(&LoopNest::once, 0, 0) ||
        !apply(&LoopNest::stages, Grown(nest.rows, least.rows), Grown(nest.rows, most.rows)) ||
        !apply(&LoopNest::rest, 1, nest.tile - 1))
      return std::nullopt;
  }
  return plan;
}

}  // namespace kirsch
