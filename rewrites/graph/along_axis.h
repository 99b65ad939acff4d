// SPDX-License-Identifier: Apache-2.0
// Computes operations along an axis: slices, concatenations, pads, windows.
#ifndef KIRSCH_REWRITES_GRAPH_ALONG_AXIS_H_
#define KIRSCH_REWRITES_GRAPH_ALONG_AXIS_H_

#include <cstdint>

#include "spec/graph/graph.h"

namespace kirsch {

// True if the rewrite `axis` can read and write the tensors of such an operation as they lie: the axes before
// the operation's follow each other, and so do those behind it.
bool LieAlongAxis(const Graph& graph, int node);

// How the elements of a slice lie in its input's memory: a type with strides, and where the first one is.
// Operations by rows that read the slice may read them there.
struct SliceView {
  TensorType type;
  int64_t offset = 0;
};
SliceView ViewOfSlice(const Graph& graph, int slice);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ALONG_AXIS_H_
