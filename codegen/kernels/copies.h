// SPDX-License-Identifier: Apache-2.0
// Writes the copies that are no part of a contraction, as procedures (from, to): images that get zeros around
// them, and matrices that are transposed.
#ifndef KIRSCH_CODEGEN_KERNELS_COPIES_H_
#define KIRSCH_CODEGEN_KERNELS_COPIES_H_

#include <string>

#include "codegen/loop/loop_program.h"
#include "spec/program/kernel_shape.h"

namespace kirsch {

// Adds to a CopyShape what only its code depends on.
struct CopyKernel : CopyShape {
  int vector_bytes = 32;

  // Unique among copies that differ in more than the width of vectors, which is one in a program.
  std::string Name() const;
};

Procedure CopyProcedure(const CopyKernel& kernel);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_COPIES_H_
