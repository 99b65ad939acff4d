// SPDX-License-Identifier: Apache-2.0
// The epilogue of a microkernel: what is done to the sums of a register tile before they are stored. Internal
// to codegen/.
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

// Do the sums wait in memory, a tile of the procedure's own, for a loop over them? So they do for functions,
// which are dozens of instructions, and written once; and in tiles of a matrix unit that are not stored whole
// as they are.
bool WaitsForEpilogue(const Microkernel& kernel);

// Steps of an instruction are done to the register tile.
class EpilogueCode {
 public:
  // `out` and `arguments`: the pointers to the output and to what the epilogue takes. Sums come as vectors of
  // `lanes`. `size` and `last`: as MicrokernelParameters has them.
  EpilogueCode(ProcedureBuilder& builder, const Microkernel& kernel, VarId out,
               const std::vector<VarId>& arguments, int lanes, VarId size = kNoVar, VarId last = kNoVar);

  // Stores what becomes of the sums of elements (row, column), (row, column + 1), ... `count` of which exist;
  // `sums` may be overwritten.
  void Store(VarId sums, int row, int64_t column, const LaneCount& count);
  // To be called once all sums of the tile are stored. `before(sums, place, count)` is done to each vector of
  // those that have waited first; `place` is where it goes.
  void Finish(const std::function<void(VarId, const Address&, const LaneCount&)>& before = [](auto&&...) {});

  // Where sums wait, rows being so many elements apart.
  VarId waiting() const { return waiting_; }
  int64_t Pitch() const;

 private:
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
