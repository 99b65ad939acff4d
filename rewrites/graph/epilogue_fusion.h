// SPDX-License-Identifier: Apache-2.0
// Elementwise operations on the result of a contraction -> its epilogue.
#ifndef KIRSCH_REWRITES_GRAPH_EPILOGUE_FUSION_H_
#define KIRSCH_REWRITES_GRAPH_EPILOGUE_FUSION_H_

#include <cstddef>
#include <vector>

#include "rewrites/analysis/fusion_group.h"
#include "rewrites/analysis/iteration.h"
#include "spec/epilogue.h"

namespace kirsch {

struct FusedEpilogue {
  Epilogue epilogue;
  std::vector<int> operands;  // nodes, as the epilogue's
  int result = -1;            // the node that is stored
  size_t taken = 0;           // operations after the contraction
};

// As many of the operations after the one at `place` as its epilogue can do. `space`: that of its result.
// `batched`: the batch is the spec's own. `apart`: rows of the result, and of what else the group makes like
// it, are further apart than their types say.
FusedEpilogue FuseEpilogue(const FusionGroup& group, size_t place, const IterationSpace& space, bool batched,
                           bool apart = false);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_EPILOGUE_FUSION_H_
