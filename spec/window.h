// SPDX-License-Identifier: Apache-2.0
// Describes window views: matrices that overlap themselves in memory, as a convolution sees its input.
//
// An nhwc image of 8 x 8 pixels with 4 channels, seen by a 3x3 kernel, is a matrix of 36 rows (pixels of the
// output) and 36 columns (channel, column, row of the window). Its axes, printed as "6*4,32/12*1,32", are:
//
//   rows       6 columns of the output, 4 elements apart; its rows, 32 apart
//   columns    12 = 4 channels of 3 columns, 1 apart; rows of the window, 32 apart
//
// Element (7, 13) is at (1 * 4 + 1 * 32) + (1 * 1 + 1 * 32). Neighbouring rows of the matrix share most
// elements.
#ifndef KIRSCH_SPEC_WINDOW_H_
#define KIRSCH_SPEC_WINDOW_H_

#include <array>
#include <cstdint>
#include <limits>

#include "spec/layout.h"

namespace kirsch {

// One digit of an index: how many values it has, and how far apart they are.
struct Digit {
  uint32_t count = 0;   // of the last digit 0: it has no bound
  uint32_t stride = 0;  // elements
  friend bool operator==(const Digit&, const Digit&) = default;
};

inline constexpr int kMaxDigits = 4;

// Says how the indices along an axis become offsets. An index is a number of up to four digits, the innermost
// first. It lies at the sum of each digit times its stride. (Of the rows of a convolution's input: the column
// of the output, its row, its slice if images have a depth, the image.) A first digit of stride 0 is that of
// Window::LaneGroup.
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
  // The offset of an index, in elements.
  int64_t At(int64_t index) const {
    int64_t at = 0;
    for (int i = 0; i + 1 < digits; ++i) {
      const int64_t count = digit[static_cast<size_t>(i)].count;
      at += index % count * stride(i);
      index /= count;
    }
    return at + index * stride(digits - 1);
  }
  // How many indices from `index` on have elements that are stride(0) apart.
  int64_t RunLength(int64_t index) const {
    return digits == 1 ? std::numeric_limits<int64_t>::max() : digit[0].count - index % digit[0].count;
  }
  // How many digits the indices below `size` have.
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
  // True if the axis may be cut into tiles of `tile`, for indices below `size`: the offsets in each are those
  // of the first tile, moved. A tile is whole runs of a digit, or as much as divides one.
  // A digit without a stride is not cut.
  bool MayTile(int64_t size, int64_t tile) const {
    const int own = DigitsOf(size), within = DigitsOf(tile);
    if (stride(0) == 0 && tile < (own == 1 ? size : unit(1))) return false;
    for (int level = 1; level < own; ++level)
      if (level < within ? tile % unit(level) != 0 : unit(level) % tile != 0) return false;
    return true;
  }

  friend bool operator==(const DigitAxis&, const DigitAxis&) = default;
};

// The operand of an op that is a window view, and its axes: of a matmul's, rows, then columns.
struct Window {
  int operand = -1;  // -1: none is
  std::array<DigitAxis, 2> axes = {};
  // Of a depthwise convolution: how the rows of its filters lie, if they are not at one distance, as some
  // columns of a larger kernel are. Else without digits.
  DigitAxis filters = {};

  bool empty() const { return operand < 0; }
  const DigitAxis& ReductionAxis() const { return axes[operand == 0 ? 1 : 0]; }
  // A lanewise operation's channels are in groups of so many, for a reduction of so many steps; 1: each is by
  // itself. The first digit of a step says which channel of its group each lane multiplies:
  //   lhs[m][k][n] is the element at n - n % group + k % group, not at n
  int64_t LaneGroup(int64_t steps) const {
    const DigitAxis& reduction = axes[1];
    if (operand < 0 || reduction.stride(0) != 0) return 1;
    return reduction.digits == 1 ? steps : reduction.digit[0].count;
  }
  // True if the view is taken for a matrix as any other: its rows are contiguous and at one distance, which
  // may be less than their length. Of lhs, which is read element by element, contiguous columns will do.
  bool IsStrided() const { return axes[0].digits == 1 && axes[1].digits == 1 && HasStridedParts(); }
  // True if that is so of a part whose indices have one digit each.
  bool HasStridedParts() const { return axes[1].stride(0) == 1 || (operand == 0 && axes[0].stride(0) == 1); }
  // The layout that it has then.
  Layout StridedLayout() const {
    const bool row = axes[1].stride(0) == 1;
    return {LayoutKind::kStrided, row ? Order::kRow : Order::kCol, 0, 1, axes[row ? 0 : 1].digit[0].stride};
  }
  friend bool operator==(const Window&, const Window&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_WINDOW_H_
