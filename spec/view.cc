#include "spec/view.h"

#include <algorithm>

#include "spec/check.h"
#include "spec/footprint.h"

namespace kirsch {
namespace {

const OperandInfo& InfoOf(const Spec& spec, int operand) {
  return spec.op_info().operands[static_cast<size_t>(operand)];
}

View EmptyView(const Spec& spec, int operand, float* data) {
  View view;
  view.data = data;
  view.rank = InfoOf(spec, operand).rank;
  view.extent = AxisExtents(spec, operand);
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
}

void CopyRun(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t count) {
  if (from_stride == 1 && to_stride == 1) {
    std::copy_n(from, count, to);
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
}

// Copies along the last axis, from `index` on, in runs that are regular in both views.
void CopyRow(const View& from, const View& to, AxisArray index) {
  const int axis = from.rank - 1;
  int64_t& i = index[static_cast<size_t>(axis)];
  while (i < from.extent[static_cast<size_t>(axis)]) {
    const int64_t run = std::min(from.RunLength(axis, i), to.RunLength(axis, i));
    CopyRun(from.data + from.At(index), from.RunStride(axis), to.data + to.At(index), to.RunStride(axis),
            run);
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
    at += axis == panel_axis ? x / panel * stride[a] + x % panel : x * stride[a];
  }
  return at;
}

int64_t View::RunLength(int axis, int64_t index) const {
  const size_t a = static_cast<size_t>(axis);
  const int64_t left = extent[a] - index;
  return axis == panel_axis ? std::min(left, panel - (origin[a] + index) % panel) : left;
}

int64_t View::RunStride(int axis) const { return axis == panel_axis ? 1 : stride[static_cast<size_t>(axis)]; }

View RootView(const Spec& root, int operand, float* data) {
  View view = EmptyView(root, operand, data);
  view.layout = root.operand[static_cast<size_t>(operand)].layout;
  view.stride = RootStrides(root, operand);
  view.elements = RootElements(root, operand);
  return view;
}

View DenseView(const Spec& spec, int operand, Order order, int64_t pitch, float* data) {
  View view = EmptyView(spec, operand, data);
  const size_t inner = InnerAxis(view, order), outer = OuterAxis(view, order);
  view.layout.order = order;
  view.stride[inner] = 1;
  view.stride[outer] = pitch == 0 ? view.extent[inner] : pitch;
  SetBatchStrides(view.stride[outer] * view.extent[outer], &view);
  view.elements = view.stride[outer] * view.extent[outer];
  for (size_t axis = 0; axis < static_cast<size_t>(view.rank - 2); ++axis) view.elements *= view.extent[axis];
  return view;
}

View PackedView(const Spec& spec, int operand, const Layout& layout, const Target& target, float* data) {
  Spec copy = spec;
  TensorSpec& tensor = copy.operand[static_cast<size_t>(operand)];
  tensor.layout = layout;
  const TileExtent extent = ExtentOf(copy, operand);
  View view = EmptyView(copy, operand, data);
  const size_t inner = InnerAxis(view, layout.order), outer = OuterAxis(view, layout.order);
  view.layout = layout;
  view.elements = PackedElements(extent, layout, tensor.dtype, target);
  if (layout.panel == 0) {
    view.stride[inner] = 1;
    view.stride[outer] = PackedLd(extent.inner, tensor.dtype, target);
  } else {
    view.panel_axis = static_cast<int>(inner);
    view.panel = layout.panel;
    view.stride[inner] = extent.batch * extent.outer * layout.panel;
    view.stride[outer] = layout.panel;
  }
  SetBatchStrides(view.stride[outer] * extent.outer, &view);
  return view;
}

View TileView(const View& view, const Spec& spec, int operand, int dim, int64_t steps) {
  View tile = view;
  tile.extent = AxisExtents(spec, operand);
  const OperandInfo& info = InfoOf(spec, operand);
  for (size_t axis = 0; axis < static_cast<size_t>(info.rank); ++axis)
    for (const AxisMap::Term& term : info.axes[axis].terms)
      if (term.dim == dim) tile.origin[axis] += term.coefficient * steps;
  return tile;
}

void CopyTile(const View& from, const View& to) {
  KIRSCH_CHECK(from.rank == to.rank && from.extent == to.extent);
  CheckInside(from);
  CheckInside(to);
  AxisArray row = {};
  do {
    CopyRow(from, to, row);
  } while (NextRow(from, &row));
}

}  // namespace kirsch
