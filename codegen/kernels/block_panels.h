// Copies of blocks of integers into panels whose codes have 8 bits, or 4 (InPanels and RecodeForPanels in
// spec/block.h). Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_BLOCK_PANELS_H_
#define KIRSCH_CODEGEN_KERNELS_BLOCK_PANELS_H_

#include <cstdint>

#include "codegen/kernels/pack.h"
#include "spec/block.h"

namespace kirsch {

// Where the word with byte `byte` of the block of a column is, in bytes from where the panels begin: the words
// of a panel's blocks lie by turns. `step` is the first of the block's steps of the reduction.
inline int64_t WordInPanels(const MatrixLayout& panels, int64_t step, int64_t column, int byte) {
  const int64_t words = byte / kAccumulatorBytes * panels.panel + column % panels.panel;
  return BytesOf(panels.dtype, panels.At(step, column / panels.panel * panels.panel)) +
         words * kAccumulatorBytes;
}

// The procedure: (from, to).
Procedure PanelsProcedure(const Pack& pack);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_BLOCK_PANELS_H_
