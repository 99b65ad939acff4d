// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/contraction_stage.h"

#include <utility>

#include "spec/canonical.h"

namespace kirsch {

void SetMatrix(Dtype dtype, Order order, uint32_t ld, size_t operand, Spec* spec) {
  spec->operand[operand].dtype = dtype;
  spec->operand[operand].layout.order = order;
  spec->operand[operand].layout.ld = ld;
}

Stage ContractionStage(const Spec& asked, std::vector<StageOperand> operands) {
  const CanonicalSpec canonical = Canonicalise(asked);
  Stage stage;
  stage.kind = StageKind::kContraction;
  stage.spec = canonical.spec;
  if (canonical.swapped) std::swap(operands[0], operands[1]);
  stage.operands = std::move(operands);
  return stage;
}

}  // namespace kirsch
