// SPDX-License-Identifier: Apache-2.0
#include "spec/canonical.h"

#include <utility>

namespace kirsch {
namespace {

// Gives a matrix with a side of 1 its unique statement, see the header. A contiguous column gets the other
// order, so that its long side is the inner one; its elements stay where they are.
void CanonicaliseVector(Spec& spec, int operand) {
  const TileExtent extent = ExtentOf(spec, operand);
  Layout& layout = spec.tensor(operand).layout;
  if (extent.outer == 1 && extent.batch == 1) layout.ld = static_cast<uint32_t>(extent.inner);
  if (extent.outer == 1 && extent.inner == 1) {
    layout.order = Order::kRow;
  } else if (extent.inner == 1 && layout.ld == 1) {
    layout.order = Turned(layout.order);
    layout.ld = static_cast<uint32_t>(extent.outer);  // the batch stride was outer * 1 and is 1 * outer
  }
}

// Sets what follows from the rest, so that it has one form: the epilogue's operands, what may be rounded, and
// for integers no fixed order, as their sums are the same in any.
void Settle(Spec* spec) {
  LayOutEpilogue(spec);
  if (!IsFloating(AccumulatorOf(*spec))) spec->fixed_order = 0;
  SettleRounding(spec);
}

// out^T = rhs^T lhs^T. The epilogue's rows become its columns, and blocks of columns become blocks of rows.
void TransposeMatmul(Spec& spec) {
  std::swap(spec.size[MatmulDims::kM], spec.size[MatmulDims::kN]);
  std::swap(spec.operand[MatmulDims::kLhs], spec.operand[MatmulDims::kRhs]);
  spec.op = OpWith(Transposed(spec.op_info().epilogue));
  if (spec.block != 0) spec.block_rows ^= 1;
  for (int operand = 0; operand <= spec.op_info().output(); ++operand) {
    Layout& layout = spec.tensor(operand).layout;
    layout.order = Turned(layout.order);
  }
}

// Is a single dot product better stated the other way round? Of two rows, either may be lhs. The one that is
// contiguous becomes lhs, or else the one whose elements are narrower, as kernels broadcast lhs.
bool IsTurnedProduct(const Spec& spec) {
  const TensorSpec &lhs = spec.operand[MatmulDims::kLhs], &rhs = spec.operand[MatmulDims::kRhs];
  if (spec.size[MatmulDims::kM] != 1 || spec.size[MatmulDims::kN] != 1 || spec.lhs_as != LhsAs::kItself ||
      IsOfBlocks(lhs.dtype) || IsOfBlocks(rhs.dtype))
    return false;
  // A row is contiguous along the reduction.
  const bool lhs_is_row = InnerDim(spec, MatmulDims::kLhs) == MatmulDims::kK,
             rhs_is_row = InnerDim(spec, MatmulDims::kRhs) == MatmulDims::kK;
  return lhs_is_row != rhs_is_row ? rhs_is_row : Bytes(lhs.dtype) > Bytes(rhs.dtype);
}

void CanonicaliseInputs(Spec* spec) {
  CanonicaliseVector(*spec, MatmulDims::kLhs);
  CanonicaliseVector(*spec, MatmulDims::kRhs);
}

}  // namespace

CanonicalSpec Canonicalise(const Spec& asked) {
  CanonicalSpec result{asked, false};
  if (!asked.op_info().transposes()) {
    Settle(&result.spec);
    return result;
  }
  // Blocks are of rhs only: such a problem is never transposed.
  if (!IsOfBlocks(asked.operand[MatmulDims::kRhs].dtype)) CanonicaliseVector(result.spec, MatmulDims::kOut);
  result.swapped = result.spec.out().layout.order == Order::kCol;
  if (result.swapped) TransposeMatmul(result.spec);
  CanonicaliseInputs(&result.spec);
  // A product of 1xK and Kx1 has a 1x1 output, which either order of the operands gives.
  if (IsTurnedProduct(result.spec)) {
    result.swapped = !result.swapped;
    TransposeMatmul(result.spec);
    CanonicaliseVector(result.spec, MatmulDims::kOut);
    CanonicaliseInputs(&result.spec);
  }
  Settle(&result.spec);
  return result;
}

}  // namespace kirsch
