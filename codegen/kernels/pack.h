// SPDX-License-Identifier: Apache-2.0
// Writes the procedures that copy a tile of an operand into a packed buffer, in the layout that microkernels
// read.
#ifndef KIRSCH_CODEGEN_KERNELS_PACK_H_
#define KIRSCH_CODEGEN_KERNELS_PACK_H_

#include <string>

#include "codegen/loop/loop_program.h"
#include "spec/program/kernel_shape.h"

namespace kirsch {

// Adds to a PackShape what only its code depends on.
struct Pack : PackShape {
  int vector_bytes = 0;    // of the widest vectors
  bool lanes_vary = true;  // there is a masked load of the source's elements (LanesMayVary)

  // Unique among copies that differ.
  std::string Name() const;
};

// The procedure is (from, to[, kCount][, kStride][, kLast]). Which file writes it depends on the types:
// blocks, panels, integers that share scales.
Procedure PackProcedure(const Pack& pack);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_PACK_H_
