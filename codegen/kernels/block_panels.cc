#include "codegen/kernels/block_panels.h"

#include <algorithm>
#include <array>

#include "codegen/kernels/block_decoder.h"
#include "codegen/kernels/copy_prefetch.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr int kTurned = 4;  // words are turned 4 x 4
constexpr int kTurnedBytes = kTurned * kAccumulatorBytes;
constexpr int kNibbleBits = 4;

// A few columns at a time: a block of each is recoded into an array, word after word, which is then turned.
// What becomes one or several blocks is as long as those together: 32 elements, or 256.
class BlockPanels {
 public:
  explicit BlockPanels(const Pack& pack)
      : pack_(pack),
        blocks_(FormatOf(pack.from.dtype)),
        panels_(FormatOf(pack.to.dtype)),
        builder_(pack.Name()),
        from_(builder_.PointerParameter("from", PointeeOf(pack.from.dtype), false)),
        to_(builder_.PointerParameter("to", PointeeOf(pack.to.dtype), true)),
        prefetch_(pack, builder_, from_, block(), kNoVar),
        lanes_(std::min(pack.vector_bytes / kAccumulatorBytes, kBlockRun)),
        decoder_(builder_, pack.from.dtype, lanes_),
        array_(builder_.Array("blocks", Dtype::kU8, kTurnedBytes, kTurned * ColumnBytes())),
        codes_(builder_.Vector("recoded", Dtype::kS32, lanes_)),
        more_(HasNibbles(pack.to.dtype) ? builder_.Vector("more", Dtype::kS32, lanes_) : kNoVar),
        number_(builder_.Vector("number", Dtype::kF32, lanes_)) {
    KIRSCH_CHECK(pack.from.order == Order::kCol && pack.to.order == Order::kRow && pack.inner_stride == 1);
    KIRSCH_CHECK(pack.to.group == step() && pack.to.panel % kTurned == 0);
    KIRSCH_CHECK(pack.outer % block() == 0 && block() % step() == 0);
    for (size_t row = 0; row < rows_.size(); ++row)
      rows_[row] = builder_.Vector(Cat("v", row), Dtype::kU8, kTurnedBytes);
  }

  Procedure Build() && {
    const int64_t width = pack_.to.panel, panels = pack_.inner / width;
    builder_.Loop(Constant(panels), [&](VarId panel) {
      Panel(Plus(Constant(0), panel, width * pack_.from.outer_stride),
            Plus(Constant(0), panel, BytesOf(pack_.to.dtype, pack_.to.panel_stride)), width);
    });
    if (panels * width < pack_.inner)
      Panel(Constant(panels * width * pack_.from.outer_stride),
            Constant(BytesOf(pack_.to.dtype, panels * pack_.to.panel_stride)), pack_.inner - panels * width);
    return std::move(builder_).Build();
  }

 private:
  int block() const { return BlockOf(pack_.from.dtype); }
  int step() const { return BlockOf(pack_.to.dtype); }
  // Of what a block of the source becomes, in the array, where each begins with words that are turned.
  int64_t StepBytes() const {
    return (Bytes(pack_.to.dtype) + kTurnedBytes - 1) / kTurnedBytes * kTurnedBytes;
  }
  int64_t ColumnBytes() const { return block() / step() * StepBytes(); }

  // A panel, of which `filled` columns exist: from an element, to a byte.
  void Panel(const Affine& from, const Affine& to, int64_t filled) {
    prefetch_.ForSteps(filled, Constant(pack_.outer / block()), [&](const Affine& number) {
      Blocks(Plus(from, Times(number, block())),
             Plus(to, Times(number, BytesOf(pack_.to.dtype, pack_.to.OuterOffset(block())))), filled);
    });
  }

  // A block of each column.
  void Blocks(const Affine& from, const Affine& to, int64_t filled) {
    const int64_t whole = filled / kTurned;
    builder_.Loop(Constant(whole), [&](VarId number) {
      Columns(Plus(from, number, kTurned * pack_.from.outer_stride), Plus(to, number, kTurnedBytes), kTurned);
    });
    int64_t done = whole * kTurned;
    if (done < filled) {
      Columns(Plus(from, done * pack_.from.outer_stride), Plus(to, done * kAccumulatorBytes), filled - done);
      done += kTurned;
    }
    builder_.Loop(Constant((pack_.to.panel - done) / kTurned), [&](VarId number) {
      Columns(from, Plus(Plus(to, done * kAccumulatorBytes), number, kTurnedBytes), 0);
    });
  }

  // Four columns, of which `count` exist.
  void Columns(const Affine& from, const Affine& to, int64_t count) {
    builder_.Loop(Constant(count), [&](VarId column) {
      Recode(Plus(from, column, pack_.from.outer_stride), Plus(Constant(0), column, ColumnBytes()));
    });
    builder_.Loop(Constant(block() / step()), [&](VarId number) {
      Turn(Plus(Constant(0), number, StepBytes()),
           Plus(to, number, BytesOf(pack_.to.dtype, pack_.to.OuterOffset(step()))), count);
    });
  }

  // A block of the source, into the array.
  void Recode(const Affine& from, const Affine& at) {
    prefetch_.Row(from);
    decoder_.Begin(0, {from_, InBytes(pack_.from.dtype, from)});
    for (int first = 0; first < block(); first += step()) {
      const Affine to = Plus(at, first / step() * StepBytes());
      if (HasFactors(pack_.to.dtype))
        RecodeWholes(to);
      else
        RecodeNumbers(first, to);
      for (int i = 0; i < step(); i += lanes_) RecodeCodes(first, i, to);
    }
  }

  // Scales and offsets of elements from `first` on.
  void RecodeNumbers(int first, const Affine& to) {
    const int part = panels_.part == 0 ? step() : panels_.part;
    for (int i = 0; i < step(); i += part) {
      decoder_.ReadScale(number_, 0, first + i);
      StoreNumber(Plus(to, panels_.scale_byte + i / part * kAccumulatorBytes));
    }
    if (!decoder_.has_offset()) return;
    decoder_.ReadOffset(number_, 0, first);
    StoreOffset(to);
  }

  // Those of a whole block, and the factors of them that its parts have.
  void RecodeWholes(const Affine& to) {
    decoder_.ReadWhole(number_, 0, blocks_.scale_byte);
    StoreNumber(Plus(to, panels_.scale_byte));
    RecodeFactors(blocks_.scale_factor, panels_.scale_factor, to);
    if (!decoder_.has_offset()) return;
    decoder_.ReadWhole(number_, 0, blocks_.offset_byte);
    StoreOffset(to);
    RecodeFactors(blocks_.offset_factor, panels_.offset_factor, to);
  }

  void RecodeFactors(BlockBits (*from)(int part), BlockBits (*in_panels)(int part), const Affine& to) {
    for (int part = 0; part < step() / panels_.part; part += kFactorRun)
      builder_.Do(
          Store{decoder_.ReadFactors(0, from(part)), {array_, Plus(to, in_panels(part).byte)}, kFactorRun});
  }

  void StoreNumber(const Affine& to) { builder_.Do(Store{number_, {array_, to}, 1, false, Dtype::kF32}); }

  void StoreOffset(const Affine& to) {
    if (decoder_.takes_offset())
      builder_.Do(
          Binary{BinaryOp::kXor, number_, number_, builder_.Filled(Dtype::kF32, lanes_, 0x80000000u)});
    StoreNumber(Plus(to, panels_.offset_byte));
  }

  // The bytes that begin with the codes of a vector, those from element `i` of the ones from `first` on.
  void RecodeCodes(int first, int i, const Affine& to) {
    const BlockBits at = panels_.code(i);
    if (at.shift == 0) {
      RecodeVector(codes_, first + i);
      if (more_ != kNoVar) AddUpperHalves(first + i + kBlockRun);
      builder_.Do(Store{codes_, {array_, Plus(to, at.byte)}, lanes_});
    }
    if (at.high_byte < 0 || at.high_shift != 0) return;
    RecodeHigherBits(first + i);
    builder_.Do(Store{codes_, {array_, Plus(to, at.high_byte)}, lanes_});
  }

  void RecodeVector(VarId codes, int element) {
    decoder_.ReadCodes(codes, 0, element);
    const int more = panels_.bias - decoder_.bias();
    if (more != 0) builder_.Do(Binary{BinaryOp::kAdd, codes, codes, Word(static_cast<uint32_t>(more))});
  }

  VarId Word(uint32_t word) { return builder_.Filled(Dtype::kS32, lanes_, word); }

  // codes_ = their lower halves, with those of the elements from `element` on as the upper ones.
  void AddUpperHalves(int element) {
    const bool masks = HasHigherBits(pack_.to.dtype);
    RecodeVector(more_, element);
    builder_.Do(Shift{more_, more_, kNibbleBits});
    if (masks) builder_.Do(Binary{BinaryOp::kAnd, codes_, codes_, Word(0x0f)});
    builder_.Do(Binary{BinaryOp::kOr, codes_, codes_, more_});
    if (masks) builder_.Do(Binary{BinaryOp::kAnd, codes_, codes_, Word(0xff)});
  }

  // codes_ = what codes have above their lower halves, of four vectors, of which neighbours are kBlockRun
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

  // The words of a block in panels, of four columns.
  void Turn(const Affine& from, const Affine& to, int64_t count) {
    const int words = Bytes(pack_.to.dtype) / kAccumulatorBytes;
    for (int word = 0; word < words; word += kTurned) {
      for (int row = 0; row < kTurned; ++row) {
        const VarId v = rows_[static_cast<size_t>(row)];
        if (row < count)
          builder_.Do(
              Load{v, {array_, Plus(from, row * ColumnBytes() + word * kAccumulatorBytes)}, kTurnedBytes});
        else
          builder_.Do(Zero{v});
      }
      if (count > 0) builder_.Do(Transpose{rows_});
      for (int i = 0; i < std::min(kTurned, words - word); ++i)
        builder_.Do(Store{rows_[static_cast<size_t>(i)],
                          {to_, Plus(to, (word + i) * pack_.to.panel * kAccumulatorBytes)},
                          kTurnedBytes});
    }
  }

  const Pack& pack_;
  const BlockFormat &blocks_, &panels_;
  ProcedureBuilder builder_;
  const VarId from_, to_;
  CopyPrefetch prefetch_;
  const int lanes_;
  BlockDecoder decoder_;
  const VarId array_, codes_, more_, number_;
  std::array<VarId, kTurned> rows_ = {};
};

}  // namespace

Procedure PanelsProcedure(const Pack& pack) { return BlockPanels(pack).Build(); }

}  // namespace kirsch
