// SPDX-License-Identifier: Apache-2.0
// Splits what an operation along an axis makes, but for elements at given indices, into parts whose elements
// are made alike: from the same number of elements of the inputs, each a fixed distance along the axis away.
// So one mechanism serves slices, concatenations, pads and windows.
//
//   pad(x, axis=1, before=2), x: f32[4,8]            indices 0 and 1: a number; from 2 on: x from 0 on
//   concat(x, y, axis=1), x: f32[4,8]                indices 0 to 7: x from 0 on; from 8 on: y from 0 on
//   window_max(x, axis=0, size=3, stride=2, before=1), x: f32[7,4]
//       index 0: the larger of x from 0 and from 1 on; from 1 on: the largest of x from 1, 2 and 3 on, step
//       2; the last: that of x from 5 and 6 on
#ifndef KIRSCH_REWRITES_GRAPH_AXIS_PARTS_H_
#define KIRSCH_REWRITES_GRAPH_AXIS_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/graph/graph.h"

namespace kirsch {

struct AxisSource {
  size_t input = 0;  // of the operation; as many as it has inputs: what it has made so far
  int64_t from = 0;  // an index of its axis
};

// Index `to + i` of the result's axis, for each `i` below `count`, is made of index `from + i * step` of each
// source. Without sources it is NumberAround.
struct AxisPart {
  int64_t to = 0, count = 0, step = 1;
  std::vector<AxisSource> sources;
};

// In the order of the axis, without gaps.
std::vector<AxisPart> PartsAlongAxis(const Graph& graph, const GraphNode& node);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_AXIS_PARTS_H_
