// SPDX-License-Identifier: Apache-2.0
#include "search/families/little_code.h"

#include <bit>

namespace kirsch {

void LeaveOutCode(const VaryingDims& varying, SymbolicScheduleOptions choice,
                  const std::function<bool(const SymbolicScheduleOptions&)>& keep,
                  const std::function<TileHeights()>& heights) {
  const auto attempt = [&](const SymbolicScheduleOptions& less) {
    if (!keep(less)) return;
    choice = less;
    if (varying.rows) choice.heights = heights();
  };
  // Narrower vectors for the last columns are code of their own.
  if (varying.columns) {
    SymbolicScheduleOptions whole = choice;
    whole.narrow_vectors = false;
    attempt(whole);
  }
  // Without a least tail, only what is left behind whole tiles has other heights.
  SymbolicScheduleOptions shared_out = choice;
  shared_out.min_tail_tiles = 0;
  attempt(shared_out);
  if (!varying.rows) return;
  choice.heights = heights();
  for (int height = std::bit_width(choice.heights) - 2; height > 0; --height) {
    SymbolicScheduleOptions less = choice;
    less.heights &= ~(TileHeights{1} << height);
    if (less.heights != choice.heights) attempt(less);
  }
}

}  // namespace kirsch
