// SPDX-License-Identifier: Apache-2.0
// Holds what all forms of microkernels have in common: their parameters, their vectors of rhs, their
// accumulators.
#ifndef KIRSCH_CODEGEN_KERNELS_ACCUMULATORS_H_
#define KIRSCH_CODEGEN_KERNELS_ACCUMULATORS_H_

#include <string>
#include <vector>

#include "codegen/kernels/block_decoder.h"
#include "codegen/kernels/microkernels.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/interleaving.h"
#include "spec/text/cat.h"

namespace kirsch {

// Declares the parameters of a microkernel, in the order that MicrokernelProcedure (microkernels.h)
// documents. Variables that the kernel does not take are kNoVar.
struct MicrokernelParameters {
  MicrokernelParameters(ProcedureBuilder& builder, const Microkernel& kernel)
      : lhs(builder.PointerParameter("lhs", PointeeOf(kernel.lhs.dtype), false)),
        rhs(builder.PointerParameter("rhs", PointeeOf(kernel.rhs.dtype), false)),
        out(builder.PointerParameter("out", kernel.out.dtype, true)),
        arguments(ArgumentParameters(builder, kernel)),
        asked(kernel.asked_lines != 0
                  ? builder.PointerParameter("asked", PointeeOf(kernel.asked.dtype), false)
                  : kNoVar),
        trips(builder.IndexParameter("trips")),
        rest(kernel.has_rest() ? builder.IndexParameter("rest") : kNoVar) {
    for (int loop = 0; loop < kernel.outer_loops(); ++loop)
      outer.push_back(builder.IndexParameter(Cat("runs", loop + 1)));
    if (!kernel.k_tail.IsConstant()) tail = builder.IndexParameter("tail");
    if (!kernel.accumulate.IsConstant()) adds = builder.IndexParameter(kAddsParameter);
    if (Takes(TileShape(kernel), SizeSymbol::kStride)) size = builder.IndexParameter("size");
    if (!kernel.n.IsConstant()) last = builder.IndexParameter("last");
  }

  // Writes `add` in a kernel that adds to its output: under a test where it is told so when it runs.
  template <typename Add>
  void WhereItAdds(ProcedureBuilder& builder, const Add& add) const {
    if (adds == kNoVar) return add();
    builder.WithAny(adds, add);
  }

  // Declares a pointer for each operand of the epilogue that is in memory, in the order of its steps.
  static std::vector<VarId> ArgumentParameters(ProcedureBuilder& builder, const Microkernel& kernel) {
    std::vector<VarId> arguments;
    for (const EpilogueArgument& argument : kernel.arguments)
      arguments.push_back(builder.PointerParameter(Cat("arg", arguments.size() + 1), argument.dtype, false));
    return arguments;
  }

  // Pointers. The loops over the reduction advance lhs, rhs and asked; out stays at the tile's first element.
  VarId lhs, rhs, out;
  std::vector<VarId> arguments;
  VarId asked;
  VarId trips,
      rest;  // of the main loop, and of the one that takes single steps (kNoVar if the main loop does)
  std::vector<VarId> outer;  // of the loops around these, the innermost first
  // kTail, kAdds, kStride and kLast, where the kernel takes them.
  VarId tail = kNoVar, adds = kNoVar, size = kNoVar, last = kNoVar;
};

// Asks for what belongs to `rows` steps of the reduction from step `first` of a trip on
// (TileShape::asked_lines). Trips advance the pointer by AskedRow(their steps).
inline Affine AskedRow(const Microkernel& kernel, const MicrokernelParameters& parameters, int64_t row) {
  return kernel.asked.At(row, 0, parameters.size);
}
inline void Ask(ProcedureBuilder& builder, const Microkernel& kernel, const MicrokernelParameters& parameters,
                int64_t first, int64_t rows) {
  const int64_t in_line = kLineBytes / Bytes(kernel.asked.dtype);
  for (int64_t row = first; row < first + rows; row += kernel.asked.group)
    for (int64_t line = 0; line < kernel.asked_lines; ++line)
      builder.Do(Prefetch{{parameters.asked, Plus(AskedRow(kernel, parameters, row), line * in_line)},
                          /*into_l2=*/true});
}

// Declares a vector that has as many words of `dtype` as the tile's accumulators have lanes.
inline VarId OperandVector(ProcedureBuilder& builder, const std::string& name, Dtype dtype,
                           const Microkernel& kernel) {
  return builder.Vector(name, dtype, kernel.tile.lanes * WordElements(dtype));
}

// Holds the vectors of rhs in one step of the reduction: of each column, one for each part. Pairs have two
// parts, their even and their odd elements. Of blocks there is a single vector, as columns are decoded one by
// one. Rows that lie as they are, where the arithmetic has groups, are put together by loads.
class RhsVectors {
 public:
  RhsVectors(ProcedureBuilder& builder, const Microkernel& kernel)
      : builder_(builder), parts_(kernel.parts()) {
    for (int row = 0; Interleaves(kernel.tile) && row < kernel.tile.group(); ++row)
      rows_.push_back(builder.Vector(Cat("r", row), kernel.rhs.dtype, kernel.tile.lanes));
    const int columns = IsOfBlocks(kernel.rhs.dtype) ? 1 : kernel.tile.columns;
    for (int j = 0; j < columns; ++j)
      for (int part = 0; part < parts_; ++part)
        vars_.push_back(
            OperandVector(builder, Cat("b", j, part == 0 ? "" : "_odd"), kernel.rhs_lanes(), kernel));
    if (parts_ > 1) words_ = OperandVector(builder, "words", kernel.rhs.dtype, kernel);
  }

  VarId at(int j, int part) const { return vars_[static_cast<size_t>(j * parts_ + part)]; }

  // Loads column `j` from the rows of a group that exist; of each, `count` elements do.
  void ReadGroup(int j, const std::vector<Address>& rows, const LaneCount& count) const {
    Interleave interleave{at(j, 0), {kNoVar, kNoVar, kNoVar, kNoVar}};
    for (size_t row = 0; row < rows.size(); ++row)
      builder_.Do(Load{interleave.from[row] = rows_[row], rows[row], count});
    builder_.Do(interleave);
  }

  // Loads column `j`, of which `count` elements exist, and splits pairs.
  void Read(int j, const Address& from, const LaneCount& count) const {
    builder_.Do(Load{parts_ > 1 ? words_ : at(j, 0), from, count});
    if (parts_ > 1) builder_.Do(SplitPairs{at(j, 0), at(j, 1), words_});
  }

 private:
  ProcedureBuilder& builder_;
  const int parts_;
  std::vector<VarId> vars_;
  VarId words_ = kNoVar;     // of pairs
  std::vector<VarId> rows_;  // of a group
};

// The excess of lhs where it is o8: 128 in each of the four elements of a word.
inline constexpr uint32_t kExcess = 0x80808080;

// Holds `k_split` sets of rows x columns accumulators. Consecutive steps of the reduction go to different
// sets, so that a step does not wait for the sums of the one before. Lhs as o8 is 128 too much; for it there
// is one more row, which sums 128 times rhs.
class AccumulatorSets {
 public:
  AccumulatorSets(ProcedureBuilder& builder, const Microkernel& kernel)
      : builder_(builder),
        sets_(kernel.k_split),
        tile_rows_(kernel.tile.rows),
        rows_(kernel.tile.sum_rows()),
        columns_(kernel.tile.columns) {
    for (int set = 0; set < sets_; ++set)
      for (int i = 0; i < rows_; ++i)
        for (int j = 0; j < columns_; ++j)
          vars_.push_back(
              builder_.Vector(Cat("c", set, "_", i, "_", j), kernel.accumulator(), kernel.tile.lanes));
  }

  // Row tile.rows is the additional one, where it exists.
  VarId at(int set, int i, int j) const {
    const int number = (set * rows_ + i) * columns_ + j;
    return vars_[static_cast<size_t>(number)];
  }

  void Clear() const {
    for (VarId var : vars_) builder_.Do(Zero{var});
  }

  // Calls visit(i, j) for all accumulators of a set that the output is made of.
  template <typename Do>
  void ForEachSum(const Do& visit) const {
    for (int i = 0; i < tile_rows_; ++i)
      for (int j = 0; j < columns_; ++j) visit(i, j);
  }

  // Adds all sets into set 0, pairwise: of four, sets 2 and 3 to 0 and 1, then 1 to 0. Then subtracts the
  // additional row from the others.
  void SumSets() const {
    for (int width = sets_ / 2; width >= 1; width /= 2)
      for (int set = 0; set < width; ++set)
        for (int i = 0; i < rows_; ++i)
          for (int j = 0; j < columns_; ++j)
            builder_.Do(Binary{BinaryOp::kAdd, at(set, i, j), at(set, i, j), at(set + width, i, j)});
    if (rows_ == tile_rows_) return;
    ForEachSum([&](int i, int j) {
      builder_.Do(Binary{BinaryOp::kSub, at(0, i, j), at(0, i, j), at(0, tile_rows_, j)});
    });
  }

 private:
  ProcedureBuilder& builder_;
  const int sets_, tile_rows_, rows_, columns_;
  std::vector<VarId> vars_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_ACCUMULATORS_H_
