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
    for (const AxisMap::Term& term : info.axes[axis].terms)
      if (term.dim >= 0)
        extents[axis] += term.coefficient * (int64_t{spec.size[static_cast<size_t>(term.dim)]} - 1);
  return extents;
}

AxisArray RootStrides(const Spec& root, int operand) {
  const Layout& layout = root.operand[static_cast<size_t>(operand)].layout;
  KIRSCH_CHECK(layout.kind == LayoutKind::kStrided);
  const AxisArray extents = AxisExtents(root, operand);
  const size_t rank = static_cast<size_t>(InfoOf(root, operand).rank);
  const size_t inner = layout.order == Order::kRow ? rank - 1 : rank - 2;
  const size_t outer = layout.order == Order::kRow ? rank - 2 : rank - 1;
  AxisArray strides = {};
  strides[inner] = 1;
  strides[outer] = layout.ld;
  int64_t batch_stride = extents[outer] * layout.ld;
  for (size_t axis = rank - 2; axis-- > 0;) {
    strides[axis] = batch_stride;
    batch_stride *= extents[axis];
  }
  return strides;
}

int64_t RootElements(const Spec& root, int operand) {
  const AxisArray extents = AxisExtents(root, operand), strides = RootStrides(root, operand);
  int64_t last = 0;
  for (size_t axis = 0; axis < extents.size(); ++axis) last += (extents[axis] - 1) * strides[axis];
  return last + 1;
}

}  // namespace kirsch
