// SPDX-License-Identifier: Apache-2.0
// The copy of a tensor that lies in any way, or to one.
#ifndef KIRSCH_REWRITES_GRAPH_STRIDED_COPY_H_
#define KIRSCH_REWRITES_GRAPH_STRIDED_COPY_H_

#include "rewrites/graph/graph_rewrite.h"

namespace kirsch {

// Is it a cast to the value's own type, or of one that no kernel writes, of or to a tensor with strides? Such
// a one reads and writes in any way.
bool IsStridedCopy(const Graph& graph, int node);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_STRIDED_COPY_H_
