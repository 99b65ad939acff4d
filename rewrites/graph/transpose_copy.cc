// SPDX-License-Identifier: Apache-2.0
// Copies a transposed value that is no view (GraphUses::IsView), so that operations by rows can read it.
//
//   before -> after, for x: f32[4,64,32]:
//     t = transpose(x); softmax(t)  ->  a copy that turns 4 matrices of 64x32 into 32x64; then softmax(copy)
#include <utility>

#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/registry.h"

namespace kirsch {
namespace {

// Such a copy is a group of its own.
bool Applies(const GroupProblem& problem) {
  return problem.group.size() == 1 &&
         problem.group.graph().at(problem.group.at(0)).op == Operation::kTranspose;
}

std::vector<RewriteParameters> Enumerate(const GroupProblem&) { return {{}}; }

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  GroupShape shape;
  const int node = problem.group.at(0), from = problem.group.graph().at(node).inputs[0];
  const GroupMemory memory(problem.group, form.in_place);
  const TensorType& type = problem.group.graph().at(from).type;
  const IterationSpace space = MatrixSpace(type.dims);
  Stage stage;
  stage.kind = StageKind::kTranspose;
  stage.operands = {memory.OperandFor(from, 0, 0), memory.OperandFor(node, 0, 0)};
  stage.copy.planes = space.batch();
  stage.copy.height = space.rows();
  stage.copy.width = space.columns();
  stage.copy.dtype = type.dtype;
  memory.Reserve(node, 0, 0, &shape);
  shape.nests.emplace_back().stages.push_back(std::move(stage));
  return shape;
}

}  // namespace

const GraphRewrite kTransposeCopy = {"transpose", {}, Applies, Enumerate, Expand};

}  // namespace kirsch
