// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/strided_copy.h"

#include <array>
#include <cstddef>
#include <utility>

#include "rewrites/graph/registry.h"
#include "spec/graph/types.h"

namespace kirsch {
namespace {

static_assert(kMaxStridedRank == 4, "an axis each for items, tiles, rows and columns");

// A copy is a group of its own.
bool Applies(const GroupProblem& problem) {
  return problem.group.size() == 1 && IsStridedCopy(problem.group.graph(), problem.group.at(0));
}

std::vector<RewriteParameters> Enumerate(const GroupProblem&) { return {{}}; }

// Returns the values as those of four axes. Outer axes that are not there get `missing`.
template <typename Number>
std::array<int64_t, kMaxStridedRank> Outermost(const std::vector<Number>& values, int64_t missing) {
  std::array<int64_t, kMaxStridedRank> all;
  all.fill(missing);
  for (size_t i = 0; i < values.size(); ++i)
    all[kMaxStridedRank - values.size() + i] = static_cast<int64_t>(values[i]);
  return all;
}

// The four axes become items, tiles, rows and columns, so each may have any stride:
//
//   f32[12,64,32] strides=[32,384,1]  ->  sizes 1, 12, 64, 32: one item, 12 tiles, 64 rows of 32 in each
GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  GroupShape shape;
  const Graph& graph = problem.group.graph();
  const int to = problem.group.at(0), from = graph.at(to).inputs[0];
  const Dtype loaded = graph.at(from).type.dtype, stored = graph.at(to).type.dtype;
  const GroupMemory memory(problem.group, form.in_place);
  const auto sizes = Outermost(graph.at(to).type.dims, 1);
  Stage stage;
  stage.kind = StageKind::kRows;
  stage.rows = sizes[2];
  stage.columns = sizes[3];
  stage.program.values = {{Operation::kLoad, -1, -1, 0, 0, AccumulatorOf(loaded)}};
  stage.program.inputs = {{loaded, sizes[3] > 1, sizes[2] > 1}};
  stage.program.results = {{0, stored}};
  for (int node : {from, to}) {
    const auto strides = Outermost(graph.at(node).type.Strides(), 0);
    stage.operands.push_back(memory.OperandFor(node, strides[0], strides[1]));
    stage.row_strides.push_back(strides[2]);
  }
  memory.Reserve(to, 0, 0, &shape);
  LoopNest& nest = shape.nests.emplace_back();
  nest.batch = sizes[0];
  nest.rows = sizes[1];
  nest.stages.push_back(std::move(stage));
  return shape;
}

}  // namespace

bool IsStridedCopy(const Graph& graph, int node) {
  if (graph.at(node).op != Operation::kCast) return false;
  const TensorType &from = graph.at(graph.at(node).inputs[0]).type, &to = graph.at(node).type;
  return (from.dtype == to.dtype || !Info(from.dtype).is_result) && !(from.dense() && to.dense());
}

const GraphRewrite kStridedCopy = {"gather", {}, Applies, Enumerate, Expand};

}  // namespace kirsch
