// SPDX-License-Identifier: Apache-2.0
// Tells casts that are copies of tensors with strides, or to them. Their rewrite, `gather`, reads and writes
// any strides, which no other does.
#ifndef KIRSCH_REWRITES_GRAPH_STRIDED_COPY_H_
#define KIRSCH_REWRITES_GRAPH_STRIDED_COPY_H_

#include "rewrites/graph/graph_rewrite.h"

namespace kirsch {

// True if the node is a cast to the value's own type, or of a type that no kernel writes, and one of both
// tensors has strides.
bool IsStridedCopy(const Graph& graph, int node);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_STRIDED_COPY_H_
