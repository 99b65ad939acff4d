// SPDX-License-Identifier: Apache-2.0
// Brings a graph into the one form that the search is asked about, so that texts that mean the same
// computation share an answer. Names, the order of statements and repeated expressions make no difference to
// it.
//
//   before:  a = x + y          after:  a = x + y
//            b = x + y                  return a * a
//            c = exp(x)
//            return a * b
//
//   before:  reduce_sum over axes 0 and 2 of three
//   after:   reduce_sum over axis 2, then reduce_sum over axis 0 of that
#ifndef KIRSCH_REWRITES_GRAPH_CANONICAL_GRAPH_H_
#define KIRSCH_REWRITES_GRAPH_CANONICAL_GRAPH_H_

#include "spec/graph/graph.h"

namespace kirsch {

// Returns the same kernel, with the same parameters. A graph that is in this form already comes back as it
// is:
//
// - Every value is computed once, and only those that the results need. Results that are the same value are
//   copies of it.
// - All reductions are along axes next to each other. Of others the last axes come first, which leaves the
//   shortest rows. A mean becomes a mean of means, which is the same, since all are of as many elements.
// - An operation stands behind those that it reads. A contraction comes last among them, with the elementwise
//   operations on its result: nothing then stands between a contraction and its epilogue.
// - An operation that cannot read or write a tensor's strides gets a copy (materialize.h).
Graph CanonicalGraph(const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_CANONICAL_GRAPH_H_
