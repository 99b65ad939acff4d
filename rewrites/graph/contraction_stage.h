// SPDX-License-Identifier: Apache-2.0
// Contractions of matrices in memory as stages.
#ifndef KIRSCH_REWRITES_GRAPH_CONTRACTION_STAGE_H_
#define KIRSCH_REWRITES_GRAPH_CONTRACTION_STAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/program/plan.h"

namespace kirsch {

// Says how an operand of the spec lies in memory: runs, `ld` elements apart, are its rows or its columns.
void SetMatrix(Dtype dtype, Order order, uint32_t ld, size_t operand, Spec* spec);

// `asked`: as Canonicalise takes it; `operands`: as it has them, those of an epilogue left out.
Stage ContractionStage(const Spec& asked, std::vector<StageOperand> operands);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_CONTRACTION_STAGE_H_
