// SPDX-License-Identifier: Apache-2.0
// The one form of a graph that the search is asked about: names, the order of statements and what is written
// twice make no difference to it.
#ifndef KIRSCH_REWRITES_GRAPH_CANONICAL_GRAPH_H_
#define KIRSCH_REWRITES_GRAPH_CANONICAL_GRAPH_H_

#include "spec/graph/graph.h"

namespace kirsch {

// The same kernel, with the same parameters; of a graph in this form, the same graph:
//
// - Every value is computed once, and only those that the result needs.
// - All reductions are along axes next to each other: of others the last axes come first, as the shortest
//   rows are left then. A mean of means of as many elements each is the mean of them all.
// - An operation stands behind what it reads. What contractions begin, elementwise operations on their
//   results, comes last, so that nothing stands between a contraction and what may become its epilogue.
// - Where an operation can't go by a tensor as it lies, it goes by a copy (materialize.h).
Graph CanonicalGraph(const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_CANONICAL_GRAPH_H_
