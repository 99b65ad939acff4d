// SPDX-License-Identifier: Apache-2.0
// Writes the epilogue of a microkernel: what is done to the sums of a register tile before they are stored.
// Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_EPILOGUE_CODE_H_
#define KIRSCH_CODEGEN_KERNELS_EPILOGUE_CODE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "codegen/kernels/accumulators.h"
#include "codegen/kernels/microkernels.h"
#include "codegen/kernels/row_code.h"
#include "codegen/loop/procedure_builder.h"

namespace kirsch {

// True if the sums are stored to a tile on the stack first, and a loop takes them from there through the
// epilogue. It is so for functions: they are dozens of instructions, and the loop has them once. It is so,
// too, for tiles of a matrix unit that are not stored whole as they are.
bool WaitsForEpilogue(const Microkernel& kernel);

// Does steps of single instructions on the registers of the tile. Calls of Store() for all sums are followed
// by one of Finish(); if sums wait, all of the epilogue is written there.
class EpilogueCode {
 public:
  // `out` and `arguments` are the pointers to the output and to what the epilogue takes. Sums come as vectors
  // of `lanes`. `size` and `last`: as MicrokernelParameters has them.
  EpilogueCode(ProcedureBuilder& builder, const Microkernel& kernel, VarId out,
               const std::vector<VarId>& arguments, int lanes, VarId size = kNoVar, VarId last = kNoVar);
  EpilogueCode(const EpilogueCode&) = delete;  // code_ refers to members
  EpilogueCode& operator=(const EpilogueCode&) = delete;

  // Stores what becomes of the sums of elements (row, column), (row, column + 1), ..., of which `count`
  // exist. `sums` may be overwritten.
  void Store(VarId sums, int row, int64_t column, const LaneCount& count);
  // Has to be called once all sums of the tile are stored. Does before(sums, place, count) to each vector of
  // those that have waited, first of all; `place` is where it goes.
  void Finish(const std::function<void(VarId, const Address&, const LaneCount&)>& before = [](auto&&...) {});

  // The array where sums wait, whose rows are Pitch() elements apart.
  VarId waiting() const { return waiting_; }
  int64_t Pitch() const;

 private:
  // `place` is in the tile: its row and column are indices of loops if sums have waited.
  void StoreThrough(VarId sums, const RowPlace& place);
  Address OutputAt(const RowPlace& place) const;

  ProcedureBuilder& builder_;
  const Microkernel& kernel_;
  const VarId out_;
  const int lanes_;
  const VarId size_, last_;
  // The epilogue as a row program, which code_ writes vector by vector; values_ are those that it computes.
  const RowKernel rows_;
  const RowPasses passes_ = {};  // none: no value is one for a row
  RowPointers pointers_;
  RowCode code_;
  const std::vector<int> values_;
  VarId waiting_ = kNoVar;  // the tile in memory, see WaitsForEpilogue
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_EPILOGUE_CODE_H_
