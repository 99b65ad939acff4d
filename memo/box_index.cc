// SPDX-License-Identifier: Apache-2.0
#include "memo/box_index.h"

#include <algorithm>

namespace kirsch {

BoxIndex::BoxIndex(const std::vector<Box>& boxes, size_t coordinates)
    : boxes_(boxes.size()), words_((boxes.size() + 63) / 64) {
  if (boxes.empty()) return;
  for (size_t i = 0; i < coordinates; ++i) AddColumn(boxes, i);
}

// Adds a coordinate: first the range of its values, then how many values share a bitmap, then the bits.
void BoxIndex::AddColumn(const std::vector<Box>& boxes, size_t coordinate) {
  Column column{boxes[0].low[coordinate], 0, 0, bits_.size()};
  for (const Box& box : boxes) {
    column.low = std::min(column.low, box.low[coordinate]);
    column.high = std::max(column.high, box.high[coordinate]);
  }
  // At most kMaxRows bitmaps for each coordinate, so that the index stays small.
  while ((column.high - column.low) >> column.shift >= kMaxRows) ++column.shift;
  const auto row_of = [&](uint32_t value) { return size_t{(value - column.low) >> column.shift}; };
  bits_.resize(bits_.size() + (row_of(column.high) + 1) * words_);
  for (size_t i = 0; i < boxes.size(); ++i)
    for (size_t row = row_of(boxes[i].low[coordinate]); row <= row_of(boxes[i].high[coordinate]); ++row)
      bits_[column.first + row * words_ + i / 64] |= uint64_t{1} << (i % 64);
  columns_.push_back(column);
}

}  // namespace kirsch
