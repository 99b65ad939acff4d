// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "rewrites/graph/registry.h"
#include "rewrites/graph/row_space.h"
#include "rewrites/graph/row_stages.h"
#include "rewrites/spec/tile_sizes.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Tiles that are parts of one row are multiples of so many lines.
constexpr int64_t kFlatLines = 4;

// Contractions, copies in another order and what goes along an axis have rewrites of their own. But slices
// that other operations of the group read may be read where they lie.
bool Applies(const GroupProblem& problem) {
  const Graph& graph = problem.group.graph();
  const auto is_slice = [&](int node) { return graph.at(node).op == Operation::kSlice; };
  if (std::ranges::all_of(problem.group.operations(), is_slice)) return false;
  return std::ranges::none_of(problem.group.operations(), [&](int node) {
    const OperationKind kind = Info(graph.at(node).op).kind;
    return kind == OperationKind::kContraction || kind == OperationKind::kTranspose ||
           kind == OperationKind::kRearrange || (kind == OperationKind::kAlongAxis && !is_slice(node));
  });
}

// Returns the space that fits the group; else the shape says why there is none.
std::optional<IterationSpace> SpaceOf(const GroupProblem& problem, GroupShape* shape) {
  return FindRowSpace(problem.group.graph(), problem.group.operations(), &shape->error, &shape->error_node);
}

// Returns how many rows tiles may share: elements, where there is one row; one, where columns are reduced
// whole.
int64_t RowsOf(const IterationSpace& space) {
  return space.flat ? space.columns() : space.reduces_rows ? 1 : space.rows();
}

std::vector<RewriteParameters> Enumerate(const GroupProblem& problem) {
  GroupShape ignored;
  const std::optional<IterationSpace> space = SpaceOf(problem, &ignored);
  return space ? TilesOfRows(problem, *space) : std::vector<RewriteParameters>{{1}};
}

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  GroupShape failed;
  const std::optional<IterationSpace> space = SpaceOf(problem, &failed);
  return space ? GroupOfRows(problem, *space, form, "rows") : failed;
}

}  // namespace

const GraphRewrite kRows = {"rows", {"tile"}, Applies, Enumerate, Expand};

// Tries all rows in one tile, and the tile that gives each thread one.
std::vector<RewriteParameters> TilesOfRows(const GroupProblem& problem, const IterationSpace& space) {
  std::vector<RewriteParameters> all = {{RowsOf(space)}};
  const int64_t step = space.flat ? kFlatLines * LineElements(problem.target) : 1;
  if (const int64_t share = ShareOf(RowsOf(space), problem.threads, step); share != 0) all.push_back({share});
  return all;
}

GroupShape GroupOfRows(const GroupProblem& problem, const IterationSpace& space, const GroupForm& form,
                       std::string_view pieces) {
  GroupShape shape;
  const FusionGroup& group = problem.group;
  const int64_t tile = form.parameters[0];
  LoopNest nest;
  nest.rows = RowsOf(space);
  if (tile < 1 || tile > nest.rows) {
    shape.Fail(group.at(0), Cat("a tile of no more ", pieces, " than there are"));
    return shape;
  }
  nest.tile = tile;
  nest.batch = space.flat ? 1 : space.batch();
  GroupMemory memory(group, form.in_place);
  RowStages writer(problem, &memory, &shape);
  // A tile is so many elements of a flat row, or so many rows; where rows are reduced, it is all of them.
  const auto stages = [&](int64_t rows) {
    if (space.flat) return writer.Write(0, group.size(), {space, 1, rows});
    return writer.Write(0, group.size(), {space, space.reduces_rows ? space.rows() : rows});
  };
  nest.stages = stages(tile);
  if (const int64_t rest = nest.rows % tile; rest != 0) nest.rest = stages(rest);
  shape.nests.push_back(std::move(nest));
  return shape;
}

}  // namespace kirsch
