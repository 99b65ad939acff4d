// Where the elements of one stored matrix lie, as constants that a procedure is specialised for.
#ifndef KIRSCH_CODEGEN_MATRIX_LAYOUT_H_
#define KIRSCH_CODEGEN_MATRIX_LAYOUT_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "spec/check.h"
#include "spec/layout.h"

namespace kirsch {

// Element (outer, inner) is at outer * outer_stride + inner, or, with panels, at
// (inner / panel) * panel_stride + outer * outer_stride + inner % panel.
struct MatrixLayout {
  Order order = Order::kRow;
  int64_t outer_stride = 0;
  int64_t panel = 0;  // 0: no panels
  int64_t panel_stride = 0;

  int64_t InnerOffset(int64_t inner) const {
    return panel == 0 ? inner : inner / panel * panel_stride + inner % panel;
  }
  // Offset of the element in `row` and `column` (of the operand's last two axes).
  int64_t At(int64_t row, int64_t column) const {
    return order == Order::kRow ? row * outer_stride + InnerOffset(column)
                                : column * outer_stride + InnerOffset(row);
  }
  // Elements from `inner` to the end of its contiguous run, at most `wanted`.
  int64_t Contiguous(int64_t inner, int64_t wanted) const {
    return panel == 0 ? wanted : std::min(wanted, panel - inner % panel);
  }

  // The same layout for a tile of `inner` elements from the start of a panel: a tile inside one panel does
  // not see the panels.
  MatrixLayout ForTile(int64_t inner) const {
    MatrixLayout tile = *this;
    if (panel != 0 && inner <= panel) tile.panel_stride = 0;
    return tile;
  }

  // As part of a procedure's name.
  std::string Name() const {
    std::string name = absl::StrCat(order == Order::kRow ? "r" : "c", outer_stride);
    if (panel != 0) absl::StrAppend(&name, "p", panel);
    if (panel_stride != 0) absl::StrAppend(&name, "s", panel_stride);
    return name;
  }
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_MATRIX_LAYOUT_H_
