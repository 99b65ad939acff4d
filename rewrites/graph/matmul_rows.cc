// SPDX-License-Identifier: Apache-2.0
// Matmuls, their epilogues and operations that go by the rows of their results -> stages over tiles of rows.
// A matmul's rhs is read whole for each tile.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/contraction_stage.h"
#include "rewrites/graph/epilogue_fusion.h"
#include "rewrites/graph/registry.h"
#include "rewrites/graph/row_fusion.h"
#include "rewrites/graph/row_schedules.h"
#include "rewrites/graph/row_space.h"
#include "rewrites/graph/row_stages.h"
#include "rewrites/spec/tile_sizes.h"
#include "spec/graph/types.h"

namespace kirsch {
namespace {

bool IsMatmul(const FusionGroup& group, size_t place) {
  return group.graph().at(group.at(place)).op == Operation::kMatmul;
}

// Matrices that share the rhs of the first matmul.
uint32_t HeadsOf(const FusionGroup& group) {
  for (size_t place = 0; place < group.size(); ++place)
    if (IsMatmul(group, place))
      return static_cast<uint32_t>(ItemsPerMatrix(group.graph(), group.graph().at(group.at(place)), 1));
  return 1;
}

class MatmulRowsShaper {
 public:
  MatmulRowsShaper(const GroupProblem& problem, bool in_place)
      : problem_(problem),
        group_(problem.group),
        graph_(group_.graph()),
        memory_(group_, in_place),
        rows_(group_, &memory_, &shape_),
        heads_(HeadsOf(group_)),
        space_(SpaceOf(TypeOf(group_.at(group_.size() - 1)).dims)),
        leads_(IsMatmul(group_, 0)),
        taken_(leads_ ? FuseEpilogue(group_, 0, space_, true, problem.Varies(group_.at(0))).taken : 0) {}

  int64_t rows() const { return space_.rows(); }
  // A matmul alone has its batch for itself.
  bool IsAlone() const { return leads_ && taken_ + 1 == group_.size(); }

  GroupShape Shape(int64_t tile) && {
    Check();
    if (tile < 1 || tile > rows()) shape_.Fail(group_.at(0), "a tile of no more rows than there are");
    if (!shape_.error.empty()) return std::move(shape_);
    LoopNest nest;
    const bool batched = IsAlone() && tile == rows() && AreTogether() && !problem_.any_rows;
    nest.batch = batched ? 1 : space_.batch();
    nest.rows = rows();
    nest.tile = tile;
    batched_ = nest.batch < space_.batch();
    nest.stages = Stages(tile);
    if (const int64_t rest = nest.rows % tile; rest != 0) nest.rest = Stages(rest);
    shape_.nests.push_back(std::move(nest));
    return std::move(shape_);
  }

 private:
  const TensorType& TypeOf(int node) const { return graph_.at(node).type; }
  // All rows that share what they are multiplied by; of what has no heads, its own.
  IterationSpace SpaceOf(const std::vector<uint32_t>& dims) const {
    const bool has_heads = dims.size() > 2 && dims[dims.size() - 3] % heads_ == 0;
    return has_heads ? HeadsSpace(dims, heads_) : MatrixSpace(dims);
  }

  void Check() {
    for (size_t place = 0; place < group_.size(); ++place) {
      const int node = group_.at(place);
      const IterationSpace own = SpaceOf(TypeOf(node).dims);
      const bool fits = own.rows() == space_.rows() && own.batch() == space_.batch();
      const bool by_rows = (leads_ && place <= taken_) ||  // as an epilogue, whatever its type
                           GoesAlongRows(graph_, node);
      if (!fits || (!IsMatmul(group_, place) && !by_rows))
        return shape_.Fail(node, "operations of a group with the same rows");
      if (IsMatmul(group_, place)) CheckMatrices(node);
      CheckKeys(node);
    }
  }

  // Of any number of keys, what goes by them is the caller's, or made and used up here.
  void CheckKeys(int node) {
    const auto is_known = [&](int input) {
      const int stored = group_.uses().Stored(input);
      return !problem_.Varies(input) || group_.Makes(stored) || graph_.at(stored).op == Operation::kInput;
    };
    const std::vector<int>& inputs = graph_.at(node).inputs;
    if (!std::all_of(inputs.begin(), inputs.end(), is_known) ||
        (problem_.Varies(node) && !group_.IsLocal(node)))
      shape_.Fail(node, "all operations that go by the keys");
  }

  void CheckMatrices(int node) {
    const GraphNode& at = graph_.at(node);
    if (ItemsPerMatrix(graph_, at, 0) != 1 || ItemsPerMatrix(graph_, at, 1) != heads_)
      shape_.Fail(node, "as many matrices that share one");
    else if (!StoredLhs(at) || !StoredRhs(at) || !StoredOut(node))
      shape_.Fail(node, "matrices that are evenly apart");
  }

  // Transposed matrices have no rows that are one matrix's.
  std::optional<StoredMatrices> StoredLhs(const GraphNode& matmul) const {
    const int lhs = matmul.inputs[0];
    if (heads_ > 1 && group_.uses().IsView(lhs)) return std::nullopt;
    return FindMatrices(TypeOf(group_.uses().Stored(lhs)), heads_);
  }
  std::optional<StoredMatrices> StoredRhs(const GraphNode& matmul) const {
    return FindMatrices(TypeOf(group_.uses().Stored(matmul.inputs[1])));
  }
  std::optional<StoredMatrices> StoredOut(int node) const { return FindMatrices(TypeOf(node), heads_); }
  // Do the matrices that the only matmul takes and makes follow each other, as those of a spec's batch do?
  bool AreTogether() const {
    const GraphNode& matmul = graph_.at(group_.at(0));
    const std::optional<StoredMatrices> out = StoredOut(group_.at(group_.size() - 1));
    return StoredLhs(matmul)->is_together && StoredRhs(matmul)->is_together && out && out->is_together;
  }

  std::vector<Stage> Stages(int64_t rows) {
    std::vector<Stage> stages;
    for (size_t place = 0; place < group_.size() && shape_.error.empty();) {
      if (IsMatmul(group_, place)) {
        stages.push_back(Matmul(&place, rows));
        continue;
      }
      const IterationSpace space = SpaceOf(WidestOf(graph_, group_.at(place)));
      size_t end = place;
      while (end < group_.size() && !IsMatmul(group_, end) && FitsRows(graph_, group_.at(end), space)) ++end;
      if (end == place) {
        shape_.Fail(group_.at(place), "rows of one length");
        break;
      }
      const bool by_keys = GoByKeys(place, end);
      for (Stage& stage : rows_.Write(place, end, {space, rows})) {
        if (by_keys) {
          TakeKeys(group_.at(place), MatmulDims::kN, stage.columns, &stage);
          MoveRowsApart(rows, &stage);
        }
        stages.push_back(std::move(stage));
      }
      place = end;
    }
    return stages;
  }

  // Does one of the operations from place `first` to `end` read or make a row of what is one for each key?
  bool GoByKeys(size_t first, size_t end) const {
    for (size_t place = first; place < end; ++place) {
      const std::vector<int>& inputs = graph_.at(group_.at(place)).inputs;
      if (problem_.Varies(group_.at(place)) ||
          std::any_of(inputs.begin(), inputs.end(), [&](int input) { return problem_.Varies(input); }))
        return true;
    }
    return false;
  }

  // The stage is for any number of keys, up to `keys`, which it has along `dim`.
  void TakeKeys(int node, size_t dim, int64_t keys, Stage* stage) {
    stage->keys = keys;
    stage->at_once = true;
    stage->keys_along = static_cast<int>(dim);
    if (!ColumnsMayVary(stage->program, problem_.target))
      shape_.Fail(node, "rows of any number of elements of that type");
  }

  // Is it one for each key, made and used up here, so that its rows may be as far apart as is best?
  bool IsApart(int node) const { return problem_.Varies(node) && group_.Makes(node); }
  uint32_t Apart(uint32_t columns) const {
    return static_cast<uint32_t>(RowDistance(columns, problem_.target));
  }
  void MoveRowsApart(int64_t rows, Stage* stage) {
    for (size_t i = 0; i < stage->operands.size(); ++i) {
      const int node = stage->operands[i].value;
      if (!IsApart(node)) continue;
      stage->row_strides[i] = Apart(static_cast<uint32_t>(stage->columns));
      memory_.Reserve(node, rows, stage->row_strides[i], &shape_);
    }
  }

  // The matmul at *place and its epilogue; *place is then that of the next operation.
  Stage Matmul(size_t* place, int64_t rows) {
    const GraphUses& uses = group_.uses();
    const int node = group_.at(*place), lhs = graph_.at(node).inputs[0], rhs = graph_.at(node).inputs[1];
    const bool lhs_turned = uses.IsView(lhs), rhs_turned = uses.IsView(rhs);
    if (group_.Makes(uses.Stored(rhs)) || (group_.Makes(uses.Stored(lhs)) && lhs_turned))
      shape_.Fail(node, "no matmul by what the same group makes");
    const IterationSpace space = SpaceOf(TypeOf(node).dims);
    const FusedEpilogue fused = FuseEpilogue(group_, *place, space, batched_, problem_.Varies(node));
    *place += 1 + fused.taken;
    const auto n = static_cast<uint32_t>(space.columns());
    const uint32_t k = TypeOf(lhs).dims.back();
    const StoredMatrices left = StoredLhs(graph_.at(node)).value_or(StoredMatrices{}),
                         right = StoredRhs(graph_.at(node)).value_or(StoredMatrices{});
    Spec asked;
    asked.op = OpWith(fused.epilogue);
    asked.lhs_as = graph_.at(node).lhs_as;
    asked.size = {static_cast<uint32_t>(batched_ ? space.batch() : 1), static_cast<uint32_t>(rows), k, n};
    SetMatrix(TypeOf(lhs).dtype, lhs_turned ? Order::kCol : Order::kRow, IsApart(lhs) ? Apart(k) : left.ld, 0,
              &asked);
    SetMatrix(TypeOf(rhs).dtype, rhs_turned ? Order::kCol : Order::kRow, right.ld, 1, &asked);
    const std::optional<StoredMatrices> stored = StoredOut(fused.result);
    if (!stored) shape_.Fail(fused.result, "matrices that are evenly apart");
    const StoredMatrices out = stored.value_or(StoredMatrices{});
    const uint32_t row = IsApart(fused.result) ? Apart(n) : out.ld;
    SetMatrix(TypeOf(fused.result).dtype, Order::kRow, row, 2, &asked);
    const int64_t once = batched_ ? 0 : 1;
    Stage stage = ContractionStage(
        asked, {memory_.OperandFor(uses.Stored(lhs), once * left.batch, lhs_turned ? 1 : left.ld),
                memory_.OperandFor(uses.Stored(rhs), once * right.batch, 0),
                memory_.OperandFor(fused.result, once * out.batch, out.ld)});
    for (int operand : fused.operands) {
      const MatrixStrides strides = StridesIn(space, TypeOf(operand)).value_or(MatrixStrides{});
      stage.operands.push_back(memory_.OperandFor(operand, once * strides.batch, strides.row));
    }
    if (problem_.Varies(node))
      TakeKeys(node, MatmulDims::kN, n, &stage);
    else if (problem_.Varies(lhs))
      TakeKeys(node, MatmulDims::kK, k, &stage);
    memory_.Reserve(fused.result, rows, IsApart(fused.result) ? row : n, &shape_);
    return stage;
  }

  const GroupProblem& problem_;
  const FusionGroup& group_;
  const Graph& graph_;
  GroupShape shape_;
  GroupMemory memory_;
  RowStages rows_;
  const uint32_t heads_;        // matrices that share the rhs
  const IterationSpace space_;  // of the results
  const bool leads_;            // the first operation is a matmul
  const size_t taken_;          // operations after it, by its epilogue
  bool batched_ = false;        // the only stage has all items of the batch
};

bool Applies(const GroupProblem& problem) {
  bool any = false;
  for (size_t place = 0; place < problem.group.size(); ++place) any |= IsMatmul(problem.group, place);
  return any;
}

std::vector<RewriteParameters> Enumerate(const GroupProblem& problem) {
  const MatmulRowsShaper shaper(problem, true);
  std::vector<RewriteParameters> all = {{shaper.rows()}};
  if (!shaper.IsAlone())
    for (int64_t tile : RowTiles(shaper.rows(), problem.target)) all.push_back({tile});
  if (const int64_t share = ShareOf(shaper.rows(), problem.threads, 1); share != 0) all.push_back({share});
  return all;
}

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  return MatmulRowsShaper(problem, form.in_place).Shape(form.parameters[0]);
}

}  // namespace

const GraphRewrite kMatmulRows = {"matmul", {"tile"}, Applies, Enumerate, Expand, KeyUse::kAtOnce};

}  // namespace kirsch
