// SPDX-License-Identifier: Apache-2.0
// Computes the region of memory that a tile of a window view touches, each element counted once. Pure
// geometry.
//
// Rows of such a view overlap, so lines by row would count most lines several times.
#ifndef KIRSCH_SPEC_WINDOW_FOOTPRINT_H_
#define KIRSCH_SPEC_WINDOW_FOOTPRINT_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "spec/spec.h"

namespace kirsch {

// `count` steps of `stride` elements.
struct Steps {
  int64_t stride, count;
  bool outer;  // along the axis that is not the contiguous one
};
using WindowSteps = absl::InlinedVector<Steps, 2 * kMaxDigits + 1>;

// A region as stretches of consecutive elements (gaps of less than a line included), regularly spaced.
struct WindowFootprint {
  int64_t stretches = 1;
  int64_t length = 1;   // elements of a stretch
  int64_t walks = 1;    // rows (columns of a column-major view) that are read side by side
  int64_t spanned = 1;  // elements from the first to the end of the last of the stretches of a group
  int64_t groups = 1;   // of stretches that are less than a page apart
  WindowSteps apart;    // by which stretches lie apart, as far as steps differ
};

// The region of the operand's tile. `line` and `page` are in elements.
WindowFootprint WindowFootprintOf(const Spec& spec, int operand, int64_t line, int64_t page);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_WINDOW_FOOTPRINT_H_
