// SPDX-License-Identifier: Apache-2.0
// What row programs of a group run over.
#ifndef KIRSCH_REWRITES_GRAPH_ROW_SPACE_H_
#define KIRSCH_REWRITES_GRAPH_ROW_SPACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rewrites/analysis/iteration.h"
#include "spec/graph/graph.h"

namespace kirsch {

// Columns, or rows if columns are behind them, are the axes that are reduced; if none are, columns are as
// many axes as all inputs allow: all axes, if rows would be few. Nothing if there is no space for all
// `nodes`, which are at least one: then `error` says what was expected, at `error_node`.
std::optional<IterationSpace> FindRowSpace(const Graph& graph, const std::vector<int>& nodes,
                                           std::string* error, int* error_node);

// The shape that an operation goes over: of what it takes and makes, that of the most elements.
const std::vector<uint32_t>& WidestOf(const Graph& graph, int node);

// Can the operation be a part of a row program in this space?
bool FitsRows(const Graph& graph, int node, const IterationSpace& space);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ROW_SPACE_H_
