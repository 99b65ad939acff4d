// SPDX-License-Identifier: Apache-2.0
// Finds the boxes that a point may be in, without looking at each box. It is a bitmap index, as databases
// have them.
#ifndef KIRSCH_MEMO_BOX_INDEX_H_
#define KIRSCH_MEMO_BOX_INDEX_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "memo/box.h"

namespace kirsch {

// Has for each coordinate and each of its values a bitmap of the boxes that contain this value. The boxes
// that may contain a point are the conjunction of one bitmap for each coordinate. If a coordinate has more
// than kMaxRows values, neighbouring values share a bitmap, so some boxes found do not contain the point. It
// takes at most kMaxRows * coordinates / 8 bytes a box.
//
// Example: boxes 0: [1..2], 1: [2..3]. The bitmaps are 01 for value 1, 11 for value 2, 10 for value 3.
class BoxIndex {
 public:
  BoxIndex() = default;
  // Indexes the first `coordinates` coordinates of the boxes. The caller keeps the boxes themselves, in this
  // order.
  BoxIndex(const std::vector<Box>& boxes, size_t coordinates);

  // Calls use(i) for each box i that contains the point, and perhaps for some that do not, in ascending
  // order.
  template <typename Point, typename Use>
  void ForEachCandidate(const Point& point, Use use) const {
    std::array<const uint64_t*, kMaxCoordinates> rows = {};
    // Outside of all boxes along any coordinate, there is nothing to find.
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (point[i] < columns_[i].low || point[i] > columns_[i].high) return;
      rows[i] = Row(columns_[i], point[i]);
    }
    // 64 boxes at a time; the last word has fewer.
    for (size_t word = 0; word < words_; ++word) {
      const size_t left = boxes_ - 64 * word;
      uint64_t boxes = ~uint64_t{0} >> (left < 64 ? 64 - left : 0);
      for (size_t i = 0; i < columns_.size(); ++i) boxes &= rows[i][word];
      for (; boxes != 0; boxes &= boxes - 1) use(64 * word + static_cast<size_t>(std::countr_zero(boxes)));
    }
  }

  // The rows of a coordinate, one after the other in bits_, `words_` words each.
 private:
  static constexpr uint32_t kMaxRows = 64;
  struct Column {
    uint32_t low, high;  // of all boxes
    int shift;           // 2^shift values share a bitmap
    size_t first;        // where the bitmap of `low` begins
  };
  const uint64_t* Row(const Column& column, uint32_t value) const {
    return &bits_[column.first + ((value - column.low) >> column.shift) * words_];
  }
  void AddColumn(const std::vector<Box>& boxes, size_t coordinate);

  size_t boxes_ = 0;
  size_t words_ = 0;  // of a bitmap
  std::vector<Column> columns_;
  std::vector<uint64_t> bits_;
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_BOX_INDEX_H_
