// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/block_panels.h"

#include <algorithm>
#include <array>
#include <vector>

#include "codegen/kernels/block_decoder.h"
#include "codegen/kernels/copy_prefetch.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr int kTurned = 4;  // words are turned 4 x 4
constexpr int kTurnedBytes = kTurned * kWordBytes;
constexpr int kNibbleBits = 4;
constexpr int kF16Bytes = Bytes(Dtype::kF16);

// Rounds bytes up to whole vectors of kTurned words.
constexpr int64_t WholeTurned(int64_t bytes) {
  return (bytes + kTurnedBytes - 1) / kTurnedBytes * kTurnedBytes;
}

// Returns the words of a block in panels, by their first bytes, in the order of the array. Words of codes
// that are recoded together come first, side by side, so that one store writes them. Then come all others.
std::vector<int> WordsOf(const BlockFormat& panels) {
  std::vector<int> words;
  const auto add = [&](int byte) {
    const PanelTurn turn = TurnOf(panels.dtype, byte);
    if (turn.bytes == kWordBytes && std::ranges::find(words, turn.begin) == words.end())
      words.push_back(turn.begin);
  };
  for (int first = 0; first < BlockOf(panels.dtype); first += kBlockRun) {
    for (int i = first; i < first + kBlockRun; ++i) add(panels.code(i).byte);
    for (int i = first; i < first + kBlockRun; ++i)
      if (panels.code(i).high_byte >= 0) add(panels.code(i).high_byte);
  }
  for (int byte = 0; byte < Bytes(panels.dtype); ++byte) add(byte);
  return words;
}

// Some columns of a panel: where the panel's blocks begin, in bytes, and the number of the first of the
// columns.
struct PanelColumns {
  Affine blocks, first;
};

// Copies a few columns at a time. A block of each is recoded into an array, word after word, and the array is
// then transposed. So the same words of several columns get side by side, as panels have them:
//   array, column 0: w0 w1 w2 w3 ...      panel: w0 of columns 0 1 2 3, ...
//          column 1: w0 w1 w2 w3 ...  ->         w1 of columns 0 1 2 3, ...
// Numbers of 16 bits are stored behind all words, those of the columns side by side, and need no
// transposition. A block of the source becomes one block in panels, or several that are as long together: 32
// elements, or 256.
class BlockPanels {
 public:
  explicit BlockPanels(const Pack& pack)
      : pack_(pack),
        blocks_(FormatOf(pack.from.dtype)),
        panels_(FormatOf(pack.to.dtype)),
        builder_(pack.Name()),
        from_(builder_.PointerParameter("from", PointeeOf(pack.from.dtype), false)),
        to_(builder_.PointerParameter("to", PointeeOf(pack.to.dtype), true)),
        f16s_(BytesOfF16s(pack.to.dtype)),
        words_(WordsOf(panels_)),
        prefetch_(pack, builder_, from_, block(), kNoVar),
        lanes_(std::min(pack.vector_bytes / kWordBytes, kBlockRun)),
        decoder_(builder_, pack.from.dtype, lanes_),
        array_(builder_.Array("blocks", Dtype::kU8, kTurnedBytes, F16sAt() + WholeTurned(kTurned * f16s_))),
        codes_(builder_.Vector("recoded", Dtype::kS32, lanes_)),
        more_(HasNibbles(pack.to.dtype) ? builder_.Vector("more", Dtype::kS32, lanes_) : kNoVar),
        number_(builder_.Vector("number", Dtype::kF32, lanes_)) {
    KIRSCH_CHECK(pack.from.order == Order::kCol && pack.to.order == Order::kRow && pack.inner_stride == 1);
    KIRSCH_CHECK(pack.to.group == step() && pack.to.panel % kTurned == 0);
    KIRSCH_CHECK(pack.outer % block() == 0 && block() % step() == 0);
    for (size_t row = 0; row < rows_.size(); ++row)
      rows_[row] = builder_.Vector(Cat("v", row), Dtype::kU8, kTurnedBytes);
  }

  // Whole panels, then one that has fewer columns.
  Procedure Build() && {
    const int64_t width = pack_.to.panel, panels = pack_.inner / width;
    builder_.Loop(Constant(panels), [&](VarId panel) {
      Panel(Plus(Constant(0), panel, width * pack_.from.outer_stride),
            Plus(Constant(0), panel, Bytes(pack_.to.dtype, pack_.to.panel_stride)), width);
    });
    if (panels * width < pack_.inner)
      Panel(Constant(panels * width * pack_.from.outer_stride),
            Constant(Bytes(pack_.to.dtype, panels * pack_.to.panel_stride)), pack_.inner - panels * width);
    return std::move(builder_).Build();
  }

 private:
  int block() const { return BlockOf(pack_.from.dtype); }
  int step() const { return BlockOf(pack_.to.dtype); }
  int WordBytes() const { return Bytes(pack_.to.dtype) - f16s_; }
  // Sizes and places in the array, in bytes. What a block of the source becomes begins with words that are
  // transposed, four of each column at a time; so each block in panels takes whole vectors of them.
  int64_t StepBytes() const { return WholeTurned(WordBytes()); }
  int64_t ColumnBytes() const { return block() / step() * StepBytes(); }
  int64_t F16sAt() const { return kTurned * ColumnBytes(); }

  // Copies a panel, of which `filled` columns exist: from an element, to a byte.
  void Panel(const Affine& from, const Affine& to, int64_t filled) {
    prefetch_.ForSteps(filled, Constant(pack_.outer / block()), [&](const Affine& number) {
      Blocks(Plus(from, Times(number, block())),
             Plus(to, Times(number, Bytes(pack_.to.dtype, pack_.to.OuterOffset(block())))), filled);
    });
  }

  // Copies a block of each column: four whole columns at a time, then those that are left, then zeros up to
  // the panel's width.
  void Blocks(const Affine& from, const Affine& to, int64_t filled) {
    const int64_t whole = filled / kTurned;
    builder_.Loop(Constant(whole), [&](VarId number) {
      Columns(Plus(from, number, kTurned * pack_.from.outer_stride), {to, Plus(Constant(0), number, kTurned)},
              kTurned);
    });
    int64_t done = whole * kTurned;
    if (done < filled) {
      Columns(Plus(from, done * pack_.from.outer_stride), {to, Constant(done)}, filled - done);
      done += kTurned;
    }
    builder_.Loop(Constant((pack_.to.panel - done) / kTurned),
                  [&](VarId number) { Columns(from, {to, Plus(Constant(done), number, kTurned)}, 0); });
  }

  // Copies four columns, of which `count` exist. The others are zeros.
  void Columns(const Affine& from, const PanelColumns& to, int64_t count) {
    builder_.Loop(Constant(count), [&](VarId column) {
      Recode(Plus(from, column, pack_.from.outer_stride), IndexOf(column));
    });
    if (f16s_ > 0) StoreF16s(to, count);
    builder_.Loop(Constant(block() / step()), [&](VarId number) {
      Turn(Plus(Constant(0), number, StepBytes()),
           Plus(to.blocks, number, Bytes(pack_.to.dtype, pack_.to.OuterOffset(step()))), to.first, count);
    });
  }

  // Recodes a block of the source into the array, for column number `column` of the four.
  void Recode(const Affine& from, const Affine& column) {
    prefetch_.Row(from);
    column_ = column;
    decoder_.Begin(0, {from_, InBytes(pack_.from.dtype, from)});
    for (int first = 0; first < block(); first += step()) {
      step_at_ = first / step() * StepBytes();
      if (HasFactors(pack_.to.dtype))
        RecodeWholes();
      else
        RecodeNumbers(first);
      for (int i = 0; i < step(); i += lanes_) RecodeCodes(first, i);
    }
  }

  // Returns where the array has this byte of the block in panels that is being recoded. It is one of a word,
  // not of an f16.
  Address InArray(int byte) const {
    const int begin = TurnOf(pack_.to.dtype, byte).begin;
    const auto word = std::ranges::find(words_, begin) - words_.begin();
    return {array_, Plus(Times(column_, ColumnBytes()), step_at_ + word * kWordBytes + byte - begin)};
  }
  // Returns where the array has this f16 of a column.
  Affine F16InArray(int byte, const Affine& column) const {
    return Plus(Times(column, kF16Bytes), F16sAt() + int64_t{byte - F16sBegin(pack_.to.dtype)} * kTurned);
  }

  // Stores scales and offsets of the elements from `first` on.
  void RecodeNumbers(int first) {
    const int part = panels_.part == 0 ? step() : panels_.part;
    for (int i = 0; i < step(); i += part) {
      decoder_.ReadScale(number_, 0, first + i);
      StoreNumber(panels_.scale_byte + i / part * panels_.scale_step);
    }
    if (!decoder_.has_offset()) return;
    decoder_.ReadOffset(number_, 0, first);
    StoreOffset();
  }

  // Stores the numbers of a whole block, and the factors of them that its parts have.
  void RecodeWholes() {
    decoder_.ReadWhole(number_, 0, blocks_.scale_byte);
    StoreNumber(panels_.scale_byte);
    RecodeFactors(blocks_.scale_factor, panels_.scale_factor);
    if (!decoder_.has_offset()) return;
    decoder_.ReadWhole(number_, 0, blocks_.offset_byte);
    StoreOffset();
    RecodeFactors(blocks_.offset_factor, panels_.offset_factor);
  }

  // Factors are bytes; a word has those of kFactorRun parts.
  void RecodeFactors(BlockBits (*from)(int part), BlockBits (*in_panels)(int part)) {
    for (int part = 0; part < step() / panels_.part; part += kFactorRun)
      builder_.Do(Store{decoder_.ReadFactors(0, from(part)), InArray(in_panels(part).byte), kFactorRun});
  }

  void StoreNumber(int byte) {
    if (IsOfF16s(pack_.to.dtype, byte))
      StoreF16(F16InArray(byte, column_));
    else
      builder_.Do(Store{number_, InArray(byte), 1, false, Dtype::kF32});
  }

  void StoreF16(const Affine& at) { builder_.Do(Store{number_, {array_, at}, 1, false, Dtype::kF16}); }

  // Stores the f16s of four columns, of which `count` exist, into the panel.
  void StoreF16s(const PanelColumns& to, int64_t count) {
    if (count < kTurned) builder_.Do(Zero{number_});
    const int begin = F16sBegin(pack_.to.dtype);
    for (int byte = begin; byte < begin + f16s_; byte += kF16Bytes) {
      for (int64_t column = count; column < kTurned; ++column) StoreF16(F16InArray(byte, Constant(column)));
      builder_.Do(Load{rows_[0], {array_, F16InArray(byte, Constant(0))}, kTurned * kF16Bytes});
      builder_.Do(
          Store{rows_[0],
                {to_, Plus(Plus(to.blocks, int64_t{byte} * pack_.to.panel), Times(to.first, kF16Bytes))},
                kTurned * kF16Bytes});
    }
  }

  // Panels have offsets that are added, so one that the source subtracts changes its sign.
  void StoreOffset() {
    if (decoder_.takes_offset())
      builder_.Do(
          Binary{BinaryOp::kXor, number_, number_, builder_.Filled(Dtype::kF32, lanes_, 0x80000000u)});
    StoreNumber(panels_.offset_byte);
  }

  // Stores the bytes that have the codes of a vector as their lowest bits: those from element `i` on, of the
  // block in panels whose first element is `first`. What else is in these bytes, codes of later elements, is
  // stored with them.
  void RecodeCodes(int first, int i) {
    const BlockBits at = panels_.code(i);
    if (at.shift == 0) {
      RecodeVector(codes_, first + i);
      if (more_ != kNoVar) AddUpperHalves(first + i + kBlockRun);
      builder_.Do(Store{codes_, InArray(at.byte), lanes_});
    }
    if (at.high_byte < 0 || at.high_shift != 0) return;
    RecodeHigherBits(first + i);
    builder_.Do(Store{codes_, InArray(at.high_byte), lanes_});
  }

  // Reads a vector of codes, with the bias that panels have.
  void RecodeVector(VarId codes, int element) {
    decoder_.ReadCodes(codes, 0, element);
    const int more = panels_.bias - decoder_.bias();
    if (more != 0) builder_.Do(Binary{BinaryOp::kAdd, codes, codes, Word(static_cast<uint32_t>(more))});
  }

  VarId Word(uint32_t word) { return builder_.Filled(Dtype::kS32, lanes_, word); }

  // codes_ = the lower halves of its bytes, with those of the elements from `element` on as the upper halves.
  void AddUpperHalves(int element) {
    const bool masks = HasHigherBits(pack_.to.dtype);
    RecodeVector(more_, element);
    builder_.Do(Shift{more_, more_, kNibbleBits});
    if (masks) builder_.Do(Binary{BinaryOp::kAnd, codes_, codes_, Word(0x0f)});
    builder_.Do(Binary{BinaryOp::kOr, codes_, codes_, more_});
    if (masks) builder_.Do(Binary{BinaryOp::kAnd, codes_, codes_, Word(0xff)});
  }

  // codes_ = what codes have above their lower halves: two bits each of four vectors, which are kBlockRun
  // elements apart.
  void RecodeHigherBits(int element) {
    constexpr int kVectors = 4, kHigherBits = 2;
    for (int v = 0; v < kVectors; ++v) {
      const VarId bits = v == 0 ? codes_ : more_;
      RecodeVector(bits, element + v * kBlockRun);
      builder_.Do(Shift{bits, bits, -kNibbleBits});
      if (v == 0) continue;
      builder_.Do(Shift{bits, bits, v * kHigherBits});
      builder_.Do(Binary{BinaryOp::kOr, codes_, codes_, bits});
    }
  }

  // Transposes the words of a block in panels, of four columns from `first` on, of which `count` exist. They
  // go to the panel four words of each column at a time.
  void Turn(const Affine& from, const Affine& blocks, const Affine& first, int64_t count) {
    const Affine to = Plus(blocks, Times(first, kWordBytes));
    const int words = WordBytes() / kWordBytes;
    for (int word = 0; word < words; word += kTurned) {
      for (int row = 0; row < kTurned; ++row) {
        const VarId v = rows_[static_cast<size_t>(row)];
        if (row < count)
          builder_.Do(Load{v, {array_, Plus(from, row * ColumnBytes() + word * kWordBytes)}, kTurnedBytes});
        else
          builder_.Do(Zero{v});
      }
      if (count > 0) builder_.Do(Transpose{rows_});
      for (int i = 0; i < std::min(kTurned, words - word); ++i)
        builder_.Do(Store{rows_[static_cast<size_t>(i)],
                          {to_, Plus(to, int64_t{words_[static_cast<size_t>(word + i)]} * pack_.to.panel)},
                          kTurnedBytes});
    }
  }

  const Pack& pack_;
  const BlockFormat &blocks_, &panels_;
  ProcedureBuilder builder_;
  const VarId from_, to_;
  const int f16s_;                // bytes of a block in panels that are numbers of 16 bits
  const std::vector<int> words_;  // of the array, by the bytes of a block in panels where they are
  CopyPrefetch prefetch_;
  const int lanes_;
  BlockDecoder decoder_;
  const VarId array_, codes_, more_, number_;
  Affine column_;        // whose block is recoded, of the four,
  int64_t step_at_ = 0;  // and where its words begin
  std::array<VarId, kTurned> rows_ = {};
};

}  // namespace

Procedure PanelsProcedure(const Pack& pack) { return BlockPanels(pack).Build(); }

}  // namespace kirsch
