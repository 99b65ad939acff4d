// SPDX-License-Identifier: Apache-2.0
// Makes contraction stages of matrices in memory. All rewrites of graphs that have a matmul or a convolution
// build a spec here, so that one place knows how Canonicalise orders the operands.
//
//   asked     f32 32x64x128, out in columns; operands {q, k, scores}
//   stage     f32 128x64x32, out in rows;    operands {k, q, scores}
#ifndef KIRSCH_REWRITES_GRAPH_CONTRACTION_STAGE_H_
#define KIRSCH_REWRITES_GRAPH_CONTRACTION_STAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/program/plan.h"

namespace kirsch {

// Says how an operand of the spec lies in memory. Consecutive runs are `ld` elements apart; they are the
// matrix's rows with Order::kRow, its columns with Order::kCol.
void SetMatrix(Dtype dtype, Order order, uint32_t ld, size_t operand, Spec* spec);

// Returns the stage for a spec as a user would state it (Canonicalise). `operands` are lhs, rhs and out in
// the order of `asked`. The caller appends those of the epilogue, whose order stays the same.
Stage ContractionStage(const Spec& asked, std::vector<StageOperand> operands);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_CONTRACTION_STAGE_H_
