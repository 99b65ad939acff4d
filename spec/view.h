// A view: a tile of an operand inside the buffer that holds it, as the interpreter sees it.
#ifndef KIRSCH_SPEC_VIEW_H_
#define KIRSCH_SPEC_VIEW_H_

#include <array>
#include <cstdint>
#include <limits>

#include "spec/layout.h"
#include "spec/spec.h"
#include "spec/storage.h"
#include "spec/target.h"

namespace kirsch {

// Index x along an axis lies at x * stride; along the panel axis, at x / panel * stride + x % panel * group;
// along the group axis, at x / group * stride + x % group. Of a window view, the window says where.
struct View {
  Dtype dtype = Dtype::kF32;
  void* data = nullptr;  // element (0, 0, ...) of the buffer
  int64_t elements = 0;  // of the buffer
  int rank = 0;
  Layout layout;  // as the specs state it: kStrided, or kPacked with its order, panel and group
  AxisArray stride = {};
  int panel_axis = -1;  // -1: none
  int64_t panel = 1;
  int group_axis = -1;  // -1: none
  int64_t group = 1;
  std::array<DigitAxis, kMaxAxes> window = {};  // without digits: there is none
  AxisArray whole = {};                         // the size along each axis of all that the buffer holds
  AxisArray origin = {};                        // the tile's first element
  AxisArray extent = {};  // the tile's size along each axis; 1 for axes the operand lacks

  // Offset in the buffer of the tile's element `index` (relative to the origin).
  int64_t At(const AxisArray& index) const;
  // Elements from `index` on along `axis` that lie at one distance from each other, and that distance.
  int64_t RunLength(int axis, int64_t index) const;
  int64_t RunStride(int axis) const;
};

// The caller's buffer of a root operand, whole.
View RootView(const Spec& root, int operand, void* data);

// A dense buffer of the operand's tile, of type `dtype`, in row order of its axes, or with its last two axes
// swapped. The `elements` of the view are what the buffer must hold; `pitch` elements lie between its rows
// (0: the row's length).
View DenseView(const Spec& spec, int operand, Dtype dtype, Order order, int64_t pitch, void* data);

// The buffer of a packed copy of the operand's tile, of type `dtype` in `layout`; its `elements` are what the
// buffer must hold.
View PackedView(const Spec& spec, int operand, Dtype dtype, const Layout& layout, const Target& target,
                void* data);

// The view that `spec`, a tile of the viewing spec `steps` along `dim` away, has of the operand.
View TileView(const View& view, const Spec& spec, int operand, int dim, int64_t steps);

// Copies the tile of `from` to that of `to`, which has the same extents, and converts its elements (Widen,
// Narrow). Aborts if either leaves its buffer, or begins or ends inside a panel's or a group's middle.
void CopyTile(const View& from, const View& to);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_VIEW_H_
