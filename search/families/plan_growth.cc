// SPDX-License-Identifier: Apache-2.0
#include "search/families/plan_growth.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "rewrites/analysis/fusion_group.h"
#include "rewrites/analysis/graph_uses.h"
#include "rewrites/graph/graph_rewrite.h"
#include "rewrites/graph/registry.h"
#include "rewrites/graph/row_schedules.h"
#include "search/families/symbolic_schedule.h"
#include "search/graph/key_nodes.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// Compares what a group's decisions make of the plan's graph with what they make of another one, and gives
// the plan's nests their sizes.
class GroupGrowth {
 public:
  GroupGrowth(const GrowingSymbol& growing, const Target& target) : growing_(growing), target_(target) {}

  // `nests`: those of the plan that are the group's. The shapes are expanded without copies, so the plan's
  // own nests have the copies.
  bool Find(const GroupShape& shape, const GroupShape& other, const std::vector<LoopNest*>& nests) {
    if (shape.nests.size() != other.nests.size() || shape.nests.size() != nests.size()) return false;
    for (size_t i = 0; i < nests.size(); ++i)
      if (growing_.symbol == SizeSymbol::kColumns ? !FindColumns(shape.nests[i], other.nests[i], nests[i])
                                                  : !FindIn(shape.nests[i], other.nests[i], nests[i]))
        return false;
    return true;
  }

 private:
  // Compares one nest. In the plan, stages that copy constants or operands that all tiles read come before
  // and once, so those lists may be longer there.
  bool FindIn(const LoopNest& nest, const LoopNest& other, LoopNest* plan) {
    if (!Grow(nest.batch, other.batch, &plan->batch) || !Grow(nest.rows, other.rows, &plan->rows))
      return false;
    if (!AreEqual(nest.before, other.before) || !AreEqual(nest.once, other.once)) return false;
    if (plan->stages.size() != nest.stages.size()) return false;
    // A tile of all rows grows with them, and has nothing left. Any other tile stays as it is.
    const bool is_whole = nest.tile == nest.rows;
    if (is_whole != (other.tile == other.rows)) return false;
    if (is_whole) plan->tile = plan->rows;
    for (size_t i = 0; i < plan->stages.size(); ++i) {
      Stage& stage = plan->stages[i];
      if (!Compare(nest.stages[i], other.stages[i], is_whole ? &stage : nullptr)) return false;
      if (!is_whole && !AreTilesAlike(nest.stages[i], other.stages[i])) return false;
      if (!SetStrides(nest.stages[i], other.stages[i], &stage)) return false;
      // Elements of a flat row are rows of its nest. Where the nest has as many rows as ever, columns grow.
      const bool is_flat = !plan->rows.IsConstant() && stage.columns.symbol() == SizeSymbol::kTileRows;
      if (nest.stages[i].columns != other.stages[i].columns && !is_flat &&
          !GrowColumns(nest.stages[i], other.stages[i], &stage))
        return false;
    }
    // A stage has any number of rows only if its tile has: sums down a column have all rows in a tile of one.
    if (plan->rows.IsConstant()) return std::none_of(plan->stages.begin(), plan->stages.end(), HasTileRows);
    return is_whole ? Suits(plan->stages, nest.rows) : SetRest(nest, other, plan);
  }

  // True if tiles are as far apart in both. Of a slice they may not be, whose rows are parts of longer ones.
  static bool AreTilesAlike(const Stage& a, const Stage& b) {
    return std::equal(
        a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(),
        [](const StageOperand& a, const StageOperand& b) { return a.row_stride == b.row_stride; });
  }

  // True if the stage's rows, those along M of a spec, are those of its tile.
  static bool HasTileRows(const Stage& stage) {
    return stage.Sizes()[MatmulDims::kM].symbol() == SizeSymbol::kTileRows;
  }

  // Finds columns of a row program that grow, and rows that follow each other without gaps. Example: softmax
  // of f32[8, n]. False if there is no code for that.
  bool GrowColumns(const Stage& a, const Stage& b, Stage* stage) const {
    Size columns = stage->columns;
    if (a.kind != StageKind::kRows || !Grow(a.columns, b.columns, &columns)) return false;
    SetColumns(columns, stage);
    for (size_t i = 0; i < a.row_strides.size(); ++i) {
      if (a.row_strides[i] == b.row_strides[i]) continue;
      if (a.row_strides[i] != a.columns || b.row_strides[i] != b.columns) return false;
      stage->row_strides[i] = stage->columns;
    }
    return ColumnsMayVary(a.program, target_);
  }

  // Makes the stages for what is left of tiles: those of a whole tile, for any number of rows below a tile's.
  bool SetRest(const LoopNest& nest, const LoopNest& other, LoopNest* plan) const {
    if (plan->tile != nest.tile || other.tile != nest.tile) return false;
    const std::vector<Stage>& rest = nest.rest.empty() ? other.rest : nest.rest;
    plan->rest.clear();
    if (rest.empty()) return nest.tile == 1 || growing_.planned % nest.tile == growing_.other % nest.tile;
    if (rest.size() != nest.stages.size()) return false;
    plan->rest = plan->stages;
    for (size_t i = 0; i < rest.size(); ++i) {
      if (!Compare(nest.stages[i], rest[i], &plan->rest[i])) return false;
      // What is left of rows has as many columns, unless these are the rows.
      if (nest.stages[i].columns != rest[i].columns &&
          plan->rest[i].columns.symbol() != SizeSymbol::kTileRows)
        return false;
    }
    return Suits(plan->rest, nest.tile);
  }

  // Compares one nest of a tile that is all rows, where columns alone may differ. Its rows may have a symbol.
  bool FindColumns(const LoopNest& nest, const LoopNest& other, LoopNest* plan) const {
    if (nest.batch != other.batch || nest.rows != other.rows || nest.tile != nest.rows ||
        other.tile != other.rows || !AreEqual(nest.before, other.before) ||
        !AreEqual(nest.once, other.once) || plan->stages.size() != nest.stages.size())
      return false;
    for (size_t i = 0; i < plan->stages.size(); ++i) {
      const Stage &a = nest.stages[i], &b = other.stages[i];
      Stage compared = a;
      if (!Compare(a, b, &compared) || HasTileRows(compared)) return false;
      for (size_t j = 0; j < a.operands.size(); ++j)
        if (nest.batch > 1 && a.operands[j].batch_stride != b.operands[j].batch_stride) return false;
      if (a.columns != b.columns && !GrowColumns(a, b, &plan->stages[i])) return false;
    }
    return true;
  }

  // True if there is code for the stages that grow. They must have as many rows, or elements of a single row,
  // as the tile has rows.
  bool Suits(const std::vector<Stage>& stages, int64_t rows) const {
    return std::all_of(stages.begin(), stages.end(), [&](const Stage& stage) {
      if (stage.columns.symbol() == SizeSymbol::kTileRows)
        return stage.columns.most() == rows && ColumnsMayVary(stage.program, target_);
      if (!HasTileRows(stage)) return true;
      if (stage.kind == StageKind::kRows) return stage.rows.most() == rows;
      return stage.spec.size[MatmulDims::kM] == rows && stage.spec.size[MatmulDims::kB] == 1;
    });
  }

  bool AreEqual(const std::vector<Stage>& a, const std::vector<Stage>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const Stage& a, const Stage& b) { return Compare(a, b, nullptr); });
  }

  // True if both stages are the same, but for their rows, or elements of a single row, and for how far items
  // are apart. In `stage` these become the rows of the tile; null: they must not differ.
  static bool Compare(const Stage& a, const Stage& b, Stage* stage) {
    if (a.kind != b.kind || a.repeats != b.repeats || a.loop != b.loop || a.keys != b.keys ||
        a.symbols != b.symbols || a.operands.size() != b.operands.size() || a.in_place != b.in_place)
      return false;
    for (size_t i = 0; i < a.operands.size(); ++i)
      if (a.operands[i].value != b.operands[i].value || a.operands[i].offset != b.operands[i].offset ||
          (a.repeats > 1 && a.operands[i].repeat_stride != b.operands[i].repeat_stride))
        return false;
    switch (a.kind) {
      case StageKind::kContraction:
        if (a.spec == b.spec) return true;
        if (stage == nullptr || !DifferInSizeOnly(a.spec, b.spec, MatmulDims::kM)) return false;
        stage->symbols[MatmulDims::kM] = SizeSymbol::kTileRows;
        return true;
      case StageKind::kRows:
        return CompareRows(a, b, stage);
      case StageKind::kPad:
        return a.copy == b.copy || (stage != nullptr && IsFill(a) && IsFill(b));
      case StageKind::kTranspose:
        return a.copy == b.copy;
      case StageKind::kPack:
      case StageKind::kTransform:
        return false;
    }
    return false;
  }

  // Sets columns that grow. A store past the caches has to be aligned, and where rows begin is not known.
  static void SetColumns(const Size& columns, Stage* stage) {
    stage->columns = columns;
    stage->schedule.streamed = RowSchedule::kNone;
  }

  // True for zeros in scratch memory. Those that fill the plan's tile serve fewer rows as well.
  static bool IsFill(const Stage& stage) {
    return stage.copy.height == 0 && stage.operands[0].value == stage.operands[1].value;
  }

  // A row program may have another number of rows, or of columns, unless it sums down the columns. Columns of
  // a single row may be the rows of its nest.
  static bool CompareRows(const Stage& a, const Stage& b, Stage* stage) {
    const bool one_row = a.rows == 1 && b.rows == 1, same_columns = a.columns == b.columns;
    if (!(a.program == b.program)) return false;
    if (same_columns && !one_row && a.row_strides != b.row_strides) return false;
    if (stage == nullptr) return a.rows == b.rows && same_columns;
    if (a.rows != b.rows) stage->rows = {SizeSymbol::kTileRows, stage->rows};
    if (!same_columns && one_row) SetColumns({SizeSymbol::kTileRows, stage->columns}, stage);
    return same_columns || !a.program.reduces_rows || stage->rows.IsConstant();
  }

  // Finds distances of items that grow.
  bool SetStrides(const Stage& stage, const Stage& other, Stage* plan) const {
    if (plan->operands.size() != stage.operands.size()) return false;
    for (size_t i = 0; i < plan->operands.size(); ++i) {
      Size stride = stage.operands[i].batch_stride;
      if (!Grow(stride, other.operands[i].batch_stride, &stride)) return false;
      // Of a copy, items are as far apart as ever.
      if (plan->operands[i].value == stage.operands[i].value) plan->operands[i].batch_stride = stride;
    }
    return true;
  }

  // True if both numbers are equal, or grow in proportion to the symbol: `size` is then a multiple of that.
  // Example: 8 heads of 64 rows are 512, of 65 rows 520.
  bool Grow(int64_t number, int64_t other, Size* size) const {
    if (number == other) return true;
    const int64_t factor = number / growing_.planned;
    *size = {growing_.symbol, number, factor};
    return factor * growing_.planned == number && factor * growing_.other == other;
  }

  const GrowingSymbol growing_;
  const Target& target_;
};

// Expands a group's decisions in a graph, apart from its copies.
class GroupExpander {
 public:
  GroupExpander(const GroupDecision& decision, const std::vector<bool>& of_keys, const Target& target)
      : operations_(decision.operations),
        of_keys_(of_keys),
        rewrite_(FindGraphRewrite(decision.candidate.rewrite.name)),
        target_(target) {
    KIRSCH_CHECK(rewrite_ != nullptr);
    form_.in_place = decision.candidate.in_place;
    for (size_t i = 0; i < rewrite_->parameters.size(); ++i)
      form_.parameters[i] = decision.candidate.rewrite.parameters[i].value;
  }

  GroupShape Expand(const GraphUses& uses) const {
    const FusionGroup group(uses, uses.SetOf(operations_));
    const GroupProblem problem{group, target_, 1, true, GoesByKeys(group, of_keys_) ? &of_keys_ : nullptr,
                               true};
    GroupForm form = form_;
    form.next_value = static_cast<int>(uses.graph().nodes.size());
    if (rewrite_->applies(problem)) return rewrite_->expand(problem, form);
    GroupShape none;
    none.Fail(group.at(0), "a group of the same form");
    return none;
  }

  // If the tile is all rows, its size is another one in this graph. Expanding with any tile tells how many
  // rows there are.
  void TakeAllRows(const GraphUses& uses) {
    if (rewrite_->parameters.empty() || rewrite_->parameters[0] != "tile") return;
    form_.parameters[0] = 1;
    const GroupShape any = Expand(uses);
    if (any.error.empty()) form_.parameters[0] = any.nests[0].rows;
  }

 private:
  const std::vector<int>& operations_;
  const std::vector<bool>& of_keys_;
  const GraphRewrite* const rewrite_;
  const Target& target_;
  GroupForm form_;
};

}  // namespace

bool MarkGrowth(const GrowingSymbol& growing, const Graph& other, const std::vector<bool>& of_keys,
                const Target& target, Plan* plan) {
  const GraphUses uses(plan->graph), other_uses(other);
  if (uses.operations() != other_uses.operations()) return false;
  for (size_t number = 0; number < plan->groups.size(); ++number) {
    std::vector<LoopNest*> nests;
    for (LoopNest& nest : plan->nests)
      if (nest.group == static_cast<int>(number)) nests.push_back(&nest);
    // Expand the same decisions in both graphs. If the plan's only tile is all rows, it must be all rows of
    // the other graph, too.
    GroupExpander expander(plan->groups[number], of_keys, target);
    const GroupShape shape = expander.Expand(uses);
    if (!shape.error.empty()) return false;
    if (nests.size() == 1 && nests[0]->tile == nests[0]->rows) expander.TakeAllRows(other_uses);
    const GroupShape of_other = expander.Expand(other_uses);
    if (!of_other.error.empty() || !GroupGrowth(growing, target).Find(shape, of_other, nests)) return false;
  }
  plan->symbols.push_back({"", 1, 1, growing.symbol});
  return true;
}

}  // namespace kirsch
