// SPDX-License-Identifier: Apache-2.0
// Makes the epilogue of a contraction from elementwise operations on its result. The operations are then done
// on the sums in registers, instead of being stored and read again.
//
//   before -> after:
//     y = matmul(x, w);  return relu(y + b)      b: f32[n]
//     a matmul with the epilogue "add:n,relu", whose operand is b; result: the relu; taken: 2
#ifndef KIRSCH_REWRITES_GRAPH_EPILOGUE_FUSION_H_
#define KIRSCH_REWRITES_GRAPH_EPILOGUE_FUSION_H_

#include <cstddef>
#include <vector>

#include "rewrites/analysis/fusion_group.h"
#include "rewrites/analysis/iteration.h"
#include "spec/epilogue.h"

namespace kirsch {

// An epilogue, and what it stands for in the graph.
struct FusedEpilogue {
  Epilogue epilogue;
  std::vector<int> operands;  // nodes, as the epilogue's
  int result = -1;            // the node that is stored
  size_t taken = 0;           // operations after the contraction
};

// Takes as many of the operations after the contraction at `place` as its epilogue can do; perhaps none.
// `space` is that of its result. `batched`: the batch is the spec's own, so operands need as many matrices as
// the result. `apart`: rows of the result, and of other values like it that the group makes, are further
// apart than their types say.
FusedEpilogue FuseEpilogue(const FusionGroup& group, size_t place, const IterationSpace& space, bool batched,
                           bool apart = false);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_EPILOGUE_FUSION_H_
