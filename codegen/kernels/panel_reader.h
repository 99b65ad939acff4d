// SPDX-License-Identifier: Apache-2.0
// Reads blocks of integers in panels (spec/block.h), a vector of columns at a time. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_PANEL_READER_H_
#define KIRSCH_CODEGEN_KERNELS_PANEL_READER_H_

#include <cstdint>

#include "codegen/loop/procedure_builder.h"
#include "spec/block.h"
#include "spec/program/kernel_shape.h"

namespace kirsch {

// Steps of the reduction that a word of codes is of, once they are read: each has 8 bits then.
inline constexpr int kWordSteps = kWordBytes;

// Where the word, or the f16, with byte `byte` of the block of a column is, in bytes from where the panels
// begin (TurnOf in spec/block.h). `step` is the first of the block's steps of the reduction.
inline int64_t PlaceInPanels(const MatrixLayout& panels, int64_t step, int64_t column, int byte) {
  const PanelTurn turn = TurnOf(panels.dtype, byte);
  return Bytes(panels.dtype, panels.At(step, column / panels.panel * panels.panel)) +
         int64_t{turn.begin} * panels.panel + column % panels.panel * turn.bytes;
}

class PanelReader {
 public:
  // Vectors have so many words.
  PanelReader(ProcedureBuilder& builder, const MatrixLayout& panels, int lanes);

  // Neighbours of one panel, at most a vector of them.
  struct Columns {
    int64_t first = 0;
    int count = 0;
  };
  // A vector of columns from the one on, or those that its panel still has.
  Columns ColumnsFrom(int64_t first) const;

  // The block of each column that is read from here on is in panels that begin there; columns are numbered
  // from `column` on.
  void Begin(const Address& blocks, const Affine& column) {
    blocks_ = blocks;
    column_ = column;
  }
  // to (u8) = the codes of kWordSteps steps of the block from `step` on, of each column.
  void Codes(VarId to, int step, const Columns& columns);
  // to (f32) = the scale, or the offset, of a part of the block, of each column.
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
