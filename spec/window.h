// SPDX-License-Identifier: Apache-2.0
// Window views: a matrix that overlaps itself in memory, as a convolution sees its input.
#ifndef KIRSCH_SPEC_WINDOW_H_
#define KIRSCH_SPEC_WINDOW_H_

#include <array>
#include <cstdint>
#include <limits>

#include "spec/layout.h"

namespace kirsch {

struct Digit {
  uint32_t count = 0;   // of the last digit 0: it has no bound
  uint32_t stride = 0;  // elements
  friend bool operator==(const Digit&, const Digit&) = default;
};

inline constexpr int kMaxDigits = 4;

// How the indices along an axis become offsets: an index is a number of up to four digits, the innermost
// first, and lies at the sum of each times its stride. (Of the rows of a convolution's input: the column of
// the output, its row, its slice if images have a depth, the image.)
struct DigitAxis {
  int digits = 0;
  std::array<Digit, kMaxDigits> digit = {};

  static constexpr DigitAxis Strided(uint32_t stride) { return {1, {{{0, stride}}}}; }

  int64_t stride(int level) const { return digit[static_cast<size_t>(level)].stride; }
  // Indices from one step of digit `level` to the next.
  int64_t unit(int level) const {
    int64_t unit = 1;
    for (int i = 0; i < level; ++i) unit *= digit[static_cast<size_t>(i)].count;
    return unit;
  }
  int64_t At(int64_t index) const {
    int64_t at = 0;
    for (int i = 0; i + 1 < digits; ++i) {
      const int64_t count = digit[static_cast<size_t>(i)].count;
      at += index % count * stride(i);
      index /= count;
    }
    return at + index * stride(digits - 1);
  }
  // Indices from `index` on whose elements are stride(0) apart.
  int64_t RunLength(int64_t index) const {
    return digits == 1 ? std::numeric_limits<int64_t>::max() : digit[0].count - index % digit[0].count;
  }
  // The digits that the indices below `size` have.
  int DigitsOf(int64_t size) const {
    int level = 1;
    while (level < digits && unit(level) < size) ++level;
    return level;
  }
  // The same axis for indices that have `count` digits.
  DigitAxis Truncated(int count) const {
    DigitAxis axis;
    axis.digits = count;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) axis.digit[i] = digit[i];
    axis.digit[static_cast<size_t>(count - 1)].count = 0;
    return axis;
  }
  // True if the offsets in each of the consecutive tiles of `tile` of the indices below `size` are those of
  // the first tile, moved: whole runs of a digit, or as many as divide one.
  bool MayTile(int64_t size, int64_t tile) const {
    const int own = DigitsOf(size), within = DigitsOf(tile);
    for (int level = 1; level < own; ++level)
      if (level < within ? tile % unit(level) != 0 : unit(level) % tile != 0) return false;
    return true;
  }

  friend bool operator==(const DigitAxis&, const DigitAxis&) = default;
};

// Which operand is a window view, and its axes: of a matmul's, rows, then columns.
struct Window {
  int operand = -1;  // -1: none is
  std::array<DigitAxis, 2> axes = {};
  // Of a depthwise convolution: how the rows of its filters lie, where they are not at one distance (they are
  // some columns of a larger kernel's); else without digits.
  DigitAxis filters = {};

  bool empty() const { return operand < 0; }
  const DigitAxis& ReductionAxis() const { return axes[operand == 0 ? 1 : 0]; }
  // True if the view is taken for a matrix as any other: rows contiguous, consecutive ones at one distance
  // (which may be less than their length); of lhs, which is read element by element, columns will do.
  bool IsStrided() const { return axes[0].digits == 1 && axes[1].digits == 1 && HasStridedParts(); }
  // True if that is so of a part whose indices have one digit each.
  bool HasStridedParts() const { return axes[1].stride(0) == 1 || (operand == 0 && axes[0].stride(0) == 1); }
  // How it lies then.
  Layout StridedLayout() const {
    const bool row = axes[1].stride(0) == 1;
    return {LayoutKind::kStrided, row ? Order::kRow : Order::kCol, 0, 1, axes[row ? 0 : 1].digit[0].stride};
  }
  friend bool operator==(const Window&, const Window&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_WINDOW_H_
