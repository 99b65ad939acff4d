// SPDX-License-Identifier: Apache-2.0
// Writes the output of a register tile whose rows are vectors: how its sums begin, and what becomes of them.
// Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_VECTOR_OUTPUT_H_
#define KIRSCH_CODEGEN_KERNELS_VECTOR_OUTPUT_H_

#include "codegen/kernels/accumulators.h"
#include "codegen/kernels/epilogue_code.h"

namespace kirsch {

// Used by outer products, of numbers and of panels, and by lanewise kernels: Prefetch() and Start() before
// the reduction, Store() after it.
class VectorOutput {
 public:
  // All that is passed outlives this.
  VectorOutput(ProcedureBuilder& builder, const Microkernel& kernel, const MicrokernelParameters& parameters,
               const AccumulatorSets& accumulators);

  // Gives it a vector that is free once the sums are made, to load what is added to. Else it has one of its
  // own.
  void UseForOld(VarId vector) { old_ = vector; }

  // Prefetches the output of a tile that is not in L1, into L2: in L1 its lines would take the place of
  // operands, or each other's where rows lie a power of two apart.
  void Prefetch();
  // Begins the sums as zero, or, in a single chain, as what is accumulated into: the order of additions is
  // fixed then.
  void Start();
  // Adds what is accumulated into, unless the sums began with it; then does the epilogue and stores.
  void Store();

  // The first column of vector j of a row.
  int64_t Lane(int j) const { return int64_t{j} * kernel_.tile.lanes; }
  // Returns how many elements of vector `j` of a row exist.
  LaneCount LanesInVector(int j) const;

 private:
  bool StartsFromOld() const { return kernel_.accumulate && kernel_.tile.one_chain; }
  Address AddressOf(int i, int64_t column) const {
    return {parameters_.out, kernel_.out.At(i, column, parameters_.size)};
  }
  void AddOld(int i, int j);

  ProcedureBuilder& builder_;
  const Microkernel& kernel_;
  const MicrokernelParameters& parameters_;
  const AccumulatorSets& accumulators_;
  EpilogueCode epilogue_;
  VarId old_ = kNoVar;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_VECTOR_OUTPUT_H_
