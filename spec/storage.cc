// SPDX-License-Identifier: Apache-2.0
#include "spec/storage.h"

#include "spec/check.h"

namespace kirsch {
namespace {

const OperandInfo& InfoOf(const Spec& spec, int operand) {
  return spec.op_info().operands[static_cast<size_t>(operand)];
}

}  // namespace

AxisArray AxisExtents(const Spec& spec, int operand) {
  AxisArray extents;
  extents.fill(1);
  const OperandInfo& info = InfoOf(spec, operand);
  for (size_t axis = 0; axis < static_cast<size_t>(info.rank); ++axis)
    if (const int dim = info.axes[axis].dim; dim >= 0) extents[axis] = spec.size[static_cast<size_t>(dim)];
  return extents;
}

AxisArray RootStrides(const Spec& root, int operand) {
  const Layout& layout = root.tensor(operand).layout;
  KIRSCH_CHECK(layout.kind == LayoutKind::kStrided);
  const AxisArray extents = AxisExtents(root, operand);
  const size_t rank = static_cast<size_t>(InfoOf(root, operand).rank);
  const size_t inner = layout.order == Order::kRow ? rank - 1 : rank - 2;
  const size_t outer = layout.order == Order::kRow ? rank - 2 : rank - 1;
  AxisArray strides = {};
  strides[inner] = 1;
  strides[outer] = layout.ld;
  // Matrices of a batch follow each other, gaps between their rows included. An axis that no dim indexes has
  // one element, which is that of all indices.
  int64_t batch_stride = extents[outer] * layout.ld;
  for (size_t axis = rank - 2; axis-- > 0;) {
    strides[axis] = batch_stride;
    batch_stride *= extents[axis];
  }
  for (size_t axis = 0; axis < rank; ++axis)
    if (InfoOf(root, operand).axes[axis].dim < 0) strides[axis] = 0;
  return strides;
}

std::array<DigitAxis, kMaxAxes> RootAxes(const Spec& root, int operand) {
  std::array<DigitAxis, kMaxAxes> axes = {};
  const size_t rank = static_cast<size_t>(InfoOf(root, operand).rank);
  // A window's axes are the rows and the columns of its view. Channels of a depthwise convolution are
  // neighbours.
  if (IsWindow(root, operand)) {
    KIRSCH_CHECK(root.size[MatmulDims::kB] == 1);
    axes[0] = DigitAxis::Strided(0);
    for (size_t axis = 0; axis < 2; ++axis) axes[axis + 1] = root.op_info().window.axes[axis];
    if (rank > 3) axes[3] = DigitAxis::Strided(1);
    return axes;
  }
  const AxisArray strides = RootStrides(root, operand);
  for (size_t axis = 0; axis < rank; ++axis)
    axes[axis] = DigitAxis::Strided(static_cast<uint32_t>(strides[axis]));
  // Filters of a depthwise convolution, where they are a part of larger ones.
  if (const DigitAxis* const rows = RowDigits(root, operand)) axes[1] = *rows;
  return axes;
}

int64_t RootElements(const Spec& root, int operand) {
  const AxisArray extents = AxisExtents(root, operand);
  const std::array<DigitAxis, kMaxAxes> axes = RootAxes(root, operand);
  int64_t last = 0;
  for (size_t axis = 0; axis < static_cast<size_t>(InfoOf(root, operand).rank); ++axis)
    last += axes[axis].At(extents[axis] - 1);
  return last + 1;
}

}  // namespace kirsch
