// SPDX-License-Identifier: Apache-2.0
// The values of a row program for one vector of a row's elements, or of the values that are one for the row
// (in all lanes), as statements. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_ROW_CODE_H_
#define KIRSCH_CODEGEN_KERNELS_ROW_CODE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/kernels/row_kernel.h"
#include "codegen/kernels/vector_math.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/graph/row_passes.h"
#include "spec/text/cat.h"

namespace kirsch {

struct RowPointers {
  std::vector<VarId> inputs, results;
  VarId scratch = kNoVar;
};

// Where a vector's elements are: the first one's column, how many there are, and, if the row is not that
// which pointers are at, how many rows on.
struct RowPlace {
  Affine column;
  LaneCount count = 0;
  Affine row = {};
  bool streams = false;  // the schedule's streamed result is stored past the caches: it is aligned here
};

class RowCode {
 public:
  // Variables are named with `suffix`. `row`: where the values are that are one for the row (of RowProgram's
  // `reduces_rows`: for the column, in each lane another); null if this is it.
  RowCode(ProcedureBuilder& builder, const RowKernel& kernel, const RowPasses& plan,
          const RowPointers& pointers, RowCode* row, const std::string& suffix);

  // The variable of a value, which may not have been computed yet.
  VarId Of(int value);
  VarId Temporary(const std::string& name, Dtype dtype = Dtype::kF32);
  VectorMath& math() { return math_; }

  void Compute(int value, const RowPlace& place);
  void Read(int value, const RowPlace& place);  // what was kept
  void Keep(int value, const RowPlace& place);
  void StoreResult(int result, const RowPlace& place);
  // Asks for what the pass computes from, as far ahead as the schedule has it; every line once.
  void PrefetchInput(int value, const RowPlace& place, int64_t column_in_block);
  // accumulator = the reduction of it and of the value's elements.
  void Accumulate(int reduction, VarId accumulator, const RowPlace& place);
  // Sums in blocks (spec/sum_blocks.h): those of a level begin with 0; a block's, in one of the reduction's
  // accumulators, or a group's is added to the level above it, and begins with 0 again; in the end all are
  // added to the last block's.
  void BeginSums(int reduction, int level);
  void EndBlock(int reduction, VarId accumulator) { AddUp(SumOfLevel(reduction, 0), accumulator); }
  void EndGroup(int reduction, int level) {
    AddUp(SumOfLevel(reduction, level), SumOfLevel(reduction, level - 1));
  }
  void AddSums(int reduction, int level, VarId accumulator);

 private:
  const RowValue& At(int value) const { return kernel_.program.values[static_cast<size_t>(value)]; }
  void LoadInput(int value, const RowPlace& place);
  void Sum(int value, const RowOperands& operands);
  void RoundedProduct(int value);
  void Saturate(VarId whole, VarId limited);
  VarId SumOfLevel(int reduction, int level) { return Temporary(Cat("blocks", reduction, "_", level)); }
  void AddUp(VarId to, VarId part);  // which begins anew
  Affine OffsetIn(const RowPlace& place, int64_t row_stride) const;
  Address KeptAddress(int value, const RowPlace& place) const;
  bool IsNotPositive(int value) const;

  ProcedureBuilder& builder_;
  const RowKernel& kernel_;
  const RowPasses& plan_;
  const RowPointers& pointers_;
  RowCode* const row_;
  const std::string suffix_;
  const int lanes_;
  VectorMath math_;
  std::vector<VarId> vars_;
  std::map<std::string, VarId> temporaries_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_ROW_CODE_H_
