// SPDX-License-Identifier: Apache-2.0
// Says where the elements of one stored matrix lie. Kernels are specialised for it, so equal layouts share
// code.
#ifndef KIRSCH_SPEC_PROGRAM_MATRIX_LAYOUT_H_
#define KIRSCH_SPEC_PROGRAM_MATRIX_LAYOUT_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "spec/dtype.h"
#include "spec/layout.h"
#include "spec/program/affine.h"
#include "spec/program/size.h"
#include "spec/text/cat.h"
#include "spec/window.h"

namespace kirsch {

// Element (outer, inner) lies at outer * outer_stride + inner. With panels it lies at
//   (inner / panel) * panel_stride + (outer / group) * outer_stride
//     + (inner % panel) * group + outer % group.
// Example: 4 x 6 in panels of 3 without groups (outer_stride 3, panel_stride 12); the numbers are (outer,
// inner):
//   00 01 02 | 10 11 12 | 20 21 22 | 30 31 32 || 03 04 05 | 13 14 15 | ...
struct MatrixLayout {
  Order order = Order::kRow;
  Size outer_stride = 0;  // a constant, or kStride where there are no panels
  int64_t panel = 0;      // 0: no panels
  int64_t panel_stride = 0;
  int64_t group = 1;  // only with panels
  Dtype dtype = Dtype::kF32;
  Window window = {};  // not empty: says where elements are, instead of the strides

  int64_t InnerOffset(int64_t inner) const {
    return panel == 0 ? inner : inner / panel * panel_stride + inner % panel * group;
  }
  int64_t OuterOffset(int64_t outer) const { return outer / group * outer_stride + outer % group; }
  // The offset in elements of the element in `row` and `column`, of the operand's last two axes.
  int64_t At(int64_t row, int64_t column) const {
    if (!window.empty()) return window.axes[0].At(row) + window.axes[1].At(column);
    return order == Order::kRow ? OuterOffset(row) + InnerOffset(column)
                                : OuterOffset(column) + InnerOffset(row);
  }
  // The same offset as an expression. `stride` is the variable that holds kStride.
  Affine At(int64_t row, int64_t column, VarId stride) const {
    if (outer_stride.IsConstant()) return Constant(At(row, column));
    const auto [outer, inner] = order == Order::kRow ? std::pair(row, column) : std::pair(column, row);
    return outer == 0 ? Constant(inner) : Plus(Constant(inner), stride, outer);
  }
  // How many elements follow `inner` without a gap, itself included: to the end of its panel, `wanted` at
  // most.
  int64_t Contiguous(int64_t inner, int64_t wanted) const {
    return panel == 0 ? wanted : std::min(wanted, panel - inner % panel);
  }

  // The layout of a tile of `inner` elements that begins at the start of a panel. A tile inside one panel
  // never steps to another one, so panel_stride does not matter and becomes 0. More tiles then share one
  // kernel.
  MatrixLayout ForTile(int64_t inner) const {
    MatrixLayout tile = *this;
    if (panel != 0 && inner <= panel) tile.panel_stride = 0;
    return tile;
  }

  // The digits' strides with the counts between them: "1x3_64".
  static std::string NameOf(const DigitAxis& axis) {
    std::string name;
    for (int level = 0; level < axis.digits; ++level) {
      const Digit& digit = axis.digit[static_cast<size_t>(level)];
      Append(&name, digit.stride, level + 1 < axis.digits ? Cat("x", digit.count, "_") : "");
    }
    return name;
  }

  // The layout as part of a procedure's name. Layouts that need different code have different names.
  std::string Name() const {
    std::string name =
        Cat(dtype == Dtype::kF32 ? "" : std::string(Info(dtype).name), order == Order::kRow ? "r" : "c",
            outer_stride.IsConstant() ? Cat(outer_stride.most()) : "size");
    if (panel != 0) Append(&name, "p", panel);
    if (panel_stride != 0) Append(&name, "s", panel_stride);
    if (group != 1) Append(&name, "g", group);
    if (!window.empty()) Append(&name, "w", NameOf(window.axes[0]), "by", NameOf(window.axes[1]));
    return name;
  }

  friend bool operator==(const MatrixLayout&, const MatrixLayout&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_MATRIX_LAYOUT_H_
