// SPDX-License-Identifier: Apache-2.0
// Adds up long sums of row programs, along rows or down columns, in blocks and groups of blocks
// (spec/sum_blocks.h). Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_ROW_SUMS_H_
#define KIRSCH_CODEGEN_KERNELS_ROW_SUMS_H_

#include <cstdint>

#include "codegen/kernels/row_code.h"
#include "codegen/kernels/sums_in_blocks.h"

namespace kirsch {

// Writes a loop of `count` trips, in blocks of `block` trips, with `levels` of sums. trips(first, count)
// writes some of the trips. each_sum(step) calls step(code, reduction, accumulator) for all sums that are
// accumulated. A variable holds the sum of each level.
template <typename EachSum, typename Trips>
void SumInBlocks(ProcedureBuilder& builder, const Affine& count, int64_t block, int levels,
                 const EachSum& each_sum, const Trips& trips) {
  // All levels begin with 0.
  for (int level = 0; level < levels; ++level)
    each_sum([&](RowCode& code, int sum, VarId) { code.BeginSums(sum, level); });
  // Each whole block ends with its sums going up a level, and each whole group with them going up further.
  InBlocks(builder, count, block, trips, [&](const Affine& number) {
    each_sum([](RowCode& code, int sum, VarId of_block) { code.EndBlock(sum, of_block); });
    EndGroups(builder, number, levels, [&](int level) {
      each_sum([&](RowCode& code, int sum, VarId) { code.EndGroup(sum, level); });
    });
  });
  // The sums of all levels are added to what the last trips have left in the accumulators.
  for (int level = 0; level < levels; ++level)
    each_sum([&](RowCode& code, int sum, VarId of_block) { code.AddSums(sum, level, of_block); });
}

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_ROW_SUMS_H_
