// SPDX-License-Identifier: Apache-2.0
// Writes row programs (softmax, norms, elementwise operations) as procedures of a loop program.
#ifndef KIRSCH_CODEGEN_KERNELS_ROW_KERNEL_H_
#define KIRSCH_CODEGEN_KERNELS_ROW_KERNEL_H_

#include <string>
#include <vector>

#include "codegen/loop/loop_program.h"
#include "spec/program/kernel_shape.h"

namespace kirsch {

// Adds to a RowShape what only its code depends on.
struct RowKernel : RowShape {
  bool scales = false;  // the code may use AVX-512F's instruction for a * 2^n

  // Unique among kernels that differ, but for what hashes cannot tell apart: a row program is too long for a
  // name.
  std::string Name() const;
};

// The procedure: (inputs..., results...[, scratch], rows[, columns]). `scratch`, if the kernel takes it, has
// ScratchElements() floats of RealOf the program; `columns` are taken if there may be any number. Elements of
// a row are contiguous, and need no alignment.
Procedure RowProcedure(const RowKernel& kernel);

// Returns the ISA features that the procedure needs besides those of its vectors and masks.
std::vector<std::string> RowFeatures(const RowKernel& kernel);

// RowProcedure() of a program that `reduces_rows`, for RowProcedure().
Procedure ColumnProcedure(const RowKernel& kernel);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_ROW_KERNEL_H_
