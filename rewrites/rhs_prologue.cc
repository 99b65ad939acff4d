#include "rewrites/rhs_prologue.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "rewrites/contraction_stage.h"
#include "rewrites/epilogue_fusion.h"
#include "rewrites/iteration.h"
#include "rewrites/row_fusion.h"
#include "rewrites/row_space.h"

namespace kirsch {
namespace {

// Blocks of columns are multiples of so many, those of the longest vectors.
constexpr int64_t kStep = 16, kMost = 1024;

// The place of the first contraction; the end if there is none.
size_t PlaceOfContraction(const GraphUses& uses, const GroupChoice& choice) {
  size_t place = choice.first;
  const auto contracts = [&](int node) {
    return Info(uses.graph().at(node).op).kind == OperationKind::kContraction;
  };
  while (place < choice.end && !contracts(uses.operations()[place])) ++place;
  return place;
}

class PrologueShaper {
 public:
  PrologueShaper(const GraphUses& uses, const GroupChoice& choice)
      : uses_(uses),
        graph_(uses.graph()),
        choice_(choice),
        matmul_(PlaceOfContraction(uses, choice)),
        node_(uses.operations()[matmul_]),
        lhs_(graph_.at(node_).inputs[0]),
        rhs_(graph_.at(node_).inputs[1]),
        turned_(uses.IsView(rhs_)),
        space_(MatrixSpace(TypeOf(uses.Stored(rhs_)).dims)),
        result_space_(MatrixSpace(TypeOf(node_).dims)),
        fused_(FuseEpilogue(uses, matmul_, choice.end, result_space_, false)) {}

  GroupShape Shape() && {
    Check();
    if (!shape_.error.empty()) return std::move(shape_);
    Group& group = shape_.groups.emplace_back();
    group.batch = result_space_.batch();
    group.rows = result_space_.columns();
    group.tile = choice_.tile == 0 ? group.rows : choice_.tile;
    group.stages = Stages(group.tile);
    if (const int64_t rest = group.rows % group.tile; rest != 0) group.rest = Stages(rest);
    if (fused_.result != graph_.result)
      shape_.Reserve(fused_.result, TypeOf(fused_.result).elements(), TypeOf(fused_.result).dtype);
    shape_.tile_step = kStep;
    AddOthers(group.rows);
    return std::move(shape_);
  }

 private:
  const TensorType& TypeOf(int node) const { return graph_.at(node).type; }
  bool IsMade(int node) const { return uses_.IsMadeIn(choice_.first, choice_.end, node); }

  void Fail(int node, std::string error) {
    if (!shape_.error.empty()) return;
    shape_.error = std::move(error);
    shape_.error_node = node;
  }

  void Check() {
    for (size_t place = choice_.first; place < matmul_; ++place) {
      const int node = uses_.operations()[place];
      // The tiles have whole rows of what a transposed view is of, which may be reduced.
      const bool goes = GoesAlongRows(graph_, node) && (turned_ || !ReducedAxesOf(graph_, node));
      if (!goes || !FitsRows(graph_, node, space_)) Fail(node, "operations on the columns of a matmul's rhs");
      if (uses_.LastUse(node) > static_cast<int>(matmul_)) Fail(node, "values for the matmul only");
    }
    if (IsMade(uses_.Stored(lhs_))) Fail(node_, "an lhs from elsewhere");
    if (const size_t end = matmul_ + 1 + fused_.taken; end != choice_.end)
      Fail(uses_.operations()[end], "what the matmul's epilogue can do");
    if (choice_.depth != 0 && !MayAddUp()) Fail(node_, "sums in the memory of the result");
  }

  void AddOthers(int64_t columns) {
    const auto add = [&](int64_t tile, int64_t depth) {
      GroupChoice& other = shape_.others.emplace_back(choice_);
      other.tile = tile;
      other.depth = depth;
    };
    // Rows of a view are whole vectors, however few.
    for (int64_t tile = turned_ ? 1 : kStep; tile < columns && tile <= kMost; tile *= 2) add(tile, 0);
    if (!MayAddUp()) return;
    for (int64_t parts : {4, 16}) {
      const int64_t depth = (terms() + parts - 1) / parts;
      if (depth < kStep) break;
      for (int64_t tile = 4 * kStep; tile < columns && tile <= kMost; tile *= 2) add(tile, depth);
      add(columns, depth);
    }
  }

  // Products in each sum.
  int64_t terms() const { return TypeOf(lhs_).dims.back(); }
  // May the matmul be done part by part, each added to those before? Of a transposed view whole rows are few
  // enough.
  bool MayAddUp() const { return !turned_ && TypeOf(fused_.result).dtype == TypeOf(node_).dtype; }

  // A block of the result's columns, and the terms of its sums that are added at a time.
  struct Block {
    int64_t columns, first, terms;
  };

  std::vector<Stage> Stages(int64_t columns) {
    std::vector<Stage> stages;
    const int64_t depth = choice_.depth == 0 ? terms() : choice_.depth;
    for (int64_t first = 0; first < terms(); first += depth)
      AddStages({columns, first, std::min(depth, terms() - first)}, &stages);
    return stages;
  }

  void AddStages(const Block& block, std::vector<Stage>* stages) {
    std::vector<int> nodes;
    for (size_t place = choice_.first; place < matmul_; ++place) {
      nodes.push_back(uses_.operations()[place]);
      if (place + 1 == matmul_ || IsNarrowed(graph_, nodes.back()))
        stages->push_back(Rows(std::exchange(nodes, {}), place + 1, block));
    }
    stages->push_back(Matmul(block));
  }

  // `next`: the place after the last of the nodes.
  Stage Rows(const std::vector<int>& nodes, size_t next, const Block& block) {
    std::vector<int> wanted;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(wanted),
                 [&](int node) { return uses_.LastUse(node) >= static_cast<int>(next); });
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

  // A dense tile, or that part of a matrix which belongs to the block.
  void AddMatrix(int node, const Block& block, Stage* stage) const {
    const MatrixStrides strides = StridesIn(space_, TypeOf(node)).value_or(MatrixStrides{});
    if (IsMade(node)) {
      stage->operands.push_back({node, 0, 0, 0});
      stage->row_strides.push_back(strides.column != 0 && strides.row != 0 ? stage->columns : strides.row);
    } else {
      const auto [along_terms, along_columns] =
          turned_ ? std::pair(strides.column, strides.row) : std::pair(strides.row, strides.column);
      stage->operands.push_back({node, block.first * along_terms, strides.batch, along_columns});
      stage->row_strides.push_back(strides.row);
    }
  }

  Stage Matmul(const Block& block) const {
    const int64_t m = result_space_.rows(), n = result_space_.columns(), k = terms();
    const bool lhs_turned = uses_.IsView(lhs_), last = block.first + block.terms == k;
    Spec asked;
    asked.op = OpWith(last ? fused_.epilogue : Epilogue{});
    asked.accumulate = block.first > 0;
    asked.size = {1, static_cast<uint32_t>(m), static_cast<uint32_t>(block.terms),
                  static_cast<uint32_t>(block.columns)};
    const auto set = [&](int node, Order order, int64_t ld, size_t operand) {
      SetMatrix(TypeOf(node).dtype, order, static_cast<uint32_t>(ld), operand, &asked);
    };
    set(lhs_, lhs_turned ? Order::kCol : Order::kRow, lhs_turned ? m : k, 0);
    set(rhs_, turned_ ? Order::kCol : Order::kRow, turned_ ? block.terms : block.columns, 1);
    set(fused_.result, Order::kRow, n, 2);
    Stage stage = ContractionStage(asked, {{uses_.Stored(lhs_), block.first * (lhs_turned ? m : 1), m * k, 0},
                                           {uses_.Stored(rhs_), 0, 0, 0},
                                           {fused_.result, 0, m * n, 1}});
    for (int node : last ? fused_.operands : std::vector<int>{}) {
      const MatrixStrides strides = StridesIn(result_space_, TypeOf(node)).value_or(MatrixStrides{});
      stage.operands.push_back({node, 0, strides.batch, strides.column});
    }
    return stage;
  }

  const GraphUses& uses_;
  const Graph& graph_;
  const GroupChoice& choice_;
  const size_t matmul_;         // its place
  const int node_, lhs_, rhs_;  // the matmul, and what it takes
  const bool turned_;           // the rhs is a transposed view
  const IterationSpace space_;  // of the rhs as it is made
  const IterationSpace result_space_;
  const FusedEpilogue fused_;
  GroupShape shape_;
};

}  // namespace

bool HasRhsPrologue(const GraphUses& uses, const GroupChoice& choice) {
  const size_t place = PlaceOfContraction(uses, choice);
  if (place == choice.end) return false;
  const GraphNode& node = uses.graph().at(uses.operations()[place]);
  return node.op == Operation::kMatmul && uses.IsMadeIn(choice.first, place, uses.Stored(node.inputs[1]));
}

GroupShape RhsPrologueGroup(const GraphUses& uses, const GroupChoice& choice) {
  return PrologueShaper(uses, choice).Shape();
}

}  // namespace kirsch
