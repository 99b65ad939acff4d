// A matmul or a convolution as a stage of a plan.
#ifndef KIRSCH_REWRITES_CONTRACTION_STAGE_H_
#define KIRSCH_REWRITES_CONTRACTION_STAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/plan.h"

namespace kirsch {

void SetMatrix(Dtype dtype, Order order, int64_t ld, size_t operand, Spec* spec);

// `operands`: those of the spec as it is asked for, and as many of its epilogue's as there are; the stage's
// are those of its canonical form.
Stage ContractionStage(const Spec& asked, std::vector<StageOperand> operands);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_CONTRACTION_STAGE_H_
