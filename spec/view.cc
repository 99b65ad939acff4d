#include "spec/view.h"

#include <algorithm>

#include "spec/check.h"
#include "spec/element.h"
#include "spec/footprint.h"

namespace kirsch {
namespace {

const OperandInfo& InfoOf(const Spec& spec, int operand) {
  return spec.op_info().operands[static_cast<size_t>(operand)];
}

View EmptyView(const Spec& spec, int operand, Dtype dtype, void* data) {
  View view;
  view.dtype = dtype;
  view.data = data;
  view.rank = InfoOf(spec, operand).rank;
  view.extent = view.whole = AxisExtents(spec, operand);
  return view;
}

size_t InnerAxis(const View& view, Order order) {
  return static_cast<size_t>(view.rank - (order == Order::kRow ? 1 : 2));
}
size_t OuterAxis(const View& view, Order order) {
  return static_cast<size_t>(view.rank - (order == Order::kRow ? 2 : 1));
}

// Batch axes outside of `stride_of_matrix` elements.
void SetBatchStrides(int64_t stride_of_matrix, View* view) {
  for (size_t axis = static_cast<size_t>(view->rank - 2); axis-- > 0;) {
    view->stride[axis] = stride_of_matrix;
    stride_of_matrix *= view->extent[axis];
  }
}

// The tile's corners are its extreme addresses: every index counts upwards.
void CheckInside(const View& view) {
  AxisArray last = {};
  for (size_t axis = 0; axis < last.size(); ++axis) last[axis] = view.extent[axis] - 1;
  KIRSCH_CHECK(view.At({}) >= 0 && view.At(last) < view.elements);
  if (view.panel_axis >= 0) KIRSCH_CHECK(view.origin[static_cast<size_t>(view.panel_axis)] % view.panel == 0);
  if (view.group_axis < 0) return;
  // A lane multiplies whole groups; only the last one is filled up with zeros.
  const size_t axis = static_cast<size_t>(view.group_axis);
  const int64_t end = view.origin[axis] + view.extent[axis];
  KIRSCH_CHECK(view.origin[axis] % view.group == 0);
  KIRSCH_CHECK(end % view.group == 0 || end == view.whole[axis]);
}

template <typename From, typename To>
void CopyRun(const From* from, int64_t from_stride, To* to, int64_t to_stride, int64_t count) {
  if constexpr (std::is_same_v<From, To>) {
    if (from_stride == 1 && to_stride == 1) {
      std::copy_n(from, count, to);
      return;
    }
    for (int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
  } else if constexpr (std::is_same_v<decltype(Widen(From())), decltype(Widen(To()))>) {
    for (int64_t i = 0; i < count; ++i) to[i * to_stride] = Narrow<To>(Widen(from[i * from_stride]));
  } else {
    KIRSCH_CHECK(false && "nothing turns floats into integers");
  }
}

// Copies along the last axis, from `index` on, in runs that are regular in both views.
template <typename From, typename To>
void CopyRow(const View& from, const View& to, AxisArray index) {
  const int axis = from.rank - 1;
  int64_t& i = index[static_cast<size_t>(axis)];
  while (i < from.extent[static_cast<size_t>(axis)]) {
    const int64_t run = std::min(from.RunLength(axis, i), to.RunLength(axis, i));
    CopyRun(static_cast<const From*>(from.data) + from.At(index), from.RunStride(axis),
            static_cast<To*>(to.data) + to.At(index), to.RunStride(axis), run);
    i += run;
  }
}

// The next row of the tile, in row order; false after the last one.
bool NextRow(const View& view, AxisArray* index) {
  for (int axis = view.rank - 2; axis >= 0; --axis) {
    int64_t& i = (*index)[static_cast<size_t>(axis)];
    if (++i < view.extent[static_cast<size_t>(axis)]) return true;
    i = 0;
  }
  return false;
}

}  // namespace

int64_t View::At(const AxisArray& index) const {
  int64_t at = 0;
  for (int axis = 0; axis < rank; ++axis) {
    const size_t a = static_cast<size_t>(axis);
    const int64_t x = origin[a] + index[a];
    if (window[a].digits > 0) {
      at += window[a].At(x);
    } else if (axis == panel_axis) {
      at += x / panel * stride[a] + x % panel * group;
    } else {
      at += axis == group_axis ? x / group * stride[a] + x % group : x * stride[a];
    }
  }
  return at;
}

int64_t View::RunLength(int axis, int64_t index) const {
  const size_t a = static_cast<size_t>(axis);
  const int64_t left = extent[a] - index;
  if (window[a].digits > 0) return std::min(left, window[a].RunLength(origin[a] + index));
  if (axis == panel_axis) return std::min(left, panel - (origin[a] + index) % panel);
  return axis == group_axis ? std::min(left, group - (origin[a] + index) % group) : left;
}

int64_t View::RunStride(int axis) const {
  if (axis == panel_axis) return group;
  const DigitAxis& digits = window[static_cast<size_t>(axis)];
  if (digits.digits > 0) return digits.stride(0);
  return axis == group_axis ? 1 : stride[static_cast<size_t>(axis)];
}

View RootView(const Spec& root, int operand, void* data) {
  const TensorSpec& tensor = root.operand[static_cast<size_t>(operand)];
  View view = EmptyView(root, operand, tensor.dtype, data);
  view.layout = tensor.layout;
  if (RowDigits(root, operand) != nullptr)
    view.window = RootAxes(root, operand);
  else
    view.stride = RootStrides(root, operand);
  view.elements = RootElements(root, operand);
  return view;
}

View DenseView(const Spec& spec, int operand, Dtype dtype, Order order, int64_t pitch, void* data) {
  View view = EmptyView(spec, operand, dtype, data);
  const size_t inner = InnerAxis(view, order), outer = OuterAxis(view, order);
  view.layout.order = order;
  view.stride[inner] = 1;
  view.stride[outer] = pitch == 0 ? view.extent[inner] : pitch;
  SetBatchStrides(view.stride[outer] * view.extent[outer], &view);
  view.elements = view.stride[outer] * view.extent[outer];
  for (size_t axis = 0; axis < static_cast<size_t>(view.rank - 2); ++axis) view.elements *= view.extent[axis];
  return view;
}

View PackedView(const Spec& spec, int operand, Dtype dtype, const Layout& layout, const Target& target,
                void* data) {
  Spec copy = spec;
  copy.operand[static_cast<size_t>(operand)].layout = layout;
  const TileExtent extent = ExtentOf(copy, operand);
  View view = EmptyView(copy, operand, dtype, data);
  const size_t inner = InnerAxis(view, layout.order), outer = OuterAxis(view, layout.order);
  view.layout = layout;
  view.elements = PackedElements(extent, layout, dtype, target);
  if (layout.panel == 0) {
    view.stride[inner] = 1;
    view.stride[outer] = CopyLd(extent, layout, dtype, target);
  } else {
    view.panel_axis = static_cast<int>(inner);
    view.panel = layout.panel;
    const int64_t groups = (extent.outer + layout.group - 1) / layout.group;
    view.stride[outer] = layout.panel * layout.group;
    view.stride[inner] = extent.batch * groups * view.stride[outer];
    view.group = layout.group;
    if (view.group > 1) view.group_axis = static_cast<int>(outer);
    SetBatchStrides(view.stride[outer] * groups, &view);
    return view;
  }
  SetBatchStrides(view.stride[outer] * extent.outer, &view);
  return view;
}

View TileView(const View& view, const Spec& spec, int operand, int dim, int64_t steps) {
  View tile = view;
  tile.extent = AxisExtents(spec, operand);
  const OperandInfo& info = InfoOf(spec, operand);
  for (size_t axis = 0; axis < static_cast<size_t>(info.rank); ++axis)
    if (info.axes[axis].dim == dim) tile.origin[axis] += steps;
  return tile;
}

void CopyTile(const View& from, const View& to) {
  KIRSCH_CHECK(from.rank == to.rank && from.extent == to.extent);
  CheckInside(from);
  CheckInside(to);
  WithElementOf(from.dtype, [&](auto source) {
    WithElementOf(to.dtype, [&](auto copy) {
      AxisArray row = {};
      do {
        CopyRow<decltype(source), decltype(copy)>(from, to, row);
      } while (NextRow(from, &row));
    });
  });
}

}  // namespace kirsch
