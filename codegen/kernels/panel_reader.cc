// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/panel_reader.h"

#include <algorithm>

#include "codegen/kernels/block_decoder.h"
#include "spec/check.h"

namespace kirsch {
namespace {

constexpr int kBitsPerByte = 8;

}  // namespace

PanelReader::PanelReader(ProcedureBuilder& builder, const MatrixLayout& panels, int lanes)
    : builder_(builder),
      panels_(panels),
      format_(FormatOf(panels.dtype)),
      lanes_(lanes),
      lower_(HasNibbles(panels.dtype) ? builder.Filled(Dtype::kU8, lanes * kWordSteps, 0x0f0f0f0fu) : kNoVar),
      higher_(HasHigherBits(panels.dtype) ? builder.Vector("higher", Dtype::kU8, lanes * kWordSteps)
                                          : kNoVar),
      whole_(HasFactors(panels.dtype) ? builder.Vector("whole", Dtype::kF32, lanes) : kNoVar),
      factor_(HasFactors(panels.dtype) ? builder.Vector("factor", Dtype::kS32, lanes) : kNoVar) {}

// Columns of the next panel are elsewhere in memory.
PanelReader::Columns PanelReader::ColumnsFrom(int64_t first) const {
  return {first, static_cast<int>(std::min<int64_t>(lanes_, panels_.panel - first % panels_.panel))};
}

// Returns where the word, or the f16, that has this byte of the blocks begins, for the first of the columns.
Address PanelReader::At(const Columns& columns, int byte) const {
  return {blocks_.pointer, Plus(Plus(blocks_.offset, Times(column_, TurnOf(panels_.dtype, byte).bytes)),
                                PlaceInPanels(panels_, 0, columns.first, byte))};
}

// Where a byte has two codes, the words of both halves are loaded from the same bytes. Higher bits, if there
// are any, come from a word that has those of four words.
void PanelReader::Codes(VarId to, int step, const Columns& columns) {
  const BlockBits at = format_.code(step);
  builder_.Do(Load{to, At(columns, at.byte), columns.count * kWordSteps});
  if (at.shift != 0)
    builder_.Do(Shift{to, to, -at.shift});
  else if (lower_ != kNoVar)
    builder_.Do(Binary{BinaryOp::kAnd, to, to, lower_});
  if (higher_ != kNoVar) AddHigherBits(to, at, columns);
}

// Moves the higher bits to above the lower ones, and masks those of other words off.
void PanelReader::AddHigherBits(VarId codes, const BlockBits& at, const Columns& columns) {
  constexpr uint32_t kHigherBits = 0x30303030u;
  builder_.Do(Load{higher_, At(columns, at.high_byte), columns.count * kWordSteps});
  if (const int left = at.bits - at.high_shift; left != 0) builder_.Do(Shift{higher_, higher_, left});
  builder_.Do(Binary{BinaryOp::kAnd, higher_, higher_,
                     builder_.Filled(Dtype::kU8, lanes_ * kWordSteps, kHigherBits)});
  builder_.Do(Binary{BinaryOp::kOr, codes, codes, higher_});
}

// Numbers of a part are its own, or factors of the block's.
void PanelReader::Scale(VarId to, int part, const Columns& columns) {
  if (format_.scale_factor != nullptr)
    Number(to, format_.scale_byte, format_.scale_factor(part), format_.signed_factors, columns);
  else
    Number(to, format_.scale_byte + part * format_.scale_step, columns);
}

void PanelReader::Offset(VarId to, int part, const Columns& columns) {
  if (format_.offset_factor != nullptr)
    Number(to, format_.offset_byte, format_.offset_factor(part), false, columns);
  else
    Number(to, format_.offset_byte, columns);
}

// Loads a number of each column, of 16 or 32 bits.
void PanelReader::Number(VarId to, int byte, const Columns& columns) {
  builder_.Do(
      Load{to, At(columns, byte), columns.count, IsOfF16s(panels_.dtype, byte) ? Dtype::kF16 : Dtype::kF32});
}

// Multiplies that number by the factors of a part, which are bytes of words.
void PanelReader::Number(VarId to, int byte, const BlockBits& factor, bool has_sign, const Columns& columns) {
  KIRSCH_CHECK(factor.shift == 0 && factor.bits == kBitsPerByte && factor.high_byte < 0);
  ReadFactor(factor.byte, has_sign, columns);
  builder_.Do(Convert{to, factor_});
  Number(whole_, byte, columns);
  builder_.Do(Binary{BinaryOp::kMul, to, to, whole_});
}

// factor_ = a byte of a word of each column. Four parts share the word, so it is shifted down and masked.
void PanelReader::ReadFactor(int byte, bool has_sign, const Columns& columns) {
  const int last = kWordBytes - 1, place = byte - TurnOf(panels_.dtype, byte).begin;
  builder_.Do(Load{factor_, At(columns, byte), columns.count, Dtype::kS32});
  if (place > 0) builder_.Do(Shift{factor_, factor_, -place * kBitsPerByte});
  if (place < last)
    builder_.Do(Binary{BinaryOp::kAnd, factor_, factor_, builder_.Filled(Dtype::kS32, lanes_, 0xff)});
  if (has_sign) AddSign(builder_, factor_);
}

}  // namespace kirsch
