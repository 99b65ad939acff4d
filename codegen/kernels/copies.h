// SPDX-License-Identifier: Apache-2.0
// The copies that are no part of a contraction, as procedures (from, to).
#ifndef KIRSCH_CODEGEN_KERNELS_COPIES_H_
#define KIRSCH_CODEGEN_KERNELS_COPIES_H_

#include <string>

#include "codegen/loop/loop_program.h"
#include "spec/program/kernel_shape.h"

namespace kirsch {

struct CopyKernel : CopyShape {
  int vector_bytes = 32;

  std::string Name() const;
};

Procedure CopyProcedure(const CopyKernel& kernel);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_COPIES_H_
