#include "rewrites/flat_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "rewrites/lattice.h"
#include "rewrites/row_fusion.h"
#include "rewrites/row_space.h"
#include "rewrites/row_stages.h"

namespace kirsch {
namespace {

constexpr int64_t kFlatLines = 4;  // tiles are multiples of so many

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
  const int64_t elements = SpaceOf(problem.slice).columns();
  std::vector<RewriteParameters> all = {{elements}};
  const int64_t share = ShareOf(elements, problem.threads, kFlatLines * LineElements(problem.target));
  if (share != 0) all.push_back({share});
  return all;
}

GroupShape Expand(const SliceProblem& problem, const GroupForm& form) {
  GroupShape shape;
  const Slice& slice = problem.slice;
  const IterationSpace space = SpaceOf(slice);
  Group group;
  group.rows = space.columns();
  group.tile = form.parameters[0];
  if (group.tile < 1 || group.tile > group.rows) {
    shape.Fail(slice.at(0), "a tile of no more elements than there are");
    return shape;
  }
  SliceMemory memory(slice, form.in_place);
  RowStages writer(slice, &memory, &shape);
  group.stages = writer.Write(0, slice.size(), {space, 1, group.tile});
  if (const int64_t rest = group.rows % group.tile; rest != 0)
    group.rest = writer.Write(0, slice.size(), {space, 1, rest});
  shape.groups.push_back(std::move(group));
  return shape;
}

}  // namespace

const GraphRewrite kFlatRows = {"flat", {"tile"}, Applies, Enumerate, Expand};

}  // namespace kirsch
