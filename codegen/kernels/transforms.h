// SPDX-License-Identifier: Apache-2.0
// Writes the steps of Winograd's algorithm (spec/winograd.h), as procedures (from, to[, what the epilogue
// takes]).
#ifndef KIRSCH_CODEGEN_KERNELS_TRANSFORMS_H_
#define KIRSCH_CODEGEN_KERNELS_TRANSFORMS_H_

#include "codegen/loop/loop_program.h"
#include "spec/winograd.h"

namespace kirsch {

// Writes one step for all squares of an image. Code is straight-line for a vector of each element of a
// square; squares at the edges have code of their own.
Procedure TransformProcedure(const TransformShape& shape, int vector_bytes);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_TRANSFORMS_H_
