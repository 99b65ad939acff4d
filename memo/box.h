// SPDX-License-Identifier: Apache-2.0
// Merges points that share a decision into boxes: axis-parallel ranges of points. Solutions change seldom
// from one point to the next, so a page of boxes is much smaller than a list of points.
#ifndef KIRSCH_MEMO_BOX_H_
#define KIRSCH_MEMO_BOX_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/op.h"

namespace kirsch {

// A point has at most a size for each dim, a contiguity for each matrix, and the lines (coordinates.h).
inline constexpr int kMaxCoordinates = kMaxDims + kMaxMatrices + 1;

// All points from the low to the high corner. Boxes of one page are disjoint.
struct Box {
  std::array<uint32_t, kMaxCoordinates> low = {}, high = {};  // both included; unused ones are 0
  uint32_t decision = 0;                                      // a number that its owner knows the meaning of

  // How many points the box has.
  int64_t volume(int coordinates) const {
    int64_t volume = 1;
    for (size_t i = 0; i < static_cast<size_t>(coordinates); ++i) volume *= int64_t{high[i]} - low[i] + 1;
    return volume;
  }

  // True if the point is in the box, as far as its first `coordinates` coordinates tell.
  template <typename Point>
  bool Contains(const Point& point, size_t coordinates) const {
    for (size_t i = 0; i < coordinates; ++i)
      if (point[i] < low[i] || point[i] > high[i]) return false;
    return true;
  }
};

// Joins boxes that are next to each other along one coordinate, and equal in all others and in their
// decision. It does so along the last coordinate first, then along the one before it, and so on. `points`:
// boxes of one point each, in any order, no point twice. The result depends on the set of points alone, and
// is ascending by LowCornerLess.
//
// Example: the points (1,5), (1,6), (2,5), (2,6) of one decision become [1,5..6] and [2,5..6], then
// [1..2,5..6].
std::vector<Box> MergeBoxes(std::vector<Box> points, int coordinates);

// Compares low corners from the last coordinate to the first. This is the order of a page's boxes in the
// file.
bool LowCornerLess(const Box& a, const Box& b);

}  // namespace kirsch

#endif  // KIRSCH_MEMO_BOX_H_
