// SPDX-License-Identifier: Apache-2.0
// Computes elementwise operations on tensors that lie alike as one row program over all elements, whatever
// the rows are. No row then ends within a vector.
//
//   before -> after, for f32[100,3] and vectors of 16 elements:
//     100 rows of 3 elements, a masked vector each  ->  a row of 300: 18 whole vectors and one masked
#include <algorithm>
#include <optional>

#include "rewrites/graph/registry.h"
#include "rewrites/graph/row_fusion.h"
#include "rewrites/graph/row_space.h"
#include "rewrites/graph/rows.h"

namespace kirsch {
namespace {

// All axes are columns of one row.
IterationSpace SpaceOf(const FusionGroup& group) {
  return {group.graph().at(group.at(group.size() - 1)).type.dims, 0, 0, false, true};
}

// True if each operation is elementwise, and all tensors are dense or single numbers (FitsRows). Where rows
// are few, `rows` already goes by elements, and this rewrite would only repeat it.
bool Applies(const GroupProblem& problem) {
  const FusionGroup& group = problem.group;
  const Graph& graph = group.graph();
  const IterationSpace space = SpaceOf(group);
  const bool fits = std::ranges::all_of(group.operations(), [&](int node) {
    return GoesByRows(graph, node) && !FindReducedAxes(graph, node) && FitsRows(graph, node, space);
  });
  GroupShape ignored;
  const std::optional<IterationSpace> usual =
      FindRowSpace(graph, group.operations(), &ignored.error, &ignored.error_node);
  return fits && !(usual && usual->flat);
}

std::vector<RewriteParameters> Enumerate(const GroupProblem& problem) {
  return TilesOfRows(problem, SpaceOf(problem.group));
}

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  return GroupOfRows(problem, SpaceOf(problem.group), form, "elements");
}

}  // namespace

const GraphRewrite kFlatRows = {"flat", {"tile"}, Applies, Enumerate, Expand};

}  // namespace kirsch
