// SPDX-License-Identifier: Apache-2.0
// Decides where plain loops keep the values of a graph: which are never stored, and which share memory.
//
//   y = relu(add(matmul(x, w), b)):   the matmul has memory; the add is inlined in the loops of relu, and the
//   result, which
//                                     is the output, has none in scratch
#ifndef KIRSCH_BENCH_LOOPS_LOOPS_STORAGE_H_
#define KIRSCH_BENCH_LOOPS_LOOPS_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/graph/graph.h"

namespace kirsch {

// The places of all nodes. Memory is used again by values that live later, and in place where a loop allows
// it.
struct LoopsStorage {
  std::vector<bool> inlined;    // an elementwise value that is computed within the loops of its only user
  std::vector<int64_t> offset;  // of a value that has loops of its own, into scratch; -1: not there
  size_t bytes = 0;             // of scratch
};

// True if the node has loops of its own: it is no parameter or number, no transpose (a view of its input),
// and not inlined.
bool HasLoops(const Graph& graph, const LoopsStorage& storage, int node);

// Plans the storage. `float_bytes`: of an f32 value, which is 8 in the reference.
LoopsStorage PlanStorage(const Graph& graph, size_t float_bytes);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_LOOPS_LOOPS_STORAGE_H_
