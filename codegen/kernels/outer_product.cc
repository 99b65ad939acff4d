// SPDX-License-Identifier: Apache-2.0
// Writes the outer-product microkernel. The tile's accumulators stay in registers over the whole reduction.
// Every step loads one row of rhs as vectors and multiplies it by each broadcast element of a column of lhs.
// Where the arithmetic has groups, a step is a group of rows and of columns. A step k of a tile of two rows
// and one vector of columns:
//   b = rhs[k][0 .. 15]
//   a = lhs[0][k] in all lanes,  c0 += a * b
//   a = lhs[1][k] in all lanes,  c1 += a * b
#include <algorithm>
#include <array>

#include "codegen/kernels/form_writer.h"
#include "codegen/kernels/reduction_loops.h"
#include "codegen/kernels/vector_output.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// The constructor declares the variables and checks that the operands' layouts suit.
class OuterProduct : VectorFormWriter {
 public:
  explicit OuterProduct(const Microkernel& kernel)
      : VectorFormWriter(kernel),
        rhs_(builder_, kernel),
        factor_(OperandVector(builder_, "a", kernel.lhs_lanes(), kernel)),
        output_(builder_, kernel, parameters_, accumulators_) {
    // Panels along the reduction would not advance by a constant.
    KIRSCH_CHECK(kernel.rhs.order == Order::kRow);
    KIRSCH_CHECK(kernel.lhs.panel == 0 || kernel.lhs.order == Order::kCol);
    KIRSCH_CHECK(kernel.rhs.group == (Interleaves(kernel.tile) ? 1 : group()));
    KIRSCH_CHECK(!kernel.tile.instruction().groups_lhs() || kernel.lhs.order == Order::kRow);
    // A vector lies in one panel.
    KIRSCH_CHECK(kernel.rhs.panel == 0 || kernel.n <= kernel.rhs.panel ||
                 kernel.rhs.panel % kernel.tile.lanes == 0);
    if (kernel.one_by_one()) odd_factor_ = OperandVector(builder_, "a_odd", kernel.lhs_lanes(), kernel);
    // With groups, `factor_` has other elements than sums have.
    if (group() == 1) output_.UseForOld(factor_);
  }

  // The parts of the kernel in the order in which they run. What is left of a group comes after the loops: if
  // it is kTail, as one of group - 1 variants.
  Procedure Build() && {
    output_.Prefetch();
    FillExcess();
    output_.Start();
    sums_.Start();
    ForReduction(builder_, kernel_, parameters_, sums_, [&](int steps) { Steps(steps, group()); });
    if (parameters_.tail != kNoVar)
      builder_.SwitchOn(parameters_.tail, 1, static_cast<size_t>(group() - 1),
                        [&](size_t i) { Steps(1, static_cast<int>(i) + 1); });
    else if (kernel_.k_tail != 0)
      Steps(1, static_cast<int>(kernel_.k_tail));
    sums_.Finish();
    accumulators_.SumSets();
    output_.Store();
    return std::move(builder_).Build();
  }

 private:
  int group() const { return kernel_.tile.group(); }

  // Returns how many elements of vector j of rhs are read. Rhs's own padding may be read, so a packed vector
  // is whole even where the output's is not.
  LaneCount RhsCount(int j) const {
    const bool is_last =
        parameters_.last != kNoVar && kernel_.rhs.panel == 0 && j + 1 == kernel_.tile.columns;
    if (is_last) return {kernel_.tile.lanes, parameters_.last};  // of no groups: these are in panels
    const int64_t wanted = kernel_.rhs.panel == 0 ? kernel_.n - Lane(j) : kernel_.tile.lanes;
    return static_cast<int>(kernel_.rhs.group) *
           static_cast<int>(kernel_.rhs.Contiguous(Lane(j), std::min<int64_t>(wanted, kernel_.tile.lanes)));
  }
  // Writes `steps` groups of steps of the reduction, the accumulator sets taking turns. Of each group `count`
  // steps exist; rhs is filled up to whole groups.
  void Steps(int steps, int count) {
    for (int u = 0; u < steps; ++u) {
      const int64_t k = int64_t{u} * group();
      // With fences, the loads of a step, or of a row, take registers only within it.
      if (u > 0 && kernel_.fence_steps) builder_.Do(Fence{});
      for (int j = 0; j < kernel_.tile.columns && !kernel_.one_by_one(); ++j) ReadRhs(j, k, count);
      for (int64_t row = 0; kernel_.prefetches() && row < group(); row += kernel_.rhs.group)
        PrefetchRhs(k + row + kernel_.prefetch_k());
      Ask(builder_, kernel_, parameters_, k, count);
      for (int i = 0; i < kernel_.tile.rows; ++i) {
        if (i > 0 && kernel_.fence_rows) builder_.Do(Fence{});
        if (kernel_.one_by_one())
          OnlyRow(u, k, count);
        else
          Row(u, i, k, count);
      }
      SumExcess(u % kernel_.k_split, rhs_);
    }
    builder_.Do(Advance{parameters_.lhs, kernel_.AdvanceOf(kernel_.lhs, steps, LhsAt(0, steps * group()))});
    builder_.Do(Advance{parameters_.rhs, kernel_.AdvanceOf(kernel_.rhs, steps, RhsAt(steps * group(), 0))});
    if (kernel_.asked_lines != 0)
      builder_.Do(Advance{parameters_.asked, AskedRow(kernel_, parameters_, steps * group())});
  }

  // Reads vector j of row k, or of the group of rows that begins there, of which `count` exist.
  void ReadRhs(int j, int64_t k, int count) {
    const auto row = [&](int i) { return Address{parameters_.rhs, RhsAt(k + i, Lane(j))}; };
    if (!Interleaves(kernel_.tile)) return rhs_.Read(j, row(0), RhsCount(j));
    std::vector<Address> rows;
    for (int i = 0; i < count; ++i) rows.push_back(row(i));
    rhs_.ReadGroup(j, rows, RhsCount(j));
  }

  // Multiplies row i of lhs by all vectors of rhs. Of pairs, the elements of lhs come one by one, as far as
  // there are any.
  void Row(int u, int i, int64_t k, int count) {
    for (int part = 0; part < std::min(kernel_.parts(), count); ++part) {
      builder_.Do(
          Broadcast{factor_, {parameters_.lhs, LhsAt(i, k + part)}, kernel_.parts() == 1 ? count : 1});
      for (int j = 0; j < kernel_.tile.columns; ++j)
        Multiply(accumulators_.at(kernel_.SetOf(u, part), i, j), rhs_.at(j, part));
    }
  }

  // Multiplies a vector of rhs by the broadcast factor. Only the last operand of an instruction may be in
  // memory, and compilers exchange none of groups. A broadcast for a single column is better there
  // (bench/lab/2026-11-30-types.md).
  void Multiply(VarId accumulator, VarId rhs) {
    if (group() > 1 && kernel_.tile.columns == 1 && kernel_.lhs_lanes() == kernel_.rhs_lanes())
      builder_.Do(MultiplyAdd{accumulator, rhs, factor_});
    else
      builder_.Do(MultiplyAdd{accumulator, factor_, rhs});
  }

  // The same for pairs of rhs that are made one by one. All factors are broadcast before any vector of rhs is
  // made.
  void OnlyRow(int u, int64_t k, int count) {
    const std::array<VarId, 2> factors = {factor_, odd_factor_};
    const auto parts = static_cast<size_t>(std::min(kernel_.parts(), count));
    for (size_t part = 0; part < parts; ++part)
      builder_.Do(Broadcast{factors[part], {parameters_.lhs, LhsAt(0, k + static_cast<int64_t>(part))}, 1});
    for (int j = 0; j < kernel_.tile.columns; ++j) {
      if (j > 0) builder_.Do(Fence{});
      ReadRhs(j, k, count);
      for (size_t part = 0; part < parts; ++part) {
        const VarId rhs = rhs_.at(j, static_cast<int>(part));
        builder_.Do(MultiplyAdd{accumulators_.at(kernel_.SetOf(u, static_cast<int>(part)), 0, j),
                                factors[part], rhs});
        if (!kernel_.keeps(static_cast<int>(part))) continue;
        builder_.Do(Keep{rhs});
        builder_.Do(Keep{factors[part]});
      }
    }
  }

  // Elements in a cache line.
  static int64_t LineElements(const MatrixLayout& layout) { return kLineBytes / Bytes(layout.dtype); }

  // Prefetches, for each line of the tile's columns, what is as far ahead as the decision says. May point
  // past the end of rhs: a prefetch of memory that isn't there does nothing.
  void PrefetchRhs(int64_t step) {
    for (int64_t column = 0; column < kernel_.n; column += LineElements(kernel_.rhs) / kernel_.rhs.group)
      builder_.Do(Prefetch{{parameters_.rhs, RhsAt(step, column + kernel_.prefetch_n())},
                           kernel_.prefetches_into_l2});
  }

  const RhsVectors rhs_;
  const VarId factor_;  // the broadcast element of lhs, or group of them
  VarId odd_factor_ = kNoVar;
  VectorOutput output_;
};

}  // namespace

Procedure OuterProductProcedure(const Microkernel& kernel) { return OuterProduct(kernel).Build(); }

}  // namespace kirsch
