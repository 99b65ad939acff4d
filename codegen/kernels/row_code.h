// SPDX-License-Identifier: Apache-2.0
// Writes the values of a row program for one vector: of a row's elements, or of the values that are one for
// the row (in all lanes). Row kernels, column kernels and epilogues decide which vectors there are, and in
// which order.
// Internal to codegen/.
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

// The procedure's pointers. `scratch` is kNoVar if the schedule keeps no value there. `rows`: of an input
// whose rows another one chooses, the row that is read; else kNoVar.
struct RowPointers {
  std::vector<VarId> inputs, results, rows;
  VarId scratch = kNoVar;
};

// All parameters of the procedure (row_kernel.h). `columns` is kNoVar if their number is known.
struct RowParameters : RowPointers {
  void Declare(ProcedureBuilder& builder, const RowKernel& kernel);

  VarId row_count = kNoVar, columns = kNoVar;
};

// Says where a vector's elements are: the first one's column, how many there are, and how many rows they are
// behind the row that pointers are at. `number`: of the row among all, where pointers go from row to row,
// too.
struct RowPlace {
  Affine column;
  LaneCount count = 0;
  Affine row = {};
  bool streams = false;  // the schedule's streamed result is stored past the caches: it is aligned here
  Affine number = {};
};

// Owns the variables of a vector. Several objects side by side are vectors that are computed at the same
// time.
class RowCode {
 public:
  // Variables are named with `suffix`. `row` has the values that are one for the row; it is null if this
  // object has them. (If RowProgram::reduces_rows, they are one for the column, in each lane another.)
  RowCode(ProcedureBuilder& builder, const RowKernel& kernel, const RowPasses& plan,
          const RowPointers& pointers, RowCode* row, const std::string& suffix);

  // Returns the variable of a value, which may not have been computed yet. Numbers are constants that all
  // vectors share.
  VarId Of(int value);
  // Gives a value the variable that has it already: the sum of an epilogue.
  void Bind(int value, VarId var) { vars_[static_cast<size_t>(value)] = var; }
  // Returns a variable that is no value of the program, the same one for the same name.
  VarId Temporary(const std::string& name, Dtype dtype);
  VarId Temporary(const std::string& name) { return Temporary(name, real_); }
  VectorMath& math() { return math_; }

  // Writes the value from its operands. Read() takes it from where Keep() has stored it in an earlier pass.
  // Narrowed() returns the variable from which a result is stored, which StoreResult() does, too.
  void Compute(int value, const RowPlace& place);
  void Read(int value, const RowPlace& place);  // what was kept
  void Keep(int value, const RowPlace& place);
  VarId Narrowed(int result);
  void StoreResult(int result, const RowPlace& place);
  // Prefetches what the pass computes from, as far ahead as the schedule has it; every line once.
  void PrefetchInput(int value, const RowPlace& place, int64_t column_in_block);
  // accumulator = the reduction of it and of the value's elements. Along rows, lanes that don't exist keep
  // what they have.
  void Accumulate(int reduction, VarId accumulator, const RowPlace& place);
  // Sums in blocks (spec/sum_blocks.h) have a variable for each level, which BeginSums() makes 0. EndBlock()
  // adds a block's sum, which is in one of the reduction's accumulators, to level 0; EndGroup() adds a
  // group's to the level above it. Both make what they have added 0. AddSums() adds a level to the last
  // block's sum.
  void BeginSums(int reduction, int level);
  void EndBlock(int reduction, VarId accumulator) { AddUp(SumOfLevel(reduction, 0), accumulator); }
  void EndGroup(int reduction, int level) {
    AddUp(SumOfLevel(reduction, level), SumOfLevel(reduction, level - 1));
  }
  void AddSums(int reduction, int level, VarId accumulator);

 private:
  const RowValue& At(int value) const { return kernel_.program.values[static_cast<size_t>(value)]; }
  void LoadInput(int value, const RowPlace& place);
  // Sums and products whose roundings VectorMath does not know about: see OperandsOf and IsSharedProduct.
  void Sum(int value, const RowOperands& operands);
  void RoundedProduct(int value);
  void Saturate(VarId whole, VarId limited);
  VarId SumOfLevel(int reduction, int level) { return Temporary(Cat("blocks", reduction, "_", level)); }
  void AddUp(VarId to, VarId part);  // which begins anew
  // Returns the offset of the place in a matrix whose rows are so far apart.
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
  const Dtype real_;  // of floats
  VectorMath math_;
  std::vector<VarId> vars_;
  std::map<std::string, VarId> temporaries_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_ROW_CODE_H_
