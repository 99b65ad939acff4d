// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/vector_output.h"

#include <algorithm>

namespace kirsch {
VectorOutput::VectorOutput(ProcedureBuilder& builder, const Microkernel& kernel,
                           const MicrokernelParameters& parameters, const AccumulatorSets& accumulators)
    : builder_(builder),
      kernel_(kernel),
      parameters_(parameters),
      accumulators_(accumulators),
      epilogue_(builder, kernel, parameters.out, parameters.arguments, kernel.tile.lanes, parameters.size,
                parameters.last) {}

// Only the last vector may be partial: by a constant, or as KernelRun::last says.
LaneCount VectorOutput::LanesInVector(int j) const {
  if (parameters_.last != kNoVar && j + 1 == kernel_.tile.columns)
    return {kernel_.tile.lanes, parameters_.last};
  return static_cast<int>(std::min<int64_t>(kernel_.n - Lane(j), kernel_.tile.lanes));
}

void VectorOutput::Prefetch() {
  if (!kernel_.prefetch_out) return;
  for (int i = 0; i < kernel_.tile.rows; ++i)
    for (int64_t column = 0; column < kernel_.n; column += kLineBytes / Bytes(kernel_.out.dtype))
      builder_.Do(kirsch::Prefetch{AddressOf(i, column), /*into_l2=*/true});
}

// (Narrow outputs are never added to: they are no sums.)
void VectorOutput::Start() {
  if (!StartsFromOld()) return accumulators_.Clear();
  accumulators_.ForEachSum([&](int i, int j) {
    builder_.Do(Load{accumulators_.at(0, i, j), AddressOf(i, Lane(j)), LanesInVector(j)});
  });
}

// Everything is added before anything is stored. A last vector is stored with a mask, whose lanes reach into
// the next row; a load from there would wait until the store is done.
void VectorOutput::Store() {
  if (kernel_.accumulate && !StartsFromOld()) {
    if (old_ == kNoVar) old_ = builder_.Vector("old", kernel_.accumulator(), kernel_.tile.lanes);
    // One test for the whole tile.
    parameters_.WhereItAdds(builder_, [&] { accumulators_.ForEachSum([&](int i, int j) { AddOld(i, j); }); });
  }
  accumulators_.ForEachSum(
      [&](int i, int j) { epilogue_.Store(accumulators_.at(0, i, j), i, Lane(j), LanesInVector(j)); });
  epilogue_.Finish();
}

void VectorOutput::AddOld(int i, int j) {
  const VarId sum = accumulators_.at(0, i, j);
  builder_.Do(Load{old_, AddressOf(i, Lane(j)), LanesInVector(j)});
  builder_.Do(Binary{BinaryOp::kAdd, sum, sum, old_});
}

}  // namespace kirsch
