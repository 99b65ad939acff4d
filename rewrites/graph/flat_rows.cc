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
IterationSpace SpaceOf(const Slice& slice) {
  return {slice.graph().at(slice.at(slice.size() - 1)).type.dims, 0, 0, false, true};
}

// Where rows are few, `rows` goes by elements itself.
bool Applies(const SliceProblem& problem) {
  const Slice& slice = problem.slice;
  const Graph& graph = slice.graph();
  const IterationSpace space = SpaceOf(slice);
  const bool fits = std::all_of(slice.operations().begin(), slice.operations().end(), [&](int node) {
    return GoesByRows(graph, node) && !ReducedAxesOf(graph, node) && FitsRows(graph, node, space);
  });
  GroupShape ignored;
  const std::optional<IterationSpace> usual =
      RowSpaceOf(graph, slice.operations(), &ignored.error, &ignored.error_node);
  return fits && !(usual && usual->flat);
}

std::vector<RewriteParameters> Enumerate(const SliceProblem& problem) {
  return TilesOfRows(problem, SpaceOf(problem.slice));
}

GroupShape Expand(const SliceProblem& problem, const GroupForm& form) {
  return GroupOfRows(problem, SpaceOf(problem.slice), form, "elements");
}

}  // namespace

const GraphRewrite kFlatRows = {"flat", {"tile"}, Applies, Enumerate, Expand};

}  // namespace kirsch
