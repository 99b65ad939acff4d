// SPDX-License-Identifier: Apache-2.0
// Divides the rows of a padded convolution's output into bands. A band needs a copy of a few rows of the
// image only, which stays in a cache; a copy of the whole padded image may not.
//
//   before -> after, for 8 rows of the output, a 3x3 kernel, padding of 1, bands of 2 rows:
//     conv(pad(image))  ->  for the rows 0-1:      copy a row of zeros, the rows 0-2; conv of these 4 rows
//                           for 2-3 and for 4-5:   copy 4 rows of the image;          conv
//                           for the rows 6-7:      copy the rows 5-7, a row of zeros; conv
#ifndef KIRSCH_REWRITES_GRAPH_CONVOLUTION_BANDS_H_
#define KIRSCH_REWRITES_GRAPH_CONVOLUTION_BANDS_H_

#include <cstdint>
#include <vector>

#include "rewrites/graph/convolution_stages.h"

namespace kirsch {

// Neighbouring bands whose copies have as many rows of zeros and of the image. One loop nest computes all of
// them. In the example above there are three: {out 0, in 0, rows 2}, {out 2, in 1, rows 4} and {out 6, in 5,
// rows 2}.
struct Bands {
  int64_t out = 0, in = 0;  // the first one's first row, and that of the image that it needs
  int64_t rows = 0;         // of all of them
  int64_t tile = 0;         // of each
  int64_t before = 0, inside = 0, after = 0;  // of each one's copy: rows of zeros, of the image, of zeros
};

// Divides the output into bands of `tile` rows, the last one perhaps of fewer. A copy has the rows that the
// next multiple of `multiple` output rows needs: Winograd's squares (winograd.cc) are computed whole.
std::vector<Bands> BandsOf(const ConvolutionNode& node, int64_t tile, int64_t multiple = 1);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_CONVOLUTION_BANDS_H_
