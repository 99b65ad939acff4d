// SPDX-License-Identifier: Apache-2.0
// Finds the rows and columns that row programs of a group run over. All operations of a row program share one
// space; a group for which there is none is refused.
//
//   softmax(x + b), x: f32[2,8,64], b: f32[64]   columns are the last axis, which is reduced: 16 rows of 64
//   x * y, both f32[100,64]                      nothing is reduced: 100 rows of 64
//   x * y, both f32[4,1024]                      few rows, and all lies alike: one row of 4096, `flat`
#ifndef KIRSCH_REWRITES_GRAPH_ROW_SPACE_H_
#define KIRSCH_REWRITES_GRAPH_ROW_SPACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rewrites/analysis/iteration.h"
#include "spec/graph/graph.h"

namespace kirsch {

// Returns a space that fits all `nodes`, which are at least one. The axes that are reduced become columns; or
// rows, if others are behind them. If none are reduced, columns are as many axes as all inputs allow. Returns
// nothing if no space fits: then `error` says what was expected, at `error_node`.
std::optional<IterationSpace> FindRowSpace(const Graph& graph, const std::vector<int>& nodes,
                                           std::string* error, int* error_node);

// Returns the shape that an operation goes over: of its inputs and its result, that of the most elements. A
// slice goes over its result.
const std::vector<uint32_t>& WidestOf(const Graph& graph, int node);

// True if the operation can be a part of a row program in this space: three strides say how each of its
// tensors lies, and it reduces no axis that is repeated.
bool FitsRows(const Graph& graph, int node, const IterationSpace& space);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ROW_SPACE_H_
