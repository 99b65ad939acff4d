// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/row_space.h"

#include <algorithm>

#include "rewrites/graph/along_axis.h"
#include "rewrites/graph/row_fusion.h"

namespace kirsch {
namespace {

// Elementwise groups of fewer rows are one row, if they can be, so that threads can share its elements.
constexpr int64_t kFewRows = 8;

int64_t Elements(const std::vector<uint32_t>& dims) { return TensorType{Dtype::kF32, dims}.elements(); }

// True if the operation's input has all elements of the axes that it reduces. An input that is repeated along
// them would be summed up too few times.
bool ReducesAll(const Graph& graph, int node, const IterationSpace& space) {
  const std::optional<ReducedAxes> reduced = FindReducedAxes(graph, node);
  if (!reduced) return true;
  const std::vector<uint32_t>& dims = graph.at(graph.at(node).inputs[0]).type.dims;
  for (size_t axis = reduced->behind_last + 1; axis <= reduced->from_first; ++axis)
    if (axis <= space.dims.size() && dims[dims.size() - axis] != space.dims[space.dims.size() - axis])
      return false;
  return true;
}

// Returns the spaces of these axes, the best first: few rows as one; else the most columns, then the most
// rows.
std::vector<IterationSpace> SpacesOf(const std::vector<uint32_t>& dims,
                                     const std::optional<ReducedAxes>& reduced) {
  const size_t rank = dims.size();
  // Axes behind those that are reduced become columns, along which vectors run; reductions go down the rows.
  if (reduced && reduced->behind_last > 0)
    return {{dims, rank - reduced->from_first, rank - reduced->behind_last, true}};
  std::vector<IterationSpace> spaces;
  const size_t first = reduced ? rank - reduced->from_first : std::min<size_t>(1, rank - 1);
  if (!reduced && IterationSpace{dims, 0, first}.rows() < kFewRows)
    spaces.push_back({dims, 0, 0, false, true});
  for (size_t columns = first; columns < (reduced ? first + 1 : rank); ++columns)
    for (size_t rows = 0; rows <= columns; ++rows) spaces.push_back({dims, rows, columns});
  return spaces;
}

}  // namespace

std::optional<IterationSpace> FindRowSpace(const Graph& graph, const std::vector<int>& nodes,
                                           std::string* error, int* error_node) {
  const auto fail = [&](int node, const char* expected) {
    *error = expected;
    *error_node = node;
    return std::nullopt;
  };
  std::vector<uint32_t> dims = WidestOf(graph, nodes.front());
  std::optional<ReducedAxes> reduced;
  // The space has the axes of the widest shape. All reductions have to be along the same axes.
  for (int node : nodes) {
    const bool slice = graph.at(node).op == Operation::kSlice;
    if (!slice && !GoesByRows(graph, node)) return fail(node, "operations that go by rows");
    // Of a slice the elements are read where they lie in memory.
    if (slice && std::ranges::find(nodes, graph.at(node).inputs[0]) != nodes.end())
      return fail(node, "no slice of what the same group makes");
    const std::optional<ReducedAxes> own = FindReducedAxes(graph, node);
    if (own && reduced && *own != *reduced) return fail(node, "operations of a group along the same axes");
    if (own) reduced = own;
    if (const std::vector<uint32_t>& wide = WidestOf(graph, node); Elements(wide) > Elements(dims))
      dims = wide;
  }
  // Axes are counted from the last one: what is reduced may have more, of one element, than the widest.
  const size_t rank = reduced ? reduced->from_first : 1;
  if (dims.size() < rank) dims.insert(dims.begin(), rank - dims.size(), 1);
  for (const IterationSpace& space : SpacesOf(dims, reduced))
    if (std::ranges::all_of(nodes, [&](int node) { return FitsRows(graph, node, space); })) return space;
  return fail(nodes.front(), "shapes that are repeated along neighbouring axes, as yet");
}

const std::vector<uint32_t>& WidestOf(const Graph& graph, int node) {
  int widest = node;
  if (graph.at(node).op == Operation::kSlice) return graph.at(node).type.dims;
  for (int input : graph.at(node).inputs)
    if (graph.at(input).type.elements() > graph.at(widest).type.elements()) widest = input;
  return graph.at(widest).type.dims;
}

bool FitsRows(const Graph& graph, int node, const IterationSpace& space) {
  const auto strides = [&](int value) {
    return graph.at(value).op == Operation::kNumber || StridesIn(space, graph.at(value).type).has_value();
  };
  const std::vector<int>& inputs = graph.at(node).inputs;
  if (graph.at(node).op == Operation::kSlice)
    return strides(node) && StridesIn(space, ViewOfSlice(graph, node).type).has_value();
  return strides(node) && std::ranges::all_of(inputs, strides) && ReducesAll(graph, node, space);
}

}  // namespace kirsch
