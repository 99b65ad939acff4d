#include "codegen/kernels/vector_output.h"

#include <algorithm>

namespace kirsch {
namespace {

constexpr int64_t kLineBytes = 64;

}  // namespace

VectorOutput::VectorOutput(ProcedureBuilder& builder, const Microkernel& kernel,
                           const MicrokernelParameters& parameters, const AccumulatorSets& accumulators)
    : builder_(builder),
      kernel_(kernel),
      parameters_(parameters),
      accumulators_(accumulators),
      epilogue_(builder, kernel, parameters.out, parameters.arguments, kernel.tile.lanes) {}

int VectorOutput::CountOf(int j) const {
  return static_cast<int>(std::min<int64_t>(kernel_.n - Lane(j), kernel_.tile.lanes));
}

void VectorOutput::Prefetch() {
  if (!kernel_.prefetch_out) return;
  for (int i = 0; i < kernel_.tile.rows; ++i)
    for (int64_t column = 0; column < kernel_.n; column += kLineBytes / Bytes(kernel_.out.dtype))
      builder_.Do(kirsch::Prefetch{At(parameters_.out, kernel_.out.At(i, column))});
}

// (Narrow outputs are never added to: they are no sums.)
void VectorOutput::Start() {
  if (!StartsFromOld()) return accumulators_.Clear();
  for (int i = 0; i < kernel_.tile.rows; ++i)
    for (int j = 0; j < kernel_.tile.columns; ++j)
      builder_.Do(Load{accumulators_.at(0, i, j), AddressOf(i, j), CountOf(j)});
}

void VectorOutput::Store() {
  if (kernel_.accumulate && !StartsFromOld() && old_ == kNoVar)
    old_ = builder_.Vector("old", kernel_.accumulator(), kernel_.tile.lanes);
  for (int i = 0; i < kernel_.tile.rows; ++i)
    for (int j = 0; j < kernel_.tile.columns; ++j) Store(i, j);
  epilogue_.Finish();
}

void VectorOutput::Store(int i, int j) {
  const VarId sum = accumulators_.at(0, i, j);
  if (kernel_.accumulate && !StartsFromOld()) {
    builder_.Do(Load{old_, AddressOf(i, j), CountOf(j)});
    builder_.Do(Binary{BinaryOp::kAdd, sum, sum, old_});
  }
  epilogue_.Store(sum, i, Lane(j), CountOf(j));
}

}  // namespace kirsch
