// SPDX-License-Identifier: Apache-2.0
// The steps of Winograd's algorithm, as procedures (from, to[, what the epilogue takes]).
#ifndef KIRSCH_CODEGEN_KERNELS_TRANSFORMS_H_
#define KIRSCH_CODEGEN_KERNELS_TRANSFORMS_H_

#include "codegen/loop/loop_program.h"
#include "spec/winograd.h"

namespace kirsch {

Procedure TransformProcedure(const TransformShape& shape, int vector_bytes);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_TRANSFORMS_H_
