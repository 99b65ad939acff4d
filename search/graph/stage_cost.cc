// SPDX-License-Identifier: Apache-2.0
#include "search/graph/stage_cost.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/hash/hash.h"
#include "cost/copy_cost.h"
#include "cost/cost.h"
#include "cost/row_cost.h"
#include "cost/transform_cost.h"
#include "rewrites/graph/row_schedules.h"
#include "spec/check.h"
#include "spec/graph/row_passes.h"

namespace kirsch {
namespace {

// True if the schedule lets the results take the place of the inputs that they replace, if the stage wants
// that.
bool KeepsInPlace(const Stage& stage, const RowSchedule& schedule) {
  if (!stage.in_place) return true;
  const size_t inputs = stage.program.inputs.size();
  for (size_t i = 0; i < inputs; ++i)
    for (size_t result = 0; inputs + result < stage.operands.size(); ++result)
      if (stage.operands[i].value == stage.operands[inputs + result].value &&
          !MayBeInPlace(stage.program, schedule, static_cast<int>(result), static_cast<int>(i)))
        return false;
  return true;
}

// Splits the levels by inputs and results. Rows with gaps between them are not one stream.
RowLevels RowLevelsOf(const std::vector<Level>& levels, const Stage& stage) {
  RowLevels row_levels;
  if (stage.in_place) row_levels.in_place_stride = stage.row_strides[stage.program.inputs.size()].most();
  for (size_t i = 0; i < levels.size(); ++i)
    (i < stage.program.inputs.size() ? row_levels.inputs : row_levels.results).push_back(levels[i]);
  for (size_t i = 0; i < row_levels.inputs.size(); ++i)
    row_levels.apart.push_back(stage.row_strides[i] > stage.columns || stage.program.inputs[i].row_from >= 0);
  return row_levels;
}

// Tries all schedules, as there are a few dozen at most.
bool PriceRows(const std::vector<Level>& levels, const Target& target, const RowSchedule* pinned,
               Stage* stage) {
  const RowLevels row_levels = RowLevelsOf(levels, *stage);
  stage->cycles = kInfiniteCycles;
  for (RowSchedule& schedule : EnumerateRowSchedules(stage->program, stage->columns, target)) {
    if (!KeepsInPlace(*stage, schedule) || (pinned != nullptr && *pinned != schedule)) continue;
    if (!stage->columns.IsConstant() && schedule.streamed != RowSchedule::kNone) continue;
    const double cycles =
        RowCycles(stage->program, schedule, stage->rows, stage->columns, row_levels, target);
    if (cycles >= stage->cycles) continue;
    stage->cycles = cycles;
    stage->schedule = std::move(schedule);
  }
  KIRSCH_CHECK(stage->cycles < kInfiniteCycles || pinned != nullptr);
  if (stage->cycles == kInfiniteCycles) return false;
  stage->traffic =
      RowTraffic(stage->program, stage->schedule, stage->rows, stage->columns, row_levels, target);
  return true;
}

// A hash of what the price of a row program depends on, or of most of it.
uint64_t HashOfRows(const std::vector<Level>& levels, const Stage& stage) {
  uint64_t hash =
      absl::HashOf(levels, stage.rows.most(), stage.columns.most(), stage.repeats, stage.in_place);
  for (const RowValue& value : stage.program.values)
    hash = absl::HashOf(hash, value.op, value.a, value.b, value.input, value.number);
  return hash;
}

// True if two row programs have the same price. Where operands lie matters only as far as results take the
// place of inputs, and rows follow each other without gaps.
bool HaveOnePrice(const Stage& a, const Stage& b) {
  const auto replaces = [](const Stage& stage, size_t i, size_t j) {
    return stage.in_place && stage.operands[i].value == stage.operands[j].value;
  };
  if (a.rows != b.rows || a.columns != b.columns || a.repeats != b.repeats || a.in_place != b.in_place ||
      a.levels != b.levels || !(a.program == b.program))
    return false;
  const size_t result = a.program.inputs.size();
  if (a.in_place && a.row_strides[result] != b.row_strides[result]) return false;
  for (size_t i = 0; i < a.row_strides.size(); ++i) {
    if ((a.row_strides[i] > a.columns) != (b.row_strides[i] > b.columns)) return false;
    for (size_t j = 0; j < i; ++j)
      if (replaces(a, i, j) != replaces(b, i, j)) return false;
  }
  return true;
}

}  // namespace

void StagePrices::Price(const std::vector<Level>& levels, Stage* stage) {
  stage->levels = levels;
  if (stage->kind != StageKind::kRows) {
    PriceStage(levels, target_, nullptr, stage);
    return;
  }
  std::vector<Stage>& alike = known_[HashOfRows(levels, *stage)];
  const auto known = std::find_if(alike.begin(), alike.end(),
                                  [&](const Stage& other) { return HaveOnePrice(other, *stage); });
  if (known == alike.end()) {
    PriceStage(levels, target_, nullptr, stage);
    alike.push_back(*stage);
    return;
  }
  stage->cycles = known->cycles;
  stage->schedule = known->schedule;
  stage->traffic = known->traffic;
}

double RowCyclesFor(const Stage& stage, int64_t rows, int64_t columns, const Target& target) {
  const RowLevels row_levels = RowLevelsOf(stage.levels, stage);
  return RowCycles(stage.program, stage.schedule, rows, columns, row_levels, target);
}

bool PriceStage(const std::vector<Level>& levels, const Target& target, const RowSchedule* pinned,
                Stage* stage) {
  bool known = true;
  stage->levels = levels;
  switch (stage->kind) {
    case StageKind::kRows:
      known = PriceRows(levels, target, pinned, stage);
      break;
    case StageKind::kPad:
    case StageKind::kTranspose:
      stage->cycles =
          CopyCycles(stage->copy, stage->kind == StageKind::kTranspose, levels[0], levels[1], target);
      stage->traffic = CopyTraffic(stage->copy, levels[0], levels[1]);
      break;
    case StageKind::kTransform:
      stage->cycles = TransformCycles(stage->transform, levels, target);
      stage->traffic = TransformTraffic(stage->transform, levels, target);
      break;
    case StageKind::kContraction:
    case StageKind::kPack:
      KIRSCH_BUG("a stage for the search");
  }
  // The prices above are of one repeat.
  stage->cycles *= static_cast<double>(stage->repeats);
  Traffic of_repeats;
  of_repeats.Add(stage->traffic, static_cast<double>(stage->repeats));
  stage->traffic = of_repeats;
  return known;
}

}  // namespace kirsch
