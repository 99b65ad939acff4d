// SPDX-License-Identifier: Apache-2.0
// Boxes: axis-parallel ranges of points that share a decision.
#ifndef KIRSCH_MEMO_BOX_H_
#define KIRSCH_MEMO_BOX_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/op.h"

namespace kirsch {

inline constexpr int kMaxCoordinates = kMaxDims + kMaxMatrices + 1;

struct Box {
  std::array<uint32_t, kMaxCoordinates> low = {}, high = {};  // both included; unused ones are 0
  uint32_t decision = 0;                                      // a number that its owner knows the meaning of

  int64_t volume(int coordinates) const {
    int64_t volume = 1;
    for (size_t i = 0; i < static_cast<size_t>(coordinates); ++i) volume *= int64_t{high[i]} - low[i] + 1;
    return volume;
  }

  // Of the first `coordinates` coordinates only.
  template <typename Point>
  bool Contains(const Point& point, size_t coordinates) const {
    for (size_t i = 0; i < coordinates; ++i)
      if (point[i] < low[i] || point[i] > high[i]) return false;
    return true;
  }
};

// Joins boxes that are next to each other, alike in all other coordinates and in their decision: first along
// the last coordinate, then along the one before it, and so on. `points`: boxes of one point each, in any
// order, no point twice. The result is ascending by LowCornerLess.
std::vector<Box> MergeBoxes(std::vector<Box> points, int coordinates);

// Compares low corners from the last coordinate to the first.
bool LowCornerLess(const Box& a, const Box& b);

}  // namespace kirsch

#endif  // KIRSCH_MEMO_BOX_H_
