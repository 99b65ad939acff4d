// The outer-product microkernel of integers that share scales: rows of lhs are of type q8, rhs is of blocks
// in panels (spec/block.h). For a block of steps of the reduction, products are summed as integers, which is
// exact, in accumulators of their own; the sums are made f32, multiplied by the scales of both, and added to
// the tile's accumulators.
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
        half_(Part() == steps() ? kNoVar : builder_.Vector("half", Dtype::kS32, kernel.tile.lanes)),
        output_(builder_, kernel, parameters_, accumulators_) {
    KIRSCH_CHECK(kernel.lhs.dtype == Dtype::kQ8 && kernel.lhs.order == Order::kRow && kernel.lhs.panel == 0);
    KIRSCH_CHECK(kernel.rhs.order == Order::kRow && kernel.rhs.group == steps() && kernel.k_tail == 0);
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

  // A block of all rows and columns, which a trip of the loop is.
  void Block() {
    if (kernel_.prefetches()) Prefetch();
    for (int part = 0; part * Part() < steps(); ++part) {
      Start(part);
      for (int k = part * Part(); k < (part + 1) * Part(); k += kWordSteps) AddProducts(k);
      AddScaled(part);
    }
    if (format_.offset_byte >= 0) AddOffsets();
    builder_.Do(Advance{parameters_.lhs, Constant(BytesOf(kernel_.lhs.dtype, steps()))});
    builder_.Do(Advance{parameters_.rhs, Constant(BytesOf(kernel_.rhs.dtype, kernel_.rhs.At(steps(), 0)))});
  }

  // Sums of integers begin with what the codes of rhs make them too much, negative.
  void Start(int part) {
    for (int i = 0; i < kernel_.tile.rows; ++i)
      for (int j = 0; j < kernel_.tile.columns; ++j)
        if (format_.bias == 0)
          builder_.Do(Zero{Dots(i, j)});
        else if (j > 0)
          builder_.Do(Bits{Dots(i, j), Dots(i, 0)});
        else
          StartRow(i, part);
  }

  // Of a second half, with what is left of the block's.
  void StartRow(int i, int part) {
    const bool first_half = part == 0 && Part() < steps();
    const int start = format_.bias == kNibbleBias ? kQ8NibbleStart : first_half ? kQ8HalfStart : kQ8Start;
    builder_.Do(Broadcast{Dots(i, 0), Lhs(i, start), 1, Dtype::kS32});
    if (part == 0) return;
    builder_.Do(Broadcast{half_, Lhs(i, kQ8HalfStart), 1, Dtype::kS32});
    builder_.Do(Binary{BinaryOp::kSub, Dots(i, 0), Dots(i, 0), half_});
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

  // Words of both halves of a block share their bytes where codes are halves of those.
  void ReadCodes(int k, int j) {
    const VarId codes = codes_[static_cast<size_t>(j)];
    const BlockBits at = format_.code(k);
    builder_.Do(Load{codes, Rhs(j, at.byte), Count(j) * kWordSteps});
    if (at.shift != 0)
      builder_.Do(Shift{codes, codes, -at.shift});
    else if (lower_ != kNoVar)
      builder_.Do(Binary{BinaryOp::kAnd, codes, codes, lower_});
  }

  // Vectors of an f32 of each column's block.
  void ReadNumbers(int byte) {
    for (int j = 0; j < kernel_.tile.columns; ++j)
      builder_.Do(Load{numbers_[static_cast<size_t>(j)], Rhs(j, byte), Count(j), Dtype::kF32});
  }

  void AddScaled(int part) {
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

  void AddOffsets() {
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

  // What a trip reads of rhs, further on.
  void Prefetch() {
    const int64_t ahead = BytesOf(kernel_.rhs.dtype, kernel_.rhs.At(kernel_.prefetch_k, kernel_.prefetch_n));
    const int64_t bytes = BytesOf(kernel_.rhs.dtype, kernel_.rhs.At(steps(), 0));
    for (int64_t panel = 0; panel < kernel_.n; panel += kernel_.rhs.panel)
      for (int64_t byte = 0; byte < bytes; byte += kLineBytes)
        builder_.Do(kirsch::Prefetch{
            At(parameters_.rhs, ahead + BytesOf(kernel_.rhs.dtype, kernel_.rhs.At(0, panel)) + byte)});
  }

  const Microkernel& kernel_;
  const BlockFormat& format_;
  ProcedureBuilder builder_;
  const MicrokernelParameters parameters_;
  const AccumulatorSets accumulators_;
  const VarId factors_, number_;  // of a row of lhs: a word, and an f32
  const VarId term_;              // what is added
  const VarId lower_;             // a mask of the lower halves of bytes, where codes are those
  const VarId half_;              // what is taken off a start
  std::vector<VarId> codes_, numbers_, dots_;
  VectorOutput output_;
};

}  // namespace

Procedure PanelProductProcedure(const Microkernel& kernel) { return PanelProduct(kernel).Build(); }

}  // namespace kirsch
