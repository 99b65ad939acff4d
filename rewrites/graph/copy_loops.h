// SPDX-License-Identifier: Apache-2.0
// Finds the loops of a copy: of a permutation, a reshape, a broadcast, a copy with strides, or several of
// these, one after the other, of which only the last is stored.
//
//   reshape(permute(reshape(x, [6,2,2,4]), [1,0,2,3]), [12,8]), x: f32[6,16]
//     =>  sizes 2, 6, 8; from 8, 16, 1; to 48, 8, 1: 2 x 6 rows of 8 elements
#ifndef KIRSCH_REWRITES_GRAPH_COPY_LOOPS_H_
#define KIRSCH_REWRITES_GRAPH_COPY_LOOPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "spec/graph/graph.h"

namespace kirsch {

// A loop over elements that are so far apart in the input and in the result. From 0: one element, repeated.
struct CopyLoop {
  int64_t size = 1, from = 0, to = 0;

  // True if the loop and one inside of it are one loop.
  bool Follows(const CopyLoop& inner) const {
    return from == inner.from * inner.size && to == inner.to * inner.size;
  }
};

// Returns the loops in the order of the result's axes, as few as possible. Nothing if `nodes` are no such
// copies, each of the one before, or if an axis with strides is split otherwise than as it lies.
std::optional<std::vector<CopyLoop>> FindCopyLoops(const Graph& graph, const std::vector<int>& nodes);

// True if the node is a cast to the value's own type, or of a type that no kernel writes, and one of both
// tensors has strides.
bool IsStridedCopy(const Graph& graph, int node);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_COPY_LOOPS_H_
