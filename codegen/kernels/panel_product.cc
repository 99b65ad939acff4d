// SPDX-License-Identifier: Apache-2.0
// Writes the outer-product microkernel of integers that share scales. Rows of lhs are of type q8; rhs is of
// blocks in panels (spec/block.h). For the steps of a block of lhs, products are summed as integers, which is
// exact, in accumulators of their own. The sums are made f32, multiplied by the scales of both, and added to
// the tile's accumulators. Where blocks of rhs are longer, their parts have factors of the numbers of a
// block. In each lane, which is a column, for row i:
//   dots = start of row i       (s32; it takes the bias of rhs off)
//   dots += 4 codes of row i * 4 codes of the column, word by word
//   sum += f32(dots) * scale of the column * scale of row i
#include <algorithm>
#include <vector>

#include "codegen/kernels/form_writer.h"
#include "codegen/kernels/panel_reader.h"
#include "codegen/kernels/vector_output.h"
#include "spec/block.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Each vector of sums has two registers: the integers of a block, and the sum in f32.
class PanelProduct : VectorFormWriter {
 public:
  explicit PanelProduct(const Microkernel& kernel)
      : VectorFormWriter(kernel),
        format_(FormatOf(kernel.rhs.dtype)),
        factors_(builder_.Vector("a", Dtype::kS8, kernel.tile.lanes * kWordSteps)),
        number_(builder_.Vector("number", Dtype::kF32, kernel.tile.lanes)),
        term_(builder_.Vector("term", Dtype::kF32, kernel.tile.lanes)),
        reader_(builder_, kernel.rhs, kernel.tile.lanes),
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

  // There is no rest: a trip takes a block of rhs, and blocks are whole.
  Procedure Build() && {
    output_.Prefetch();
    output_.Start();
    sums_.Start();
    reader_.Begin({parameters_.rhs, Constant(0)}, Constant(0));
    sums_.Loop(IndexOf(parameters_.trips), BlockOf(kernel_.rhs.dtype), Constant(0),
               [&](const Affine&) { Block(); });
    sums_.Finish();
    output_.Store();
    return std::move(builder_).Build();
  }

 private:
  // Steps of the reduction that share a scale of lhs; and those of them that share one of rhs.
  int steps() const { return kernel_.tile.group(); }
  int Part() const { return format_.part == 0 ? steps() : format_.part; }
  // The integers of row i and vector j.
  VarId Dots(int i, int j) const { return dots_[static_cast<size_t>(j * kernel_.tile.rows + i)]; }
  PanelReader::Columns Columns(int j) const { return reader_.ColumnsFrom(Lane(j)); }

  // Multiplies a block of rhs, of all rows and columns, which a trip of the loop is. It is as long as one or
  // several blocks of lhs.
  void Block() {
    for (first_ = 0; first_ < BlockOf(kernel_.rhs.dtype); first_ += steps()) BlockOfLhs();
    builder_.Do(Advance{parameters_.rhs, Constant(BlockBytes())});
  }

  // Returns the bytes of a panel that a trip takes.
  int64_t BlockBytes() const {
    return Bytes(kernel_.rhs.dtype, kernel_.rhs.At(BlockOf(kernel_.rhs.dtype), 0));
  }

  // Multiplies a block of lhs, part by part of rhs: integers, then what their sums are multiplied by.
  void BlockOfLhs() {
    if (kernel_.prefetches()) Prefetch();
    for (int k = 0; k < steps(); k += Part()) {
      Start(k);
      for (int word = k; word < k + Part(); word += kWordSteps) AddProducts(word);
      AddScaled((first_ + k) / Part());
    }
    if (format_.offset_byte >= 0) AddOffsets(first_ / Part());
    builder_.Do(Advance{parameters_.lhs, Constant(Bytes(kernel_.lhs.dtype, steps()))});
  }

  // Begins the sums of integers with what the codes of rhs make them too much, negative. All columns begin
  // with the same, so it is broadcast once for a row and copied.
  void Start(int k) {
    for (int i = 0; i < kernel_.tile.rows; ++i)
      for (int j = 0; j < kernel_.tile.columns; ++j)
        if (format_.bias == 0)
          builder_.Do(Zero{Dots(i, j)});
        else if (j > 0)
          builder_.Do(Bits{Dots(i, j), Dots(i, 0)});
        else
          builder_.Do(Broadcast{Dots(i, 0), LhsByte(i, StartByte(k)), 1, Dtype::kS32});
  }

  // Returns where a block of lhs has the start for the bias of rhs. For kLongBias there is one for each half.
  int StartByte(int k) const {
    KIRSCH_CHECK((Part() < steps()) == (format_.bias == kLongBias));
    if (format_.bias == kLongBias) return kQ8HalfStarts + k / Part() * kWordBytes;
    return format_.bias == kNibbleBias ? kQ8NibbleStart : kQ8Start;
  }

  // Writes a fence. Else compilers load codes, factors and numbers of all columns before they use any, and
  // registers run out.
  void KeepLoadsHere() {
    if (kernel_.fence_steps) builder_.Do(Fence{});
  }

  // Multiplies a word of each column of rhs by that of each row of lhs: four steps of the reduction.
  void AddProducts(int k) {
    for (int j = 0; j < kernel_.tile.columns; ++j) {
      KeepLoadsHere();
      reader_.Codes(codes_[static_cast<size_t>(j)], first_ + k, Columns(j));
    }
    for (int i = 0; i < kernel_.tile.rows; ++i) {
      builder_.Do(Broadcast{factors_, LhsByte(i, FormatOf(kernel_.lhs.dtype).code(k).byte), kWordSteps});
      for (int j = 0; j < kernel_.tile.columns; ++j)
        builder_.Do(MultiplyAdd{Dots(i, j), factors_, codes_[static_cast<size_t>(j)]});
    }
  }

  // Scales the sums of a part of rhs and adds them to the tile's.
  void AddScaled(int part) {
    for (int j = 0; j < kernel_.tile.columns; ++j) {
      KeepLoadsHere();
      reader_.Scale(numbers_[static_cast<size_t>(j)], part, Columns(j));
    }
    for (int i = 0; i < kernel_.tile.rows; ++i) {
      builder_.Do(Broadcast{number_, LhsByte(i, 0), 1, Dtype::kF32});
      for (int j = 0; j < kernel_.tile.columns; ++j) {
        builder_.Do(Convert{term_, Dots(i, j)});
        builder_.Do(Binary{BinaryOp::kMul, term_, term_, numbers_[static_cast<size_t>(j)]});
        AddTo(i, j, term_);
      }
    }
  }

  // An offset is the same for all elements of a part, so it is multiplied by their sum, which q8 has scaled
  // already.
  void AddOffsets(int part) {
    for (int j = 0; j < kernel_.tile.columns; ++j) {
      KeepLoadsHere();
      reader_.Offset(numbers_[static_cast<size_t>(j)], part, Columns(j));
    }
    for (int i = 0; i < kernel_.tile.rows; ++i) {
      builder_.Do(Broadcast{number_, LhsByte(i, kQ8ScaledSum), 1, Dtype::kF32});
      for (int j = 0; j < kernel_.tile.columns; ++j) AddTo(i, j, numbers_[static_cast<size_t>(j)]);
    }
  }

  // Adds a product with the number of the row: its scale, or its scaled sum.
  void AddTo(int i, int j, VarId term) {
    const VarId sum = accumulators_.at(0, i, j);
    builder_.Do(Fma{sum, term, number_, sum});
  }

  // Prefetches these steps' share of what a trip reads of rhs, as far ahead as the decision says. Shares
  // spread the lines of a long block over the trip.
  void Prefetch() {
    const int64_t ahead =
        Bytes(kernel_.rhs.dtype, kernel_.rhs.At(kernel_.prefetch_k(), kernel_.prefetch_n()));
    const int64_t lines = (BlockBytes() + kLineBytes - 1) / kLineBytes, end = BlockOf(kernel_.rhs.dtype);
    for (int64_t panel = 0; panel < kernel_.n; panel += kernel_.rhs.panel)
      for (int64_t line = lines * first_ / end; line < lines * (first_ + steps()) / end; ++line)
        builder_.Do(
            kirsch::Prefetch{At(parameters_.rhs, ahead + Bytes(kernel_.rhs.dtype, kernel_.rhs.At(0, panel)) +
                                                     line * kLineBytes)});
  }

  const BlockFormat& format_;
  const VarId factors_, number_;  // of a row of lhs: a word, and an f32
  const VarId term_;              // what is added
  int first_ = 0;                 // step of the block
  std::vector<VarId> codes_, numbers_, dots_;
  PanelReader reader_;
  VectorOutput output_;
};

}  // namespace

Procedure PanelProductProcedure(const Microkernel& kernel) { return PanelProduct(kernel).Build(); }

}  // namespace kirsch
