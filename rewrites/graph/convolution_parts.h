// SPDX-License-Identifier: Apache-2.0
// A padded depthwise convolution -> one for each part of the output whose windows meet the image with the
// same of their taps, on the image itself.
#ifndef KIRSCH_REWRITES_GRAPH_CONVOLUTION_PARTS_H_
#define KIRSCH_REWRITES_GRAPH_CONVOLUTION_PARTS_H_

#include <cstdint>
#include <vector>

#include "rewrites/graph/convolution_stages.h"
#include "rewrites/graph/graph_rewrite.h"

namespace kirsch {

// Along one axis.
struct PartAlong {
  int64_t out = 0, count = 0;  // pixels of the output
  int64_t tap = 0, taps = 0;   // of the kernel
  int64_t in = 0;              // the first pixel of the image that they meet
};

struct ConvolutionPart {
  PartAlong rows, columns;
  bool one_by_one = false;  // its rows are to be taken one by one, as they lie apart
};

// All of them; none if there are too many of them, or windows that don't meet the image at all.
std::vector<ConvolutionPart> PartsOf(const ConvolutionNode& node);

// The convolution of the part, or of one of its rows. Depthwise ones.
ConvShape ShapeOf(const ConvolutionNode& node, const ConvolutionPart& part);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_CONVOLUTION_PARTS_H_
