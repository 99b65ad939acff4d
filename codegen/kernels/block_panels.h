// SPDX-License-Identifier: Apache-2.0
// Writes copies of blocks of integers into panels (RecodeForPanels in spec/block.h), and of panels into wider
// ones. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_BLOCK_PANELS_H_
#define KIRSCH_CODEGEN_KERNELS_BLOCK_PANELS_H_

#include "codegen/kernels/pack.h"

namespace kirsch {

// The procedures are (from, to). The first copies columns of blocks into panels. The second copies panels
// into others with as many columns, whose codes have more bits.
Procedure PanelsProcedure(const Pack& pack);
Procedure WiderPanelsProcedure(const Pack& pack);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_BLOCK_PANELS_H_
