// SPDX-License-Identifier: Apache-2.0
#include "rewrites/spec/operand_order.h"

#include "spec/block.h"
#include "spec/microkernel.h"

namespace kirsch {

bool ContiguousAlong(const Spec& spec, int operand, int dim) {
  if (InnerDim(spec, operand) != dim) return false;
  return !IsWindow(spec, operand) || WindowAxis(spec, dim)->stride(0) == 1;
}

bool LhsSuits(const Spec& spec, Arithmetic arithmetic) {
  const auto group = static_cast<uint32_t>(Info(arithmetic).group);
  const bool contiguous = ContiguousAlong(spec, MatmulDims::kLhs, MatmulDims::kK);
  if (group == 1) return true;
  if (!IsWindow(spec, MatmulDims::kLhs)) return contiguous || !Info(arithmetic).groups_lhs();
  const DigitAxis& steps = *WindowAxis(spec, MatmulDims::kK);
  return contiguous && (steps.digits == 1 || steps.digit[0].count % group == 0);
}

bool IsMeantForPanels(const Spec& spec) {
  const Dtype lhs = Operand(spec, MatmulDims::kLhs).dtype, rhs = Operand(spec, MatmulDims::kRhs).dtype;
  return AreIntegers(spec) && !IsInPanels(rhs) && lhs != RoundedBeside(rhs);
}

std::optional<Arithmetic> TilesOf(const Spec& spec, const Target& target) {
  return TileArithmetic(Operand(spec, MatmulDims::kLhs).dtype, Operand(spec, MatmulDims::kRhs).dtype, target);
}

}  // namespace kirsch
