// SPDX-License-Identifier: Apache-2.0
// Computes matmuls, their epilogues, and operations that go by the rows of their results, as stages over
// tiles of rows. Scores and the like then stay in a cache from one stage to the next. Each tile reads a
// matmul's rhs whole.
//
//   before -> after, for q: f32[1024,64], k: f32[64,512] and tiles of 16 rows:
//     s = matmul(q, k)   ->  64 times:  a contraction 16x64x512 into a tile s of scratch memory
//     p = softmax(s)                    a row program for 16 rows of 512, from s to p
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

// True if the operation at this place of the group is a matmul.
bool IsMatmul(const FusionGroup& group, size_t place) {
  return group.graph().at(group.at(place)).op == Operation::kMatmul;
}

// Returns how many matrices share the rhs of the first matmul, if they are neighbours along one axis. All
// matmuls of a group have to share alike.
uint32_t HeadsOf(const FusionGroup& group) {
  for (size_t place = 0; place < group.size(); ++place) {
    if (!IsMatmul(group, place)) continue;
    const GraphNode& matmul = group.graph().at(group.at(place));
    return SharesRhsAlongAxis(group.graph(), matmul)
               ? static_cast<uint32_t>(ItemsPerMatrix(group.graph(), matmul, 1))
               : 1;
  }
  return 1;
}

class MatmulRowsShaper {
 public:
  MatmulRowsShaper(const GroupProblem& problem, bool in_place)
      : problem_(problem),
        group_(problem.group),
        graph_(group_.graph()),
        memory_(group_, in_place),
        rows_(problem, &memory_, &shape_),
        heads_(HeadsOf(group_)),
        space_(SpaceOf(TypeOf(group_.at(group_.size() - 1)).dims)),
        leads_(IsMatmul(group_, 0)),
        taken_(leads_ ? FuseEpilogue(group_, 0, space_, true, problem.Varies(group_.at(0))).taken : 0) {}

  int64_t rows() const { return space_.rows(); }
  // True if the group is one matmul with its epilogue. Its batch may then be the spec's own.
  bool IsAlone() const { return leads_ && taken_ + 1 == group_.size(); }

  // Returns the nest over tiles of so many rows, or why there is none.
  GroupShape Shape(int64_t tile) && {
    Check();
    if (tile < 1 || tile > rows()) shape_.Fail(group_.at(0), "a tile of no more rows than there are");
    if (!shape_.error.empty()) return std::move(shape_);
    LoopNest nest;
    // A matmul alone, all of its rows in one tile, may be a single spec with the whole batch. A spec's
    // matrices follow each other without gaps, and their number is fixed.
    const bool batched = IsAlone() && tile == rows() && AreTogether() && !problem_.symbolic_rows;
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
  // Takes all rows that share what they are multiplied by as rows of one matrix. What has no heads has its
  // own rows.
  IterationSpace SpaceOf(const std::vector<uint32_t>& dims) const {
    const bool has_heads = dims.size() > 2 && dims[dims.size() - 3] % heads_ == 0;
    return has_heads ? HeadsSpace(dims, heads_) : MatrixSpace(dims);
  }

  // Notes an error unless all operations have the same rows and items, go by rows, and find their matrices
  // evenly apart.
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

  // Notes an error if a value with the number of keys comes from another group, or goes to one. It has to be
  // the caller's, or a tile that is made and used up here.
  void CheckKeys(int node) {
    const auto is_known = [&](int input) {
      const int stored = group_.uses().Stored(input);
      return !problem_.Varies(input) || group_.Makes(stored) || graph_.at(stored).op == Operation::kInput;
    };
    const std::vector<int>& inputs = graph_.at(node).inputs;
    if (!std::ranges::all_of(inputs, is_known) || (problem_.Varies(node) && !group_.IsLocal(node)))
      shape_.Fail(node, "all operations that go by the keys");
  }

  // Notes an error unless the matmul shares its rhs as the group does, and its three matrices are evenly
  // apart.
  void CheckMatrices(int node) {
    const GraphNode& at = graph_.at(node);
    if (ItemsPerMatrix(graph_, at, 0) != 1 || ItemsPerMatrix(graph_, at, 1) != heads_)
      shape_.Fail(node, "as many matrices that share one");
    else if (!StoredLhs(at) || !StoredRhs(at) || !StoredOut(node))
      shape_.Fail(node, "matrices that are evenly apart");
  }

  // How the matmul's operands lie. A transposed lhs of several heads has no rows that are one matrix's.
  std::optional<StoredMatrices> StoredLhs(const GraphNode& matmul) const {
    const int lhs = matmul.inputs[0];
    if (heads_ > 1 && group_.uses().IsView(lhs)) return std::nullopt;
    return FindMatrices(TypeOf(group_.uses().Stored(lhs)), heads_);
  }
  std::optional<StoredMatrices> StoredRhs(const GraphNode& matmul) const {
    return FindMatrices(TypeOf(group_.uses().Stored(matmul.inputs[1])));
  }
  std::optional<StoredMatrices> StoredOut(int node) const { return FindMatrices(TypeOf(node), heads_); }
  // True if the matrices that the only matmul reads and writes follow each other, as those of a spec's batch
  // do.
  bool AreTogether() const {
    const GraphNode& matmul = graph_.at(group_.at(0));
    const std::optional<StoredMatrices> out = StoredOut(group_.at(group_.size() - 1));
    return StoredLhs(matmul)->is_together && StoredRhs(matmul)->is_together && out && out->is_together;
  }

  // Writes the group's operations in their order, for a tile of so many rows: each matmul with its epilogue
  // is a stage. Operations by rows between two matmuls are row programs, one as long as their rows are of one
  // length.
  std::vector<Stage> Stages(int64_t rows) {
    std::vector<Stage> stages;
    stages.reserve(group_.size());
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
          TakeKeys(group_.at(place), stage.columns, &stage);
          stage.columns = stage.keys;
          MoveRowsApart(rows, &stage);
        }
        stages.push_back(std::move(stage));
      }
      place = end;
    }
    return stages;
  }

  // True if one of the operations from place `first` to `end` reads or makes rows with an element for each
  // key.
  bool GoByKeys(size_t first, size_t end) const {
    for (size_t place = first; place < end; ++place) {
      const std::vector<int>& inputs = graph_.at(group_.at(place)).inputs;
      if (problem_.Varies(group_.at(place)) ||
          std::ranges::any_of(inputs, [&](int input) { return problem_.Varies(input); }))
        return true;
    }
    return false;
  }

  // Makes the stage one for any number of keys, at most `keys`.
  void TakeKeys(int node, int64_t keys, Stage* stage) {
    stage->keys = {SizeSymbol::kKeysLeft, keys};
    if (!ColumnsMayVary(stage->program, problem_.target))
      shape_.Fail(node, "rows of any number of elements of that type");
  }

  // True if the value has an element for each key and is a tile: its rows may be as far apart as is best.
  // (RowDistance).
  bool IsApart(int node) const { return problem_.Varies(node) && group_.Makes(node); }
  uint32_t Apart(uint32_t columns) const {
    return static_cast<uint32_t>(RowDistance(columns, problem_.target));
  }
  // Sets that distance for all such operands of a row program, and makes room for it.
  void MoveRowsApart(int64_t rows, Stage* stage) {
    for (size_t i = 0; i < stage->operands.size(); ++i) {
      const int node = stage->operands[i].value;
      if (!IsApart(node)) continue;
      stage->row_strides[i] = Apart(static_cast<uint32_t>(stage->columns));
      memory_.Reserve(node, rows, stage->row_strides[i], &shape_);
    }
  }

  // Writes the matmul at *place with its epilogue, and moves *place behind both.
  Stage Matmul(size_t* place, int64_t rows) {
    const GraphUses& uses = group_.uses();
    const int node = group_.at(*place), lhs = graph_.at(node).inputs[0], rhs = graph_.at(node).inputs[1];
    const bool lhs_turned = uses.IsView(lhs), rhs_turned = uses.IsView(rhs);
    // The rhs is read whole by each tile of rows, so no tile of it will do. A tile of lhs has its own rows
    // only, which a transposed lhs would read as columns.
    if (group_.Makes(uses.Stored(rhs)) || (group_.Makes(uses.Stored(lhs)) && lhs_turned))
      shape_.Fail(node, "no matmul by what the same group makes");
    const IterationSpace space = SpaceOf(TypeOf(node).dims);
    const FusedEpilogue fused = FuseEpilogue(group_, *place, space, batched_, problem_.Varies(node));
    *place += 1 + fused.taken;
    const auto n = static_cast<uint32_t>(space.columns());
    const uint32_t k = TypeOf(lhs).dims.back();
    const StoredMatrices left = StoredLhs(graph_.at(node)).value_or(StoredMatrices{}),
                         right = StoredRhs(graph_.at(node)).value_or(StoredMatrices{});
    // The spec: the tile's rows, or all items if the batch is the spec's own.
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
    // Where the batch is the spec's, the stage runs once for all items: there is no stride from one to the
    // next.
    const int64_t once = batched_ ? 0 : 1;
    Stage stage = ContractionStage(
        asked, {memory_.OperandFor(uses.Stored(lhs), once * left.batch, lhs_turned ? 1 : left.ld),
                memory_.OperandFor(uses.Stored(rhs), once * right.batch, 0),
                memory_.OperandFor(fused.result, once * out.batch, out.ld)});
    for (int operand : fused.operands) {
      const MatrixStrides strides = StridesIn(space, TypeOf(operand)).value_or(MatrixStrides{});
      stage.operands.push_back(memory_.OperandFor(operand, once * strides.batch, strides.row));
    }
    // Scores have the keys along n; sums over the keys have them along the reduction.
    if (problem_.Varies(node) || problem_.Varies(lhs)) {
      const size_t dim = problem_.Varies(node) ? MatmulDims::kN : MatmulDims::kK;
      TakeKeys(node, asked.size[dim], &stage);
      stage.symbols[dim] = SizeSymbol::kKeysLeft;
    }
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

// All rows at once, tiles that register tiles divide well, and the tile that gives each thread one.
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
