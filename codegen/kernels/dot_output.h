// SPDX-License-Identifier: Apache-2.0
// Ends dot products: the lanes of each accumulator are summed, and the sums are stored, four at a time.
// Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_DOT_OUTPUT_H_
#define KIRSCH_CODEGEN_KERNELS_DOT_OUTPUT_H_

#include <algorithm>

#include "codegen/kernels/accumulators.h"
#include "codegen/kernels/epilogue_code.h"
#include "codegen/kernels/microkernels.h"
#include "codegen/loop/procedure_builder.h"

namespace kirsch {

// Shared by DotProduct and CodeProduct, whose accumulators end in the same way.
class DotOutput {
 public:
  // All outlive this.
  DotOutput(ProcedureBuilder& builder, const Microkernel& kernel, const MicrokernelParameters& parameters,
            const AccumulatorSets& accumulators)
      : builder_(builder),
        kernel_(kernel),
        parameters_(parameters),
        accumulators_(accumulators),
        sums_(builder.Vector("sums", kernel.accumulator(), kSums)),
        old_(kernel.accumulate ? builder.Vector("old", kernel.accumulator(), kSums) : kNoVar),
        epilogue_(builder, kernel, parameters.out, parameters.arguments, kSums, parameters.size) {}

  // Writes all elements of the tile, by way of the epilogue.
  void Store() {
    accumulators_.SumSets();
    for (int i = 0; i < kernel_.tile.rows; ++i)
      for (int j = 0; j < kernel_.tile.columns; j += kSums) StoreGroup(i, j);
    epilogue_.Finish();
  }

 private:
  static constexpr int kSums = 4;  // output elements that LaneSums makes at once

  // Writes output elements (i, j .. j + 3), as far as there are any.
  void StoreGroup(int i, int j) {
    const int count = std::min(kSums, kernel_.tile.columns - j);
    LaneSums sums{sums_, {kNoVar, kNoVar, kNoVar, kNoVar}};
    for (int e = 0; e < count; ++e) sums.from[static_cast<size_t>(e)] = accumulators_.at(0, i, j + e);
    builder_.Do(sums);
    // The old output is added before the epilogue, which is done to the whole sum.
    const auto add_old = [&] {
      builder_.Do(Load{old_, {parameters_.out, kernel_.out.At(i, j, parameters_.size)}, count});
      builder_.Do(Binary{BinaryOp::kAdd, sums_, sums_, old_});
    };
    if (!kernel_.accumulate.IsConstant())
      builder_.WithAny(parameters_.adds, add_old);
    else if (kernel_.accumulate)
      add_old();
    epilogue_.Store(sums_, i, j, count);
  }

  ProcedureBuilder& builder_;
  const Microkernel& kernel_;
  const MicrokernelParameters& parameters_;
  const AccumulatorSets& accumulators_;
  const VarId sums_, old_;
  EpilogueCode epilogue_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_DOT_OUTPUT_H_
