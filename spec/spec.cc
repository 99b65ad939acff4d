// SPDX-License-Identifier: Apache-2.0
#include "spec/spec.h"

namespace kirsch {
namespace {

int64_t AxisExtent(const Spec& spec, const AxisMap& axis) {
  return axis.dim < 0 ? 1 : spec.size[static_cast<size_t>(axis.dim)];
}

// The last axis is the inner one in row order, the one before it in column order.
const AxisMap& StoredAxis(const Spec& spec, int operand, bool inner) {
  const OperandInfo& info = spec.op_info().operands[static_cast<size_t>(operand)];
  const bool row = spec.tensor(operand).layout.order == Order::kRow;
  return info.axes[static_cast<size_t>(info.rank - (row == inner ? 1 : 2))];
}

}  // namespace

TileExtent ExtentOf(const Spec& spec, int operand) {
  const OperandInfo& info = spec.op_info().operands[static_cast<size_t>(operand)];
  TileExtent extent{1, AxisExtent(spec, StoredAxis(spec, operand, false)),
                    AxisExtent(spec, StoredAxis(spec, operand, true))};
  for (int axis = 0; axis < info.rank - 2; ++axis)
    extent.batch *= AxisExtent(spec, info.axes[static_cast<size_t>(axis)]);
  return extent;
}

int OuterDim(const Spec& spec, int operand) { return StoredAxis(spec, operand, false).dim; }
bool IsReduction(const Spec& spec, int dim) {
  return dim >= 0 && spec.op_info().dims[static_cast<size_t>(dim)].reduction;
}

int InnerDim(const Spec& spec, int operand) { return StoredAxis(spec, operand, true).dim; }

const DigitAxis* WindowAxis(const Spec& spec, int dim) {
  const OpInfo& info = spec.op_info();
  if (info.window.empty()) return nullptr;
  const OperandInfo& operand = info.operands[static_cast<size_t>(info.window.operand)];
  for (int axis = 0; axis < 2; ++axis)
    if (operand.axes[static_cast<size_t>(axis + 1)].dim == dim)
      return &info.window.axes[static_cast<size_t>(axis)];
  return nullptr;
}

bool IsWindow(const Spec& spec, int operand) {
  return spec.tensor(operand).layout.kind == LayoutKind::kWindow;
}

const DigitAxis* RowDigits(const Spec& spec, int operand) {
  const Window& window = spec.op_info().window;
  if (IsWindow(spec, operand)) return &window.axes[0];
  return operand == MatmulDims::kRhs && window.filters.digits > 0 ? &window.filters : nullptr;
}

bool Overlaps(const Spec& spec, int operand) {
  const Layout& layout = spec.tensor(operand).layout;
  // Copies are dense; only windows, and rows of a caller's that overlap, share elements.
  if (layout.kind != LayoutKind::kStrided) return layout.kind == LayoutKind::kWindow;
  return layout.ld < ExtentOf(spec, operand).inner && !IsEpilogueOperand(spec, operand);
}

void NarrowWindow(Spec* spec) {
  const OpInfo& info = spec->op_info();
  if (info.window.empty()) return;
  const auto operand = static_cast<size_t>(info.window.operand);
  // The highest digit that the tile's indices have along an axis of the window.
  const auto last_digit = [&](size_t axis) {
    const auto dim = static_cast<size_t>(info.operands[operand].axes[axis + 1].dim);
    return static_cast<size_t>(info.window.axes[axis].DigitsOf(spec->size[dim]) - 1);
  };
  spec->op = info.narrowed[last_digit(0)][last_digit(1)];
  Layout& layout = spec->operand[operand].layout;
  // The window is gone: what it said is a leading dimension.
  if (layout.kind == LayoutKind::kWindow && spec->op_info().window.empty())
    layout = info.window.StridedLayout();
}

Spec WithoutEpilogue(const Spec& spec) {
  Spec sums = spec;
  // Operands that the op lacks have default values, as specs compare as bytes.
  for (int operand = spec.op_info().output() + 1; operand < spec.op_info().num_operands; ++operand)
    sums.tensor(operand) = {};
  sums.op = spec.op_info().sums;
  return sums;
}

void LayOutEpilogue(Spec* spec) {
  const Epilogue& epilogue = spec->op_info().epilogue;
  auto operand = static_cast<size_t>(spec->op_info().output()) + 1;
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    if (!step.HasOperand()) continue;
    TensorSpec& tensor = spec->operand[operand++];
    tensor.dtype = TypeBefore(epilogue, AccumulatorOf(*spec), i);
    tensor.layout = spec->out().layout;
    if (step.operand != EpilogueOperand::kAll) tensor.layout = Layout{.ld = 1};
  }
}

int ConstantOperand(const Spec& spec) {
  for (int operand = 0; operand < spec.op_info().output(); ++operand)
    if (spec.tensor(operand).constant != 0) return operand;
  return -1;
}

double Flops(const Spec& spec) {
  double points = 2;
  for (int dim = 0; dim < spec.op_info().num_dims; ++dim) points *= spec.size[static_cast<size_t>(dim)];
  return points;
}

void SettleRounding(Spec* spec) {
  const TensorSpec &lhs = spec->operand[MatmulDims::kLhs], &rhs = spec->operand[MatmulDims::kRhs];
  const bool is_float = lhs.dtype == Dtype::kF32 || lhs.dtype == Dtype::kBf16;
  // A rounding becomes the next weaker one where its own copies can't be made: q8_0 to bf16, bf16 and f16 to
  // none.
  const bool rounds_lhs =
      lhs.dtype == Dtype::kF32 && MayBeCopied(lhs) && (rhs.dtype == Dtype::kBf16 || IsOfBlocks(rhs.dtype));
  const bool rounds_rhs = is_float && IsOfBlocks(rhs.dtype) && MayBeCopied(rhs);
  if (spec->lhs_as == LhsAs::kQ8 && !(rounds_lhs && (HasIntegerCodes(rhs.dtype) || IsInPanels(rhs.dtype))))
    spec->lhs_as = LhsAs::kBf16;
  if (spec->lhs_as == LhsAs::kBf16 && !rounds_lhs && !rounds_rhs) spec->lhs_as = LhsAs::kItself;
  if (spec->lhs_as == LhsAs::kF16 &&
      !(MayBeCopied(lhs) && WantedBesideRounding(LhsAs::kF16, lhs.dtype, rhs.dtype).empty()))
    spec->lhs_as = LhsAs::kItself;
}

}  // namespace kirsch
