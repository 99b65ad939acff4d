// SPDX-License-Identifier: Apache-2.0
// Elementwise operations on tensors that lie alike -> one row program over all elements, whatever the rows:
// no row ends within a vector.
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

// Where rows are few, `rows` goes by elements itself.
bool Applies(const GroupProblem& problem) {
  const FusionGroup& group = problem.group;
  const Graph& graph = group.graph();
  const IterationSpace space = SpaceOf(group);
  const bool fits = std::all_of(group.operations().begin(), group.operations().end(), [&](int node) {
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
