// SPDX-License-Identifier: Apache-2.0
// Computes a matmul of which several matrices share one of an operand's, as query heads share their keys. A
// spec's batch has its own matrix for each item, so the stage repeats instead.
//
//   before -> after, for q: f32[12,64,32], k: f32[3,32,256]:
//     matmul(q, k)  ->  for each of 3 items: a contraction 64x32x256, repeated 4 times; k stays, q moves on
//   x: f32[2,1,64,32], w: f32[1,4,32,16]:
//     matmul(x, w)  ->  for each of 2 items: a contraction 64x32x16, repeated 4 times; x stays, w moves on
#include <optional>
#include <utility>

#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/contraction_stage.h"
#include "rewrites/graph/epilogue_fusion.h"
#include "rewrites/graph/registry.h"
#include "spec/graph/types.h"

namespace kirsch {
namespace {

// Writes the nest of such a matmul with its epilogue.
class SharedMatrixShaper {
 public:
  SharedMatrixShaper(const FusionGroup& group, bool in_place)
      : group_(group),
        graph_(group.graph()),
        node_(graph_.at(group.at(0))),
        space_(MatrixSpace(node_.type.dims)),
        batch_(BatchOf(graph_, node_)),
        fused_(FuseEpilogue(group, 0, space_, false)),
        memory_(group, in_place) {}

  GroupShape Shape() && {
    // The group is the matmul and what its epilogue takes, nothing else.
    if (const size_t end = 1 + fused_.taken; end != group_.size())
      shape_.Fail(group_.at(end), "what the matmul's epilogue can do");
    Spec asked;
    asked.op = OpWith(fused_.epilogue);
    asked.lhs_as = node_.lhs_as;
    asked.size = {1, static_cast<uint32_t>(space_.rows()), graph_.at(node_.inputs[0]).type.dims.back(),
                  static_cast<uint32_t>(space_.columns())};
    const StageOperand lhs = Matrix(0, &asked), rhs = Matrix(1, &asked);
    const StoredMatrices out = MatricesAt(fused_.result);
    SetMatrix(TypeOf(fused_.result).dtype, Order::kRow, out.ld, 2, &asked);
    Stage stage = ContractionStage(asked, {lhs, rhs, Each(fused_.result, out.batch)});
    for (int operand : fused_.operands)
      stage.operands.push_back(Each(operand, StridesIn(space_, TypeOf(operand))->batch));
    // Mostly, repeats go through the matrices that share one, and items of the nest from one shared matrix to
    // the next.
    stage.repeats = batch_.inner;
    memory_.Reserve(fused_.result, space_.rows(), space_.columns(), &shape_);
    LoopNest& nest = shape_.nests.emplace_back();
    nest.batch = batch_.outer;
    nest.rows = nest.tile = space_.rows();
    nest.stages.push_back(std::move(stage));
    return std::move(shape_);
  }

 private:
  const TensorType& TypeOf(int node) const { return graph_.at(node).type; }

  // An operand with a matrix for each of the result's, `stride` elements apart.
  StageOperand Each(int node, int64_t stride) const {
    StageOperand operand = memory_.OperandFor(node, stride * batch_.inner, 0);
    operand.repeat_stride = stride;
    return operand;
  }

  // The matmul's operand, which may stay where it is from repeat to repeat, or from item to item. Notes in
  // `asked` how it lies.
  StageOperand Matrix(size_t input, Spec* asked) {
    const GraphUses& uses = group_.uses();
    const int node = node_.inputs[input], stored = uses.Stored(node);
    const StoredMatrices matrices = MatricesAt(stored);
    SetMatrix(TypeOf(node).dtype, uses.IsView(node) ? Order::kCol : Order::kRow, matrices.ld, input, asked);
    StageOperand operand = memory_.OperandFor(stored, matrices.batch * batch_.outer_step[input], 0);
    operand.repeat_stride = matrices.batch * batch_.inner_step[input];
    return operand;
  }

  // Returns how a value's matrices lie; notes an error if they are not evenly apart.
  StoredMatrices MatricesAt(int node) {
    const std::optional<StoredMatrices> matrices = FindMatrices(TypeOf(node));
    if (!matrices) shape_.Fail(group_.at(0), "matrices that are evenly apart");
    return matrices.value_or(StoredMatrices{});
  }

  const FusionGroup& group_;
  const Graph& graph_;
  const GraphNode& node_;
  const IterationSpace space_;
  const MatmulBatch batch_;
  const FusedEpilogue fused_;
  const GroupMemory memory_;
  GroupShape shape_;
};

bool Applies(const GroupProblem& problem) {
  const Graph& graph = problem.group.graph();
  const GraphNode& node = graph.at(problem.group.at(0));
  return node.op == Operation::kMatmul &&
         (ItemsPerMatrix(graph, node, 0) != 1 || ItemsPerMatrix(graph, node, 1) != 1);
}

std::vector<RewriteParameters> Enumerate(const GroupProblem&) { return {{}}; }

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  return SharedMatrixShaper(problem.group, form.in_place).Shape();
}

}  // namespace

const GraphRewrite kSharedMatrix = {"shared", {}, Applies, Enumerate, Expand};

}  // namespace kirsch
