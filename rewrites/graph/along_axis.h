// SPDX-License-Identifier: Apache-2.0
// Computes operations along an axis: slices, concatenations, pads, windows.
#ifndef KIRSCH_REWRITES_GRAPH_ALONG_AXIS_H_
#define KIRSCH_REWRITES_GRAPH_ALONG_AXIS_H_

#include "spec/graph/graph.h"

namespace kirsch {

// True if the rewrite `axis` can read and write the tensors of such an operation as they lie: the axes before
// the operation's follow each other, and so do those behind it.
bool LieAlongAxis(const Graph& graph, int node);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ALONG_AXIS_H_
