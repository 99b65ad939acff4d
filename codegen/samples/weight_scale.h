// SPDX-License-Identifier: Apache-2.0
// Says how small the weights of a graph should be that is verified or measured, so that values neither grow
// nor shrink from layer to layer. With weights of any size, the scores of an attention behind a few layers
// are so large that no error can be told. Self-tests of headers have values of their own (graph_samples.h).
#ifndef KIRSCH_CODEGEN_SAMPLES_WEIGHT_SCALE_H_
#define KIRSCH_CODEGEN_SAMPLES_WEIGHT_SCALE_H_

#include "spec/graph/graph.h"

namespace kirsch {

// The factor for the elements of a parameter, where others are between -1 and 1: a power of two, about
// 1 / sqrt(k) for what is the rhs of a matmul with sums of k products, transposed or not, and for a
// convolution's filters; of several, the longest sums count. 1 for all other parameters, and for those of
// integers, of 8 bits and of blocks.
double WeightScale(const Graph& graph, int parameter);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_SAMPLES_WEIGHT_SCALE_H_
