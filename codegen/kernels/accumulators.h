// SPDX-License-Identifier: Apache-2.0
// What the microkernel forms have in common: their parameters, their vectors of rhs and their accumulators.
#ifndef KIRSCH_CODEGEN_KERNELS_ACCUMULATORS_H_
#define KIRSCH_CODEGEN_KERNELS_ACCUMULATORS_H_

#include <string>
#include <vector>

#include "codegen/kernels/block_decoder.h"
#include "codegen/kernels/microkernels.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/text/cat.h"

namespace kirsch {

struct MicrokernelParameters {
  MicrokernelParameters(ProcedureBuilder& builder, const Microkernel& kernel)
      : lhs(builder.PointerParameter("lhs", PointeeOf(kernel.lhs.dtype), false)),
        rhs(builder.PointerParameter("rhs", PointeeOf(kernel.rhs.dtype), false)),
        out(builder.PointerParameter("out", kernel.out.dtype, true)),
        arguments(ArgumentParameters(builder, kernel)),
        trips(builder.IndexParameter("trips")),
        rest(kernel.has_rest() ? builder.IndexParameter("rest") : kNoVar) {
    for (int loop = 0; loop < kernel.outer_loops(); ++loop)
      outer.push_back(builder.IndexParameter(Cat("runs", loop + 1)));
    if (kernel.runtime_k_tail) tail = builder.IndexParameter("tail");
    if (kernel.runtime_beta) add = builder.IndexParameter(kAdd);
    if (TakesSize(TileShape(kernel))) size = builder.IndexParameter("size");
    if (kernel.runtime_n_tail != 0) last = builder.IndexParameter("last");
  }

  static std::vector<VarId> ArgumentParameters(ProcedureBuilder& builder, const Microkernel& kernel) {
    std::vector<VarId> arguments;
    for (const EpilogueArgument& argument : kernel.arguments)
      arguments.push_back(builder.PointerParameter(Cat("arg", arguments.size() + 1), argument.dtype, false));
    return arguments;
  }

  VarId lhs, rhs, out;
  std::vector<VarId> arguments;
  VarId trips,
      rest;  // of the main loop, and of the one that takes single steps (kNoVar if the main loop does)
  std::vector<VarId> outer;            // of the loops around these, the innermost first
  VarId tail = kNoVar, add = kNoVar;   // see TileShape::runtime_k_tail, runtime_beta
  VarId size = kNoVar, last = kNoVar;  // the run-time size, and KernelRun::last, where the kernel takes them
};

// A vector that holds as many words of `dtype` as the tile's accumulators have lanes.
inline VarId OperandVector(ProcedureBuilder& builder, const std::string& name, Dtype dtype,
                           const Microkernel& kernel) {
  return builder.Vector(name, dtype, kernel.tile.lanes * WordElements(dtype));
}

// The vectors of rhs in one step of the reduction, one for each part of it; of blocks a single one, as these
// are decoded one by one.
class RhsVectors {
 public:
  RhsVectors(ProcedureBuilder& builder, const Microkernel& kernel)
      : builder_(builder), parts_(kernel.parts()) {
    const int columns = IsOfBlocks(kernel.rhs.dtype) ? 1 : kernel.tile.columns;
    for (int j = 0; j < columns; ++j)
      for (int part = 0; part < parts_; ++part)
        vars_.push_back(
            OperandVector(builder, Cat("b", j, part == 0 ? "" : "_odd"), kernel.rhs_lanes(), kernel));
    if (parts_ > 1) words_ = OperandVector(builder, "words", kernel.rhs.dtype, kernel);
  }

  VarId at(int j, int part) const { return vars_[static_cast<size_t>(j * parts_ + part)]; }

  // Column `j`; `count` elements count.
  void Read(int j, const Address& from, const LaneCount& count) const {
    builder_.Do(Load{parts_ > 1 ? words_ : at(j, 0), from, count});
    if (parts_ > 1) builder_.Do(SplitPairs{at(j, 0), at(j, 1), words_});
  }

 private:
  ProcedureBuilder& builder_;
  const int parts_;
  std::vector<VarId> vars_;
  VarId words_ = kNoVar;  // of pairs
};

// What lhs is too much by where it is o8, four elements to a word.
inline constexpr uint32_t kExcess = 0x80808080;

// `k_split` sets of rows x columns accumulators; consecutive steps of the reduction go to different sets.
// Where lhs is o8 there is one more row, for what is to be taken off.
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

  VarId at(int set, int i, int j) const {
    const int number = (set * rows_ + i) * columns_ + j;
    return vars_[static_cast<size_t>(number)];
  }

  void Clear() const {
    for (VarId var : vars_) builder_.Do(Zero{var});
  }

  // Adds all sets into set 0, pairwise; then takes off the excess.
  void SumSets() const {
    for (int width = sets_ / 2; width >= 1; width /= 2)
      for (int set = 0; set < width; ++set)
        for (int i = 0; i < rows_; ++i)
          for (int j = 0; j < columns_; ++j)
            builder_.Do(Binary{BinaryOp::kAdd, at(set, i, j), at(set, i, j), at(set + width, i, j)});
    for (int i = 0; i < tile_rows_ && rows_ > tile_rows_; ++i)
      for (int j = 0; j < columns_; ++j)
        builder_.Do(Binary{BinaryOp::kSub, at(0, i, j), at(0, i, j), at(0, tile_rows_, j)});
  }

 private:
  ProcedureBuilder& builder_;
  const int sets_, tile_rows_, rows_, columns_;
  std::vector<VarId> vars_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_ACCUMULATORS_H_
