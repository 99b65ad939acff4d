// The outer-product microkernel of integers that share scales: rows of lhs are of type q8, rhs is of blocks
// in panels (spec/block.h). For the steps of a block of lhs, products are summed as integers, which is exact,
// in accumulators of their own; the sums are made f32, multiplied by the scales of both, and added to the
// tile's accumulators. Where blocks of rhs are longer, their parts have factors of the numbers of a block.
#include <algorithm>
#include <vector>

#include "codegen/kernels/accumulators.h"
#include "codegen/kernels/block_panels.h"
#include "codegen/kernels/microkernels.h"
#include "codegen/kernels/vector_output.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/block.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr int kWordSteps = kAccumulatorBytes;  // a code has 8 bits, once it is read
constexpr int kByteBits = 8;

class PanelProduct {
 public:
  explicit PanelProduct(const Microkernel& kernel)
      : kernel_(kernel),
        format_(FormatOf(kernel.rhs.dtype)),
        builder_(kernel.Name()),
        parameters_(builder_, kernel),
        accumulators_(builder_, kernel),
        factors_(builder_.Vector("a", Dtype::kS8, kernel.tile.lanes * kWordSteps)),
        number_(builder_.Vector("number", Dtype::kF32, kernel.tile.lanes)),
        term_(builder_.Vector("term", Dtype::kF32, kernel.tile.lanes)),
        lower_(HasNibbles(kernel.rhs.dtype)
                   ? builder_.Filled(Dtype::kU8, kernel.tile.lanes * kWordSteps, 0x0f0f0f0fu)
                   : kNoVar),
        higher_(HasHigherBits(kernel.rhs.dtype)
                    ? builder_.Vector("higher", Dtype::kU8, kernel.tile.lanes * kWordSteps)
                    : kNoVar),
        whole_(HasFactors() ? builder_.Vector("whole", Dtype::kF32, kernel.tile.lanes) : kNoVar),
        factor_(HasFactors() ? builder_.Vector("factor", Dtype::kS32, kernel.tile.lanes) : kNoVar),
        output_(builder_, kernel, parameters_, accumulators_) {
    KIRSCH_CHECK(kernel.lhs.dtype == Dtype::kQ8 && kernel.lhs.order == Order::kRow && kernel.lhs.panel == 0);
    KIRSCH_CHECK(kernel.rhs.order == Order::kRow && kernel.k_tail == 0 && steps() == BlockOf(Dtype::kQ8));
    KIRSCH_CHECK(kernel.rhs.group == BlockOf(kernel.rhs.dtype) &&
                 kernel.unroll * steps() == kernel.rhs.group);
    KIRSCH_CHECK(kernel.n <= kernel.rhs.panel || kernel.rhs.panel % kernel.tile.lanes == 0);
    for (int j = 0; j < kernel.tile.columns; ++j) {
      codes_.push_back(builder_.Vector(Cat("b", j), Dtype::kU8, kernel.tile.lanes * kWordSteps));
      numbers_.push_back(builder_.Vector(Cat("b", j, "_number"), Dtype::kF32, kernel.tile.lanes));
      for (int i = 0; i < kernel.tile.rows; ++i)
        dots_.push_back(builder_.Vector(Cat("dots", i, "_", j), Dtype::kS32, kernel.tile.lanes));
    }
  }

  Procedure Build() && {
    output_.Prefetch();
    output_.Start();
    builder_.Loop(IndexOf(parameters_.trips), [&](VarId) { Block(); });
    output_.Store();
    return std::move(builder_).Build();
  }

 private:
  int steps() const { return kernel_.tile.group(); }
  int Part() const { return format_.part == 0 ? steps() : format_.part; }
  bool HasFactors() const { return kirsch::HasFactors(kernel_.rhs.dtype); }
  VarId Dots(int i, int j) const { return dots_[static_cast<size_t>(j * kernel_.tile.rows + i)]; }

  // Columns of vector `j` that its panel has.
  int Count(int j) const {
    const int64_t column = output_.Lane(j) % kernel_.rhs.panel;
    return static_cast<int>(std::min<int64_t>(kernel_.tile.lanes, kernel_.rhs.panel - column));
  }
  Address Rhs(int j, int byte) const {
    return At(parameters_.rhs, WordInPanels(kernel_.rhs, 0, output_.Lane(j), byte));
  }
  Address Lhs(int i, int byte) const {
    return At(parameters_.lhs, BytesOf(kernel_.lhs.dtype, kernel_.lhs.At(i, 0)) + byte);
  }

  // A block of rhs, of all rows and columns, which a trip of the loop is.
  void Block() {
    for (first_ = 0; first_ < BlockOf(kernel_.rhs.dtype); first_ += steps()) BlockOfLhs();
    builder_.Do(Advance{parameters_.rhs, Constant(BlockBytes())});
  }

  // Bytes of a panel's blocks for the same steps.
  int64_t BlockBytes() const {
    return BytesOf(kernel_.rhs.dtype, kernel_.rhs.At(BlockOf(kernel_.rhs.dtype), 0));
  }

  void BlockOfLhs() {
    if (kernel_.prefetches()) Prefetch();
    for (int k = 0; k < steps(); k += Part()) {
      Start(k);
      for (int word = k; word < k + Part(); word += kWordSteps) AddProducts(word);
      AddScaled((first_ + k) / Part());
    }
    if (format_.offset_byte >= 0) AddOffsets(first_ / Part());
    builder_.Do(Advance{parameters_.lhs, Constant(BytesOf(kernel_.lhs.dtype, steps()))});
  }

  // Sums of integers begin with what the codes of rhs make them too much, negative.
  void Start(int k) {
    for (int i = 0; i < kernel_.tile.rows; ++i)
      for (int j = 0; j < kernel_.tile.columns; ++j)
        if (format_.bias == 0)
          builder_.Do(Zero{Dots(i, j)});
        else if (j > 0)
          builder_.Do(Bits{Dots(i, j), Dots(i, 0)});
        else
          builder_.Do(Broadcast{Dots(i, 0), Lhs(i, StartByte(k)), 1, Dtype::kS32});
  }

  int StartByte(int k) const {
    KIRSCH_CHECK((Part() < steps()) == (format_.bias == kLongBias));
    if (format_.bias == kLongBias) return kQ8HalfStarts + k / Part() * kAccumulatorBytes;
    return format_.bias == kNibbleBias ? kQ8NibbleStart : kQ8Start;
  }

  // A word of each column of rhs, times that of each row of lhs.
  void AddProducts(int k) {
    if (kernel_.fence_steps) builder_.Do(Fence{});
    for (int j = 0; j < kernel_.tile.columns; ++j) ReadCodes(k, j);
    for (int i = 0; i < kernel_.tile.rows; ++i) {
      builder_.Do(Broadcast{factors_, Lhs(i, FormatOf(kernel_.lhs.dtype).code(k).byte), kWordSteps});
      for (int j = 0; j < kernel_.tile.columns; ++j)
        builder_.Do(MultiplyAdd{Dots(i, j), factors_, codes_[static_cast<size_t>(j)]});
    }
  }

  // Words of both halves share their bytes where codes are halves of those; their higher bits, if there are
  // any, those of four words.
  void ReadCodes(int k, int j) {
    const VarId codes = codes_[static_cast<size_t>(j)];
    const BlockBits at = format_.code(first_ + k);
    builder_.Do(Load{codes, Rhs(j, at.byte), Count(j) * kWordSteps});
    if (at.shift != 0)
      builder_.Do(Shift{codes, codes, -at.shift});
    else if (lower_ != kNoVar)
      builder_.Do(Binary{BinaryOp::kAnd, codes, codes, lower_});
    if (higher_ != kNoVar) AddHigherBits(codes, at, j);
  }

  void AddHigherBits(VarId codes, const BlockBits& at, int j) {
    constexpr uint32_t kHigherBits = 0x30303030u;
    builder_.Do(Load{higher_, Rhs(j, at.high_byte), Count(j) * kWordSteps});
    if (const int left = at.bits - at.high_shift; left != 0) builder_.Do(Shift{higher_, higher_, left});
    builder_.Do(Binary{BinaryOp::kAnd, higher_, higher_,
                       builder_.Filled(Dtype::kU8, kernel_.tile.lanes * kWordSteps, kHigherBits)});
    builder_.Do(Binary{BinaryOp::kOr, codes, codes, higher_});
  }

  // Vectors of an f32 of each column's block.
  void ReadNumbers(int byte) {
    for (int j = 0; j < kernel_.tile.columns; ++j)
      builder_.Do(Load{numbers_[static_cast<size_t>(j)], Rhs(j, byte), Count(j), Dtype::kF32});
  }

  // The same, times the factors of a part, which are bytes of words.
  void ReadNumbers(int byte, const BlockBits& factor, bool has_sign) {
    KIRSCH_CHECK(factor.shift == 0 && factor.bits == kByteBits && factor.high_byte < 0);
    for (int j = 0; j < kernel_.tile.columns; ++j) {
      const VarId number = numbers_[static_cast<size_t>(j)];
      ReadFactor(j, factor.byte, has_sign);
      builder_.Do(Convert{number, factor_});
      builder_.Do(Load{whole_, Rhs(j, byte), Count(j), Dtype::kF32});
      builder_.Do(Binary{BinaryOp::kMul, number, number, whole_});
    }
  }

  void ReadFactor(int j, int byte, bool has_sign) {
    const int last = kAccumulatorBytes - 1, place = byte % kAccumulatorBytes;
    const auto filled = [&](uint32_t word) { return builder_.Filled(Dtype::kS32, kernel_.tile.lanes, word); };
    builder_.Do(Load{factor_, Rhs(j, byte), Count(j), Dtype::kS32});
    if (place > 0) builder_.Do(Shift{factor_, factor_, -place * kByteBits});
    if (place < last) builder_.Do(Binary{BinaryOp::kAnd, factor_, factor_, filled(0xff)});
    if (!has_sign) return;  // else it is 128 too much once its highest bit is turned
    builder_.Do(Binary{BinaryOp::kXor, factor_, factor_, filled(0x80)});
    builder_.Do(Binary{BinaryOp::kSub, factor_, factor_, filled(0x80)});
  }

  void AddScaled(int part) {
    if (HasFactors())
      ReadNumbers(format_.scale_byte, format_.scale_factor(part), format_.signed_factors);
    else
      ReadNumbers(format_.scale_byte + part * kAccumulatorBytes);
    for (int i = 0; i < kernel_.tile.rows; ++i) {
      builder_.Do(Broadcast{number_, Lhs(i, 0), 1, Dtype::kF32});
      for (int j = 0; j < kernel_.tile.columns; ++j) {
        builder_.Do(Convert{term_, Dots(i, j)});
        builder_.Do(Binary{BinaryOp::kMul, term_, term_, numbers_[static_cast<size_t>(j)]});
        AddTo(i, j, term_);
      }
    }
  }

  void AddOffsets(int part) {
    if (format_.offset_factor != nullptr)
      ReadNumbers(format_.offset_byte, format_.offset_factor(part), false);
    else
      ReadNumbers(format_.offset_byte);
    for (int i = 0; i < kernel_.tile.rows; ++i) {
      builder_.Do(Broadcast{number_, Lhs(i, kQ8ScaledSum), 1, Dtype::kF32});
      for (int j = 0; j < kernel_.tile.columns; ++j) AddTo(i, j, numbers_[static_cast<size_t>(j)]);
    }
  }

  void AddTo(int i, int j, VarId term) {
    const VarId sum = accumulators_.at(0, i, j);
    builder_.Do(Fma{sum, term, number_, sum});
  }

  // These steps' share of what a trip reads of rhs, further on.
  void Prefetch() {
    const int64_t ahead = BytesOf(kernel_.rhs.dtype, kernel_.rhs.At(kernel_.prefetch_k, kernel_.prefetch_n));
    const int64_t lines = (BlockBytes() + kLineBytes - 1) / kLineBytes, end = BlockOf(kernel_.rhs.dtype);
    for (int64_t panel = 0; panel < kernel_.n; panel += kernel_.rhs.panel)
      for (int64_t line = lines * first_ / end; line < lines * (first_ + steps()) / end; ++line)
        builder_.Do(kirsch::Prefetch{
            At(parameters_.rhs,
               ahead + BytesOf(kernel_.rhs.dtype, kernel_.rhs.At(0, panel)) + line * kLineBytes)});
  }

  const Microkernel& kernel_;
  const BlockFormat& format_;
  ProcedureBuilder builder_;
  const MicrokernelParameters parameters_;
  const AccumulatorSets accumulators_;
  const VarId factors_, number_;  // of a row of lhs: a word, and an f32
  const VarId term_;              // what is added
  const VarId lower_;             // a mask of the lower halves of bytes, where codes are those
  const VarId higher_;            // bits of codes, where not all are in those halves
  const VarId whole_, factor_;    // what are multiplied where parts have factors: an f32, and s32
  int first_ = 0;                 // step of the block
  std::vector<VarId> codes_, numbers_, dots_;
  VectorOutput output_;
};

}  // namespace

Procedure PanelProductProcedure(const Microkernel& kernel) { return PanelProduct(kernel).Build(); }

}  // namespace kirsch
