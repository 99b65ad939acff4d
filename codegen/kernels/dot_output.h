// SPDX-License-Identifier: Apache-2.0
// Ends dot products: the lanes of each accumulator are summed, and the sums are stored, four at a time.
// Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_DOT_OUTPUT_H_
#define KIRSCH_CODEGEN_KERNELS_DOT_OUTPUT_H_

#include <algorithm>
#include <vector>

#include "codegen/kernels/accumulators.h"
#include "codegen/kernels/epilogue_code.h"
#include "codegen/kernels/microkernels.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/text/cat.h"

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
        epilogue_(builder, kernel, parameters.out, parameters.arguments, kSums, parameters.size) {
    ForEachGroup([&](int i, int j) {
      sums_.push_back(builder.Vector(Cat("sums", i, "_", j), kernel.accumulator(), kSums));
    });
    if (kernel.accumulate) old_ = builder.Vector("old", kernel.accumulator(), kSums);
  }

  // Writes all elements of the tile, by way of the epilogue. The old output is added before the epilogue,
  // which is done to the whole sum, and before anything is stored: see VectorOutput::Store.
  void Store() {
    accumulators_.SumSets();
    ForEachGroup([&](int i, int j) { SumLanes(i, j); });
    if (kernel_.accumulate)
      parameters_.WhereItAdds(builder_, [&] { ForEachGroup([&](int i, int j) { AddOld(i, j); }); });
    ForEachGroup([&](int i, int j) { epilogue_.Store(SumsAt(i, j), i, j, CountAt(j)); });
    epilogue_.Finish();
  }

 private:
  static constexpr int kSums = 4;  // output elements that LaneSums makes at once

  // Calls group(i, j) for output elements (i, j .. j + 3), as far as there are any.
  template <typename Group>
  void ForEachGroup(const Group& group) const {
    for (int i = 0; i < kernel_.tile.rows; ++i)
      for (int j = 0; j < kernel_.tile.columns; j += kSums) group(i, j);
  }
  int CountAt(int j) const { return std::min(kSums, kernel_.tile.columns - j); }
  VarId SumsAt(int i, int j) const {
    const int groups = (kernel_.tile.columns + kSums - 1) / kSums;
    return sums_[static_cast<size_t>(i * groups + j / kSums)];
  }

  void SumLanes(int i, int j) {
    LaneSums sums{SumsAt(i, j), {kNoVar, kNoVar, kNoVar, kNoVar}};
    for (int e = 0; e < CountAt(j); ++e) sums.from[static_cast<size_t>(e)] = accumulators_.at(0, i, j + e);
    builder_.Do(sums);
  }

  void AddOld(int i, int j) {
    builder_.Do(Load{old_, {parameters_.out, kernel_.out.At(i, j, parameters_.size)}, CountAt(j)});
    builder_.Do(Binary{BinaryOp::kAdd, SumsAt(i, j), SumsAt(i, j), old_});
  }

  ProcedureBuilder& builder_;
  const Microkernel& kernel_;
  const MicrokernelParameters& parameters_;
  const AccumulatorSets& accumulators_;
  std::vector<VarId> sums_;  // of each group
  VarId old_ = kNoVar;
  EpilogueCode epilogue_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_DOT_OUTPUT_H_
