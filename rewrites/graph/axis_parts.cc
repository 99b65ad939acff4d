// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/axis_parts.h"

#include <algorithm>
#include <utility>

namespace kirsch {
namespace {

// The taps of the window for index `to` of the result that meet elements: from the first, to behind the last.
std::pair<int64_t, int64_t> TapsInside(const AlongAxis& along, int64_t axis_size, int64_t to) {
  const int64_t begin = to * along.steps.stride - along.steps.before, apart = along.steps.dilation;
  const auto below = [&](int64_t index) {  // how many taps are before the index
    return index <= begin ? 0 : std::min<int64_t>((index - begin + apart - 1) / apart, along.size);
  };
  return {below(0), below(axis_size)};
}

std::vector<AxisPart> PartsOfWindows(const AlongAxis& along, int64_t axis_size, int64_t count) {
  std::vector<AxisPart> parts;
  std::pair<int64_t, int64_t> last;
  for (int64_t to = 0; to < count; ++to) {
    const std::pair<int64_t, int64_t> taps = TapsInside(along, axis_size, to);
    // Windows without any element are all alike.
    const bool empty = taps.first == taps.second;
    if (to > 0 && (taps == last || (empty && parts.back().sources.empty()))) {
      ++parts.back().count;
      continue;
    }
    last = taps;
    AxisPart& part = parts.emplace_back(AxisPart{to, 1, along.steps.stride, {}});
    for (int64_t tap = taps.first; tap < taps.second; ++tap)
      part.sources.push_back({0, to * along.steps.stride - along.steps.before + tap * along.steps.dilation});
  }
  return parts;
}

}  // namespace

std::vector<AxisPart> PartsAlongAxis(const Graph& graph, const GraphNode& node) {
  const size_t axis = node.axes.front();
  const int64_t size = graph.InputType(node, 0).dims[axis], count = node.type.dims[axis];
  const AxisOptions& steps = node.along.steps;
  std::vector<AxisPart> parts;
  if (IsWindow(node.op)) return PartsOfWindows(node.along, size, count);
  // Of a running sum, the first element is a copy; each other one is added to the sum before it.
  if (node.op == Operation::kCumsum) {
    parts = {{0, 1, 1, {{0, 0}}}, {1, count - 1, 1, {{0, 1}, {1, 0}}}};
    parts.resize(count == 1 ? 1 : 2);
    return parts;
  }
  if (node.op == Operation::kSlice) return {{0, count, steps.stride, {{0, node.along.from}}}};
  if (node.op == Operation::kConcat) return {{0, size, 1, {{0, 0}}}, {size, count - size, 1, {{1, 0}}}};
  if (steps.before > 0) parts.push_back({0, steps.before, 1, {}});
  parts.push_back({steps.before, size, 1, {{0, 0}}});
  if (steps.after > 0) parts.push_back({steps.before + size, steps.after, 1, {}});
  return parts;
}

}  // namespace kirsch
