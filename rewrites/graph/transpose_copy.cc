// A transposed value that is no view -> a copy.
#include <utility>

#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/registry.h"

namespace kirsch {
namespace {

bool Applies(const SliceProblem& problem) {
  return problem.slice.size() == 1 &&
         problem.slice.graph().at(problem.slice.at(0)).op == Operation::kTranspose;
}

std::vector<RewriteParameters> Enumerate(const SliceProblem&) { return {{}}; }

GroupShape Expand(const SliceProblem& problem, const GroupForm& form) {
  GroupShape shape;
  const int node = problem.slice.at(0), from = problem.slice.graph().at(node).inputs[0];
  const SliceMemory memory(problem.slice, form.in_place);
  const TensorType& type = problem.slice.graph().at(from).type;
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
