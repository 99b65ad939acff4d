// SPDX-License-Identifier: Apache-2.0
// Reads blocks of integers in panels (spec/block.h), a vector of columns at a time. Microkernels and copies
// into wider panels use it. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_PANEL_READER_H_
#define KIRSCH_CODEGEN_KERNELS_PANEL_READER_H_

#include <cstdint>

#include "codegen/loop/procedure_builder.h"
#include "spec/block.h"
#include "spec/program/kernel_shape.h"

namespace kirsch {

// How many steps of the reduction a word of codes has, once they are read: each has 8 bits then.
inline constexpr int kWordSteps = kWordBytes;

// Returns a place in bytes from where the panels begin: that of the word, or the f16, which has byte `byte`
// of the block of a column (TurnOf in spec/block.h). `step` is the first of the block's steps of the
// reduction. In a panel, the same word of all columns comes first, then the next word of all.
inline int64_t PlaceInPanels(const MatrixLayout& panels, int64_t step, int64_t column, int byte) {
  const PanelTurn turn = TurnOf(panels.dtype, byte);
  return Bytes(panels.dtype, panels.At(step, column / panels.panel * panels.panel)) +
         int64_t{turn.begin} * panels.panel + column % panels.panel * turn.bytes;
}

// Begin() says which blocks are read; the other functions write the loads and what unpacks them.
class PanelReader {
 public:
  // Vectors have so many words.
  PanelReader(ProcedureBuilder& builder, const MatrixLayout& panels, int lanes);

  // Neighbours in one panel, at most a vector of them.
  struct Columns {
    int64_t first = 0;
    int count = 0;
  };
  // Returns a vector of columns from this one on, or those that its panel still has.
  Columns ColumnsFrom(int64_t first) const;

  // From here on, the blocks that are read are in panels that begin at `blocks`. Columns are numbered from
  // `column` on.
  void Begin(const Address& blocks, const Affine& column) {
    blocks_ = blocks;
    column_ = column;
  }
  // to (u8) = the codes of kWordSteps steps of the block from `step` on, of each column.
  void Codes(VarId to, int step, const Columns& columns);
  // to (f32) = the scale of a part of the block, of each column; or the offset, which is added.
  void Scale(VarId to, int part, const Columns& columns);
  void Offset(VarId to, int part, const Columns& columns);

 private:
  Address At(const Columns& columns, int byte) const;
  void AddHigherBits(VarId codes, const BlockBits& at, const Columns& columns);
  void Number(VarId to, int byte, const Columns& columns);
  void Number(VarId to, int byte, const BlockBits& factor, bool has_sign, const Columns& columns);
  void ReadFactor(int byte, bool has_sign, const Columns& columns);

  ProcedureBuilder& builder_;
  const MatrixLayout& panels_;
  const BlockFormat& format_;
  const int lanes_;
  const VarId lower_;           // a mask of the lower halves of bytes, where codes are those
  const VarId higher_;          // bits of codes, where not all are in those halves
  const VarId whole_, factor_;  // what are multiplied where parts have factors: an f32, and s32
  Address blocks_;
  Affine column_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_PANEL_READER_H_
