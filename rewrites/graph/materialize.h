// SPDX-License-Identifier: Apache-2.0
// Inserts copies of parameters or of results, where an operation cannot read or write their strides. All
// rewrites may then rely on strides that they can handle. A value that is a result with strides and is read
// by other operations is dense, and the result a copy of it.
//
//   before -> after:
//     softmax(x), x: f32[4,8,2,64] strides=[64,256,2048,1]  ->  c = cast(x, f32), dense;  softmax(c)
#ifndef KIRSCH_REWRITES_GRAPH_MATERIALIZE_H_
#define KIRSCH_REWRITES_GRAPH_MATERIALIZE_H_

#include "spec/graph/graph.h"

namespace kirsch {

// Returns the same kernel. A copy is a cast to the tensor's own type; of f8, which no kernel writes, to bf16.
// Casts of parameters stand before all other operations: none may stand between a contraction and its
// epilogue.
Graph MaterializeStrided(const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_MATERIALIZE_H_
