// SPDX-License-Identifier: Apache-2.0
// Inserts broadcasts where an elementwise operation repeats its operands along axes that no rows and columns
// have, so that all rewrites may rely on such.
//
//   before -> after, for x: f32[2,36,4,8]:
//     sub(x, m), m: f32[2,1,4,1]  ->  b = broadcast(m, [2,36,4,1]);  sub(x, b)
#ifndef KIRSCH_REWRITES_GRAPH_MATERIALIZE_REPEATED_H_
#define KIRSCH_REWRITES_GRAPH_MATERIALIZE_REPEATED_H_

#include "spec/graph/graph.h"

namespace kirsch {

// Returns the same kernel. No operand is repeated further than it has to be, as far as that is known of it
// alone: not along the axes behind its last one of several elements.
Graph MaterializeRepeated(const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_MATERIALIZE_REPEATED_H_
