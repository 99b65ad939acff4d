// SPDX-License-Identifier: Apache-2.0
// Writes the dot-product microkernel. Lhs rows and rhs columns are contiguous along the reduction, so a whole
// vector of its steps is one multiply-add (of pairs: two) per output element. The lanes of each accumulator
// are summed at the end. A trip of a tile of two rows and one column, with 16 lanes:
//   b = rhs[k .. k + 15][0]
//   a = lhs[0][k .. k + 15],  c00 += a * b
//   a = lhs[1][k .. k + 15],  c10 += a * b
#include <algorithm>
#include <array>
#include <optional>

#include "codegen/kernels/block_decoder.h"
#include "codegen/kernels/dot_output.h"
#include "codegen/kernels/form_writer.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// Writes one kernel. Blocks of rhs are decoded first (Blocks); all other rhs is read as it lies (Vectors).
class DotProduct : VectorFormWriter {
 public:
  explicit DotProduct(const Microkernel& kernel)
      : VectorFormWriter(kernel),
        rhs_(builder_, kernel),
        lhs_({OperandVector(builder_, "a", kernel.lhs_lanes(), kernel), kNoVar}),
        output_(builder_, kernel, parameters_, accumulators_) {
    KIRSCH_CHECK(kernel.lhs.order == Order::kRow && kernel.lhs.panel == 0);
    KIRSCH_CHECK(kernel.rhs.order == Order::kCol && kernel.rhs.panel == 0);
    if (IsOfBlocks(kernel.rhs.dtype))
      decoder_.emplace(builder_, kernel.rhs.dtype, kernel.rhs_lanes(), kernel.tile.vector_bytes(),
                       kernel.tile.by_tables);
    // Pairs need two vectors of lhs as well: even and odd elements.
    if (kernel.parts() == 1) return;
    lhs_[1] = OperandVector(builder_, "a_odd", kernel.lhs_lanes(), kernel);
    if (kernel.tile.widens_lhs > 0) lhs_words_ = OperandVector(builder_, "a_words", kernel.lhs.dtype, kernel);
  }

  Procedure Build() && {
    // The main loop, single vectors, and what is left of the reduction, as a masked vector.
    const int whole = static_cast<int>(kernel_.step());
    accumulators_.Clear();
    sums_.Start();
    FillExcess();
    sums_.Loop(IndexOf(parameters_.trips), kernel_.unroll * kernel_.step(), Constant(0),
               [&](const Affine& trip) {
                 if (decoder_) return Blocks(kernel_.unroll);
                 if (kernel_.prefetches_in_order) PrefetchInOrder(trip, kernel_.unroll, {});
                 Vectors(kernel_.unroll, whole);
               });
    if (parameters_.rest != kNoVar)
      builder_.Loop(IndexOf(parameters_.rest), [&](VarId trip) {
        if (decoder_) return Blocks(1);
        const Affine before = Times(IndexOf(parameters_.trips), kernel_.unroll * kernel_.step());
        if (kernel_.prefetches_in_order) PrefetchInOrder(IndexOf(trip), 1, before);
        Vectors(1, whole);
      });
    if (parameters_.tail != kNoVar)
      builder_.WithAny(parameters_.tail, [&] { Vectors(1, {whole, parameters_.tail}); });
    else if (kernel_.k_tail != 0)
      Vectors(1, static_cast<int>(kernel_.k_tail));
    sums_.Finish();
    output_.Store();
    return std::move(builder_).Build();
  }

 private:
  // Multiplies `vectors` vectors of the reduction, the accumulator sets taking turns. Of each vector `count`
  // elements exist.
  void Vectors(int vectors, const LaneCount& count) {
    for (int u = 0; u < vectors; ++u) {
      // Fences keep the loads of a step in it, and with fence_rows those of a row. See FitToRegisters.
      if (u > 0 && kernel_.fence_steps) builder_.Do(Fence{});
      const int64_t k = u * kernel_.step();
      for (int j = 0; j < kernel_.tile.columns && !kernel_.one_by_one(); ++j) ReadRhs(j, k, count);
      // One prefetch for each line of a column.
      if (kernel_.prefetches() && !kernel_.prefetches_in_order && k % LineElements() == 0) PrefetchRhs(k);
      for (int i = 0; i < kernel_.tile.rows; ++i) {
        if (i > 0 && kernel_.fence_rows) builder_.Do(Fence{});
        ReadLhs(i, k, count);
        for (int j = 0; j < kernel_.tile.columns; ++j) {
          if (j > 0 && kernel_.one_by_one()) builder_.Do(Fence{});
          if (kernel_.one_by_one()) ReadRhs(j, k, count);
          for (int part = 0; part < kernel_.parts(); ++part) {
            builder_.Do(MultiplyAdd{accumulators_.at(kernel_.SetOf(u, part), i, j),
                                    lhs_[static_cast<size_t>(part)], rhs_.at(j, part)});
            if (!kernel_.keeps(part)) continue;
            builder_.Do(Keep{rhs_.at(j, part)});
            builder_.Do(Keep{lhs_[static_cast<size_t>(part)]});
          }
        }
      }
      SumExcess(u % kernel_.k_split, rhs_);
    }
    const int64_t steps = vectors * kernel_.step();
    builder_.Do(Advance{parameters_.lhs, Constant(steps)});
    builder_.Do(Advance{parameters_.rhs, Constant(steps)});
  }

  // Multiplies so many vectors of each column of rhs: a block, or, where elements stand by themselves, any
  // number. Columns go one by one: each vector is decoded once and multiplied by all rows of lhs.
  void Blocks(int vectors) {
    const MatrixLayout& rhs = kernel_.rhs;
    const int steps = vectors * static_cast<int>(kernel_.step());
    for (int j = 0; j < kernel_.tile.columns; ++j) {
      // Vectors of lhs are loaded for each column: to keep them for the next takes registers from the sums.
      if (j > 0 && kernel_.fence_steps) builder_.Do(Fence{});
      if (kernel_.prefetches()) PrefetchBlocks(j, steps);
      decoder_->Begin(0, At(parameters_.rhs, Bytes(rhs.dtype, rhs.At(0, j))), steps);
      for (int u = 0; u < vectors; ++u) {
        const int64_t k = u * kernel_.step();
        decoder_->Read(rhs_.at(0, 0), 0, static_cast<int>(k));
        for (int i = 0; i < kernel_.tile.rows; ++i) {
          ReadLhs(i, k, static_cast<int>(kernel_.step()));
          builder_.Do(MultiplyAdd{accumulators_.at(kernel_.SetOf(u, 0), i, j), lhs_[0], rhs_.at(0, 0)});
        }
      }
    }
    builder_.Do(Advance{parameters_.lhs, Constant(steps)});
    builder_.Do(Advance{parameters_.rhs, Constant(Bytes(rhs.dtype, steps))});
  }

  // Prefetches what a trip of so many steps reads of a column, as far ahead as the kernel's decision says.
  void PrefetchBlocks(int j, int steps) {
    const MatrixLayout& rhs = kernel_.rhs;
    const int64_t ahead = Bytes(rhs.dtype, rhs.At(kernel_.prefetch_k(), j + kernel_.prefetch_n()));
    for (int64_t byte = 0; byte < Bytes(rhs.dtype, steps); byte += kLineBytes)
      builder_.Do(Prefetch{At(parameters_.rhs, ahead + byte)});
  }

  void ReadRhs(int j, int64_t k, const LaneCount& count) {
    rhs_.Read(j, {parameters_.rhs, RhsAt(k, j)}, count);
  }

  // Reads a row of lhs. Of pairs it becomes two vectors: bf16 is split like rhs; f32 is loaded as two
  // vectors, whose even and odd elements are then parted by shuffles.
  void ReadLhs(int i, int64_t k, const LaneCount& count) {
    const int lanes = kernel_.tile.lanes;
    const auto [even, odd] = lhs_;
    const auto address = [&](int64_t first) -> Address { return {parameters_.lhs, LhsAt(i, first)}; };
    if (kernel_.parts() == 1) return builder_.Do(Load{even, address(k), count});
    if (lhs_words_ != kNoVar) {
      builder_.Do(Load{lhs_words_, address(k), count});
      return builder_.Do(SplitPairs{even, odd, lhs_words_});
    }
    KIRSCH_CHECK(count.index == kNoVar);
    builder_.Do(Load{even, address(k), std::min(count.most, lanes)});
    if (count.most > lanes)
      builder_.Do(Load{odd, address(k + lanes), count.most - lanes});
    else
      builder_.Do(Zero{odd});
    builder_.Do(Deinterleave{even, odd});
  }

  // Elements in a cache line of rhs.
  int64_t LineElements() const { return kLineBytes / Bytes(kernel_.rhs.dtype); }

  // May point past the end of rhs: a prefetch of memory that isn't there does nothing.
  void PrefetchRhs(int64_t k) {
    for (int j = 0; j < kernel_.tile.columns; ++j)
      builder_.Do(Prefetch{{parameters_.rhs, RhsAt(k + kernel_.prefetch_k(), j + kernel_.prefetch_n())}});
  }

  // Prefetches lines behind this tile's columns, in the order in which they lie in memory: as many as a trip
  // of so many vectors reads of all columns. A trip moves the pointer by its share of one column, but
  // prefetches the shares of all. So what trips and the steps `before` them have prefetched beyond the
  // pointer is added.
  void PrefetchInOrder(const Affine& trip, int vectors, const Affine& before) {
    const int64_t columns = kernel_.tile.columns, steps = vectors * kernel_.step();
    Affine next = RhsAt(0, kernel_.prefetch_n());
    if (columns > 1) next = Plus(Plus(next, Times(before, columns - 1)), Times(trip, (columns - 1) * steps));
    for (int64_t i = 0; i < columns * steps; i += LineElements())
      builder_.Do(Prefetch{{parameters_.rhs, Plus(next, i)}, true});
  }

  const RhsVectors rhs_;
  std::array<VarId, 2> lhs_;  // its parts
  DotOutput output_;
  VarId lhs_words_ = kNoVar;  // of pairs, both of bf16
  std::optional<BlockDecoder> decoder_;
};

}  // namespace

Procedure DotProductProcedure(const Microkernel& kernel) { return DotProduct(kernel).Build(); }

}  // namespace kirsch
