// SPDX-License-Identifier: Apache-2.0
// Divides the output of a padded depthwise convolution into parts. Within a part, all windows meet the image
// with the same of their taps. So each part is a convolution without padding, on the image itself: there is
// no copy.
//
//   before -> after, for a 3x3 kernel, padding of 1, an output of 8 rows and 8 columns; taps of each part:
//
//                    column 0   columns 1-6   column 7
//     row 0            2x2          2x3          2x2
//     rows 1-6         3x2          3x3          3x2
//     row 7            2x2          2x3          2x2
#ifndef KIRSCH_REWRITES_GRAPH_CONVOLUTION_PARTS_H_
#define KIRSCH_REWRITES_GRAPH_CONVOLUTION_PARTS_H_

#include <cstdint>
#include <vector>

#include "rewrites/graph/convolution_stages.h"

namespace kirsch {

// A part along one axis, all in pixels. The windows of its `count` pixels meet the taps [tap, tap + taps).
struct PartAlong {
  int64_t out = 0, count = 0;  // pixels of the output
  int64_t tap = 0, taps = 0;   // of the kernel
  int64_t in = 0;              // the first pixel of the image that they meet
};

// A part of the output: each part of the rows with each part of the columns.
struct ConvolutionPart {
  PartAlong rows, columns;
  bool one_by_one = false;  // its rows are to be taken one by one, as they lie apart
};

// Returns all parts, row by row. Returns none if there are more than five along an axis, if a window doesn't
// meet the image at all, or if filters and image could not be indexed alike.
std::vector<ConvolutionPart> PartsOf(const ConvolutionNode& node);

// Returns the convolution of the part, or of one of its rows if they are taken one by one. The node has
// groups of lanes.
ConvShape ShapeOf(const ConvolutionNode& node, const ConvolutionPart& part);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_CONVOLUTION_PARTS_H_
