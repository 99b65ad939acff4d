// SPDX-License-Identifier: Apache-2.0
// Computes the region of memory that a tile of a window view touches, each element counted once. Pure
// geometry.
//
// Rows of such a view overlap, so lines by row would count most lines several times.
#ifndef KIRSCH_SPEC_WINDOW_FOOTPRINT_H_
#define KIRSCH_SPEC_WINDOW_FOOTPRINT_H_

#include <cstdint>

#include "spec/spec.h"

namespace kirsch {

// A region as stretches of consecutive elements (gaps of less than a line included), regularly spaced.
struct WindowFootprint {
  int64_t stretches = 1;
  int64_t length = 1;   // elements of a stretch
  int64_t walks = 1;    // rows (columns of a column-major view) that are read side by side
  int64_t spanned = 1;  // elements from the first to the end of the last of the stretches of a group
  int64_t groups = 1;   // of stretches that are less than a page apart
  int64_t grain = 0;    // each stretch begins a multiple of so many elements behind the first
};

// The region of the operand's tile. `line` and `page` are in elements.
WindowFootprint WindowFootprintOf(const Spec& spec, int operand, int64_t line, int64_t page);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_WINDOW_FOOTPRINT_H_
