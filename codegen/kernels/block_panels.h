// SPDX-License-Identifier: Apache-2.0
// Copies of blocks of integers into panels (RecodeForPanels in spec/block.h), and of those into wider ones.
// Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_BLOCK_PANELS_H_
#define KIRSCH_CODEGEN_KERNELS_BLOCK_PANELS_H_

#include "codegen/kernels/pack.h"

namespace kirsch {

// The procedures: (from, to). Of columns of blocks; and of panels, into others that are as wide.
Procedure PanelsProcedure(const Pack& pack);
Procedure WiderPanelsProcedure(const Pack& pack);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_BLOCK_PANELS_H_
