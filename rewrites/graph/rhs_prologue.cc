// SPDX-License-Identifier: Apache-2.0
// Does operations on a matmul's rhs while it is packed: weights that are widened and scaled, or masked. The
// changed weights are then never stored whole.
//
// The nest's tiles are blocks of the columns of the matmul's result. For each block, a row program writes
// these columns of the rhs as a dense matrix in scratch memory, by which all rows of the lhs are multiplied.
// Where the rhs is a transposed view, it writes rows of what that is a view of.
//
//   before -> after, for x: f32[8,512], w: s8[512,1024], blocks of 64 columns:
//     f = cast(w, f32)         ->  16 times:  a row program: 512 rows of 64, from w[:, block] to a tile
//     y = matmul(x, f * scale)                a contraction 8x512x64 of x and the tile, into y[:, block]
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/contraction_stage.h"
#include "rewrites/graph/epilogue_fusion.h"
#include "rewrites/graph/registry.h"
#include "rewrites/graph/row_fusion.h"
#include "rewrites/graph/row_space.h"
#include "rewrites/spec/tile_sizes.h"
#include "spec/graph/types.h"

namespace kirsch {
namespace {

// Blocks of columns are lines, so many at most.
constexpr int64_t kMostLines = 64;

// Returns the place of the first contraction; the group's size if there is none.
size_t PlaceOfContraction(const FusionGroup& group) {
  const auto found = std::ranges::find_if(group.operations(), [&](int node) {
    return Info(group.graph().at(node).op).kind == OperationKind::kContraction;
  });
  return static_cast<size_t>(found - group.operations().begin());
}

// Writes the loop nest of such a group, or says why there is none.
class PrologueShaper {
 public:
  explicit PrologueShaper(const FusionGroup& group, const GroupForm& form = {})
      : group_(group),
        uses_(group.uses()),
        graph_(uses_.graph()),
        form_(form),
        matmul_(PlaceOfContraction(group)),
        node_(group.at(matmul_)),
        lhs_(graph_.at(node_).inputs[0]),
        rhs_(graph_.at(node_).inputs[1]),
        turned_(uses_.IsView(rhs_)),
        space_(MatrixSpace(TypeOf(uses_.Stored(rhs_)).dims)),
        result_space_(MatrixSpace(TypeOf(node_).dims)),
        fused_(FuseEpilogue(group, matmul_, result_space_, false)) {}

  // Checks the group first: the stages rely on it.
  GroupShape Shape() && {
    Check();
    if (!shape_.error.empty()) return std::move(shape_);
    LoopNest& nest = shape_.nests.emplace_back();
    nest.batch = result_space_.batch();
    nest.rows = columns();
    nest.tile = tile();
    nest.stages = Stages(nest.tile);
    if (const int64_t rest = nest.rows % nest.tile; rest != 0) nest.rest = Stages(rest);
    if (!graph_.IsResult(fused_.result))
      shape_.Reserve(fused_.result, TypeOf(fused_.result).elements(), TypeOf(fused_.result).dtype);
    return std::move(shape_);
  }

  // Returns blocks of columns with all terms; then, where sums may be added up part by part, also with a
  // fourth and a sixteenth of the terms, so that a tile of the rhs stays small.
  std::vector<RewriteParameters> Enumerate(const Target& target, int threads) const {
    const int64_t step = LineElements(target), most = kMostLines * step;
    std::vector<RewriteParameters> all = {{columns(), terms()}};
    // Rows of a view are whole vectors, however few.
    for (int64_t tile : Doublings(turned_ ? 1 : step, most, columns())) all.push_back({tile, terms()});
    for (int64_t parts : {4, 16}) {
      const int64_t depth = (terms() + parts - 1) / parts;
      if (!MayAddUp() || depth < step) break;
      for (int64_t tile : Doublings(4 * step, most, columns())) all.push_back({tile, depth});
      all.push_back({columns(), depth});
    }
    if (const int64_t share = ShareOf(columns(), threads, step); share != 0) all.push_back({share, terms()});
    return all;
  }

 private:
  const TensorType& TypeOf(int node) const { return graph_.at(node).type; }
  bool IsMade(int node) const { return group_.Makes(node); }
  int64_t tile() const { return form_.parameters[0]; }
  int64_t depth() const { return form_.parameters[1]; }
  int64_t columns() const { return result_space_.columns(); }
  void Fail(int node, std::string error) { shape_.Fail(node, std::move(error)); }

  // Notes an error unless the operations before the matmul go by rows of the rhs, are for the matmul only,
  // and the epilogue takes all operations after it.
  void Check() {
    for (size_t place = 0; place < matmul_; ++place) {
      const int node = group_.at(place);
      // Tiles have whole rows of what a transposed view is of, so these may be reduced. Of other rhs they
      // have parts of rows.
      const bool goes = GoesAlongRows(graph_, node) && (turned_ || !FindReducedAxes(graph_, node));
      if (!goes || !FitsRows(graph_, node, space_)) Fail(node, "operations on the columns of a matmul's rhs");
      if (group_.LastUse(node) > matmul_) Fail(node, "values for the matmul only");
    }
    if (IsMade(uses_.Stored(lhs_))) Fail(node_, "an lhs from elsewhere");
    for (size_t input : {size_t{0}, size_t{1}})
      if (ItemsPerMatrix(graph_, graph_.at(node_), input) != 1)
        Fail(node_, "as many matrices on either side");
    if (!StoredLhs() || !StoredOut()) Fail(node_, "matrices that are evenly apart");
    if (const size_t end = matmul_ + 1 + fused_.taken; end != group_.size())
      Fail(group_.at(end), "what the matmul's epilogue can do");
    if (tile() < 1 || tile() > columns() || depth() < 1 || depth() > terms())
      Fail(node_, "a tile of no more columns and terms than there are");
    else if (depth() < terms() && !MayAddUp())
      Fail(node_, "sums in the memory of the result");
  }

  // How the lhs and the result lie, which no tile is made of.
  std::optional<StoredMatrices> StoredLhs() const { return FindMatrices(TypeOf(uses_.Stored(lhs_))); }
  std::optional<StoredMatrices> StoredOut() const { return FindMatrices(TypeOf(fused_.result)); }

  // Products in each sum: the whole depth of the reduction.
  int64_t terms() const { return TypeOf(lhs_).dims.back(); }
  // True if the matmul may be done part by part, each added to those before. The result's memory holds the
  // sums meanwhile, so it must be of their type. A transposed view needs no parts: a block is a few whole
  // rows.
  bool MayAddUp() const { return !turned_ && TypeOf(fused_.result).dtype == TypeOf(node_).dtype; }

  // A block of the result's columns, and the terms of its sums that are added at a time.
  struct Block {
    int64_t columns, first, terms;
  };

  // Writes the stages for a block of columns: for each part of the terms, the part of the rhs, then its
  // matmul.
  std::vector<Stage> Stages(int64_t columns) {
    std::vector<Stage> stages;
    for (int64_t first = 0; first < terms(); first += depth())
      AddStages({columns, first, std::min(depth(), terms() - first)}, &stages);
    return stages;
  }

  // Operations before the matmul are as few row programs as can be: one ends where a value is narrowed, as
  // its readers must read it from memory.
  void AddStages(const Block& block, std::vector<Stage>* stages) {
    std::vector<int> nodes;
    for (size_t place = 0; place < matmul_; ++place) {
      nodes.push_back(group_.at(place));
      if (place + 1 == matmul_ || IsNarrowed(graph_, nodes.back()))
        stages->push_back(Rows(std::exchange(nodes, {}), place + 1, block));
    }
    stages->push_back(Matmul(block));
  }

  // Writes a row program for the part of the rhs. `next` is the place after the last of the nodes: values
  // that are used from there on are its results.
  Stage Rows(const std::vector<int>& nodes, size_t next, const Block& block) {
    std::vector<int> wanted;
    std::ranges::copy_if(nodes, std::back_inserter(wanted),
                         [&](int node) { return group_.LastUse(node) >= next; });
    std::string error;
    FusedRows fused = FuseRows(uses_, nodes, wanted, space_, &error);
    if (!error.empty()) Fail(nodes.front(), error);
    Stage stage;
    stage.kind = StageKind::kRows;
    stage.rows = turned_ ? block.columns : block.terms;
    stage.columns = turned_ ? block.terms : block.columns;
    for (int node : fused.inputs) AddMatrix(node, block, &stage);
    for (int node : fused.results) {
      AddMatrix(node, block, &stage);
      shape_.Reserve(node, stage.rows * stage.columns, TypeOf(node).dtype);
    }
    stage.program = std::move(fused.program);
    return stage;
  }

  // Adds a node as an operand: a dense tile, if it is made here; else the part of a matrix that belongs to
  // the block.
  void AddMatrix(int node, const Block& block, Stage* stage) const {
    const MatrixStrides strides = StridesIn(space_, TypeOf(node)).value_or(MatrixStrides{});
    if (IsMade(node)) {
      stage->operands.push_back({node, 0, 0, 0});
      stage->row_strides.push_back(strides.column != 0 && strides.row != 0 ? stage->columns
                                                                           : Size(strides.row));
    } else {
      // Tiles of the nest go on along columns. Of a transposed view, columns are the rows of what is stored.
      const auto [along_terms, along_columns] =
          turned_ ? std::pair(strides.column, strides.row) : std::pair(strides.row, strides.column);
      stage->operands.push_back({node, block.first * along_terms, strides.batch, along_columns});
      stage->row_strides.push_back(strides.row);
    }
  }

  // Writes the matmul by the part of the rhs. Parts after the first one accumulate; only the last has the
  // epilogue.
  Stage Matmul(const Block& block) const {
    const int64_t m = result_space_.rows(), k = terms();
    const bool lhs_turned = uses_.IsView(lhs_), last = block.first + block.terms == k;
    const StoredMatrices left = StoredLhs().value_or(StoredMatrices{}),
                         out = StoredOut().value_or(StoredMatrices{});
    Spec asked;
    asked.op = OpWith(last ? fused_.epilogue : Epilogue{});
    asked.accumulate = block.first > 0;
    asked.lhs_as = graph_.at(node_).lhs_as;
    asked.size = {1, static_cast<uint32_t>(m), static_cast<uint32_t>(block.terms),
                  static_cast<uint32_t>(block.columns)};
    const auto set = [&](int node, Order order, int64_t ld, size_t operand) {
      SetMatrix(TypeOf(node).dtype, order, static_cast<uint32_t>(ld), operand, &asked);
    };
    set(lhs_, lhs_turned ? Order::kCol : Order::kRow, left.ld, 0);
    set(rhs_, turned_ ? Order::kCol : Order::kRow, turned_ ? block.terms : block.columns, 1);
    set(fused_.result, Order::kRow, out.ld, 2);
    Stage stage = ContractionStage(
        asked, {{uses_.Stored(lhs_), block.first * (lhs_turned ? int64_t{left.ld} : 1), left.batch, 0},
                {uses_.Stored(rhs_), 0, 0, 0},
                {fused_.result, 0, out.batch, 1}});
    for (int node : last ? fused_.operands : std::vector<int>{}) {
      const MatrixStrides strides = StridesIn(result_space_, TypeOf(node)).value_or(MatrixStrides{});
      stage.operands.push_back({node, 0, strides.batch, strides.column});
    }
    return stage;
  }

  const FusionGroup& group_;
  const GraphUses& uses_;
  const Graph& graph_;
  const GroupForm form_;
  const size_t matmul_;         // its place
  const int node_, lhs_, rhs_;  // the matmul, and what it takes
  const bool turned_;           // the rhs is a transposed view
  const IterationSpace space_;  // of the rhs as it is made
  const IterationSpace result_space_;
  const FusedEpilogue fused_;
  GroupShape shape_;
};

// True if operations before the first contraction, which is a matmul, make its rhs.
bool Applies(const GroupProblem& problem) {
  const FusionGroup& group = problem.group;
  const size_t place = PlaceOfContraction(group);
  if (place == group.size()) return false;
  const GraphNode& node = group.graph().at(group.at(place));
  return node.op == Operation::kMatmul && group.MakesBefore(place, group.uses().Stored(node.inputs[1]));
}

std::vector<RewriteParameters> Enumerate(const GroupProblem& problem) {
  return PrologueShaper(problem.group).Enumerate(problem.target, problem.threads);
}

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  return PrologueShaper(problem.group, form).Shape();
}

}  // namespace

const GraphRewrite kRhsPrologue = {"prologue", {"tile", "depth"}, Applies, Enumerate, Expand};

}  // namespace kirsch
