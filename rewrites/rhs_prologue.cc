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
constexpr int64_t kStep = 16;

// The place of the first contraction; the end if there is none.
size_t PlaceOfContraction(const GraphUses& uses, const GroupChoice& choice) {
  size_t place = choice.first;
  const auto contracts = [&](int node) {
    return Info(uses.graph().at(node).op).kind == GraphOpKind::kContraction;
  };
  while (place < choice.end && !contracts(uses.operations()[place])) ++place;
  return place;
}

bool IsMadeIn(const GraphUses& uses, size_t first, size_t end, int node) {
  const auto begin = uses.operations().begin();
  const auto last = begin + static_cast<std::ptrdiff_t>(end);
  return std::find(begin + static_cast<std::ptrdiff_t>(first), last, node) != last;
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
    for (int64_t tile = kStep; tile < group.rows && tile <= 64 * kStep; tile *= 2)
      shape_.others.push_back({choice_.first, choice_.end, tile});
    return std::move(shape_);
  }

 private:
  const TensorType& TypeOf(int node) const { return graph_.at(node).type; }
  bool IsMade(int node) const { return IsMadeIn(uses_, choice_.first, choice_.end, node); }

  void Fail(int node, std::string error) {
    if (!shape_.error.empty()) return;
    shape_.error = std::move(error);
    shape_.error_node = node;
  }

  void Check() {
    for (size_t place = choice_.first; place < matmul_; ++place) {
      const int node = uses_.operations()[place];
      // The tiles have whole rows of what a transposed view is of.
      const bool reduces = ReducedAxesOf(graph_, node) && !turned_;
      if (!GoesByRows(graph_, node) || reduces || !FitsRows(graph_, node, space_))
        Fail(node, "operations on the columns of a matmul's rhs");
      if (uses_.LastUse(node) > static_cast<int>(matmul_)) Fail(node, "values for the matmul only");
    }
    if (IsMade(uses_.Stored(lhs_))) Fail(node_, "an lhs from elsewhere");
    if (const size_t end = matmul_ + 1 + fused_.taken; end != choice_.end)
      Fail(uses_.operations()[end], "what the matmul's epilogue can do");
  }

  // For a block of so many columns of the result.
  std::vector<Stage> Stages(int64_t block) {
    std::vector<Stage> stages;
    std::vector<int> nodes;
    for (size_t place = choice_.first; place < matmul_; ++place) {
      nodes.push_back(uses_.operations()[place]);
      if (place + 1 == matmul_ || IsNarrowed(graph_, nodes.back()))
        stages.push_back(Rows(std::exchange(nodes, {}), place + 1, block));
    }
    stages.push_back(Matmul(block));
    return stages;
  }

  // `next`: the place after the last of the nodes.
  Stage Rows(const std::vector<int>& nodes, size_t next, int64_t block) {
    std::vector<int> wanted;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(wanted),
                 [&](int node) { return uses_.LastUse(node) >= static_cast<int>(next); });
    std::string error;
    FusedRows fused = FuseRows(uses_, nodes, wanted, space_, &error);
    if (!error.empty()) Fail(nodes.front(), error);
    Stage stage;
    stage.kind = StageKind::kRows;
    stage.rows = turned_ ? block : space_.rows();
    stage.columns = turned_ ? space_.columns() : block;
    for (int node : fused.inputs) AddMatrix(node, &stage);
    for (int node : fused.results) {
      AddMatrix(node, &stage);
      shape_.Reserve(node, stage.rows * stage.columns, TypeOf(node).dtype);
    }
    stage.program = std::move(fused.program);
    return stage;
  }

  // A dense tile, or that part of a matrix which belongs to the block.
  void AddMatrix(int node, Stage* stage) const {
    const MatrixStrides strides = StridesIn(space_, TypeOf(node)).value_or(MatrixStrides{});
    if (IsMade(node)) {
      stage->operands.push_back({node, 0, 0, 0});
      stage->row_strides.push_back(strides.column != 0 && strides.row != 0 ? stage->columns : strides.row);
    } else {
      stage->operands.push_back({node, 0, strides.batch, turned_ ? strides.row : strides.column});
      stage->row_strides.push_back(strides.row);
    }
  }

  Stage Matmul(int64_t block) const {
    const int64_t m = result_space_.rows(), n = result_space_.columns(), k = TypeOf(lhs_).dims.back();
    const bool lhs_turned = uses_.IsView(lhs_);
    Spec asked;
    asked.op = OpWith(fused_.epilogue);
    asked.size = {1, static_cast<uint32_t>(m), static_cast<uint32_t>(k), static_cast<uint32_t>(block)};
    SetMatrix(TypeOf(lhs_).dtype, lhs_turned ? Order::kCol : Order::kRow, lhs_turned ? m : k, 0, &asked);
    SetMatrix(TypeOf(rhs_).dtype, turned_ ? Order::kCol : Order::kRow, turned_ ? k : block, 1, &asked);
    SetMatrix(TypeOf(fused_.result).dtype, Order::kRow, n, 2, &asked);
    std::vector<StageOperand> operands = {
        {uses_.Stored(lhs_), 0, m * k, 0}, {uses_.Stored(rhs_), 0, 0, 0}, {fused_.result, 0, m * n, 1}};
    for (int node : fused_.operands) {
      const MatrixStrides strides = StridesIn(result_space_, TypeOf(node)).value_or(MatrixStrides{});
      operands.push_back({node, 0, strides.batch, strides.column});
    }
    return ContractionStage(asked, std::move(operands));
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
  return node.op == GraphOp::kMatmul && IsMadeIn(uses, choice.first, place, uses.Stored(node.inputs[1]));
}

GroupShape RhsPrologueGroup(const GraphUses& uses, const GroupChoice& choice) {
  return PrologueShaper(uses, choice).Shape();
}

}  // namespace kirsch
