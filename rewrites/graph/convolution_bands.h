// SPDX-License-Identifier: Apache-2.0
// A padded convolution -> the same for a few rows of the output at a time, with a copy of the rows of the
// image that they need.
#ifndef KIRSCH_REWRITES_GRAPH_CONVOLUTION_BANDS_H_
#define KIRSCH_REWRITES_GRAPH_CONVOLUTION_BANDS_H_

#include <cstdint>
#include <vector>

#include "rewrites/graph/convolution_stages.h"
#include "rewrites/graph/graph_rewrite.h"

namespace kirsch {

// Neighbouring bands of the output with the same edges.
struct Bands {
  int64_t out = 0, in = 0;  // the first one's first row, and that of the image that it needs
  int64_t rows = 0;         // of all of them
  int64_t tile = 0;         // of each
  int64_t before = 0, inside = 0, after = 0;  // of each one's copy: rows of zeros, of the image, of zeros
};

// Bands of `tile` rows of the output, the last one perhaps of fewer. Copies are of what a multiple of so many
// rows needs.
std::vector<Bands> BandsOf(const ConvolutionNode& node, int64_t tile, int64_t multiple = 1);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_CONVOLUTION_BANDS_H_
