// SPDX-License-Identifier: Apache-2.0
// Copies of parameters, and of the result, where an operation can't go by them as they lie.
#ifndef KIRSCH_REWRITES_GRAPH_MATERIALIZE_H_
#define KIRSCH_REWRITES_GRAPH_MATERIALIZE_H_

#include "spec/graph/graph.h"

namespace kirsch {

// The same kernel; what is copied is cast to its own type, or of f8, which no kernel writes, to bf16. Such
// casts of parameters stand before all other operations, so that none stands between a contraction and what
// may become its epilogue.
Graph MaterializeStrided(const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_MATERIALIZE_H_
