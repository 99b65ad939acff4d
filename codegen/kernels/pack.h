// SPDX-License-Identifier: Apache-2.0
// The procedures that copy a tile of an operand into a packed buffer.
#ifndef KIRSCH_CODEGEN_KERNELS_PACK_H_
#define KIRSCH_CODEGEN_KERNELS_PACK_H_

#include <cstdint>
#include <string>

#include "codegen/loop/loop_program.h"
#include "spec/program/kernel_shape.h"

namespace kirsch {

struct Pack : PackShape {
  int vector_bytes = 0;    // of the widest vectors
  bool lanes_vary = true;  // there is a masked load of the source's elements (LanesMayVary)

  // Unique among copies that differ.
  std::string Name() const;
};

// The procedure: (from, to[, what there is along PackShape::runtime_extent][, the run-time size][,
// KernelRun::last]).
Procedure PackProcedure(const Pack& pack);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_PACK_H_
