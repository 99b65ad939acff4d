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
#include "codegen/kernels/vector_math.h"
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
  // Where a vector of sums is in the tile. Row and column are indices of loops if sums have waited.
  struct Place {
    Affine row, column;
    LaneCount count;
  };

  VarId Vector(const char* name, Dtype dtype, VarId* made);
  void StoreThrough(VarId sums, const Place& place);
  VarId Apply(VarId sums, const Place& place);
  void LoadOperand(const EpilogueStep& step, const Place& place, VarId to);
  VarId Stored(VarId x);
  Address OutputAt(const Place& place) const;

  ProcedureBuilder& builder_;
  const Microkernel& kernel_;
  const VarId out_;
  const std::vector<VarId>& arguments_;
  const int lanes_;
  const VarId size_, last_;
  VectorMath math_;
  // Made when they are first needed.
  VarId real_ = kNoVar;                                     // what a sum of integers is converted to
  VarId integer_ = kNoVar;                                  // what floats become in the end
  VarId integer_operand_ = kNoVar, real_operand_ = kNoVar;  // of a step
  VarId addend_ = kNoVar;                                   // of a fused step
  VarId waiting_ = kNoVar;                                  // the tile in memory, see WaitsForEpilogue
  size_t next_argument_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_EPILOGUE_CODE_H_
