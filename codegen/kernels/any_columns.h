// SPDX-License-Identifier: Apache-2.0
// Divides columns into blocks of vectors where their number is known at run time only. Row programs that go
// along rows and those that go down columns share it. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_ANY_COLUMNS_H_
#define KIRSCH_CODEGEN_KERNELS_ANY_COLUMNS_H_

#include <cstdint>
#include <vector>

#include "codegen/loop/procedure_builder.h"
#include "spec/program/size.h"

namespace kirsch {

// What whole blocks leave of the columns: whole vectors, but for one, and the elements of that one. Something
// is always left, so that the last vector is never without elements.
struct LeftOfBlocks {
  VarId blocks = kNoVar, vectors = kNoVar, last = kNoVar;
};

// Counts the blocks of `unroll` vectors and what they leave. `columns`: the parameter with their number.
inline LeftOfBlocks CountBlocks(ProcedureBuilder& builder, VarId columns, int unroll, int lanes) {
  LeftOfBlocks left;
  left.blocks = builder.Quotient(IndexOf(columns), int64_t{unroll} * lanes, false, 1);
  left.last = builder.Quotient(IndexOf(columns), int64_t{unroll} * lanes, true, 1);
  if (unroll == 1) return left;
  const Affine all_left = IndexOf(left.last);
  left.vectors = builder.Quotient(all_left, lanes, false, 1);
  left.last = builder.Quotient(all_left, lanes, true, 1);
  return left;
}

// Writes the block that is left: block(its first column, the elements of its vectors).
template <typename Block>
void WriteLeft(ProcedureBuilder& builder, const LeftOfBlocks& left, int unroll, int lanes,
               const Block& block) {
  const auto write = [&](size_t vectors) {
    std::vector<LaneCount> counts(vectors, lanes);
    counts.emplace_back(lanes, left.last);
    block(Plus(Constant(0), left.blocks, int64_t{unroll} * lanes), counts);
  };
  if (unroll == 1) return write(0);
  builder.SwitchOn(left.vectors, 0, static_cast<size_t>(unroll), write);
}

// Advances pointers by so many rows, perhaps fewer than 0. A stride that is no constant is `columns`.
inline void AdvanceByRows(ProcedureBuilder& builder, const std::vector<VarId>& pointers,
                          const std::vector<Size>& strides, VarId columns, int64_t rows) {
  for (size_t i = 0; i < pointers.size(); ++i)
    if (strides[i] != 0)
      builder.Do(Advance{pointers[i],
                         Times(strides[i].IsConstant() ? Constant(strides[i]) : IndexOf(columns), rows)});
}

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_ANY_COLUMNS_H_
