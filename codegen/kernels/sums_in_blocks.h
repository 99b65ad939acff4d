// SPDX-License-Identifier: Apache-2.0
// Writes loops whose sums are added up in blocks and groups of blocks (spec/sum_blocks.h), for kernels of all
// kinds. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_SUMS_IN_BLOCKS_H_
#define KIRSCH_CODEGEN_KERNELS_SUMS_IN_BLOCKS_H_

#include <cstdint>

#include "codegen/loop/procedure_builder.h"
#include "spec/sum_blocks.h"

namespace kirsch {

// Writes a loop of `count` trips as one over blocks of `block` trips. trips(first, count) writes the loop
// over those of a block; end_block(number) writes what follows a whole block. Of 10000 trips in blocks of
// 4096, two blocks are whole, and 1808 trips are left, which no end_block() follows.
template <typename Trips, typename EndBlock>
void InBlocks(ProcedureBuilder& builder, const Affine& count, int64_t block, const Trips& trips,
              const EndBlock& end_block) {
  // Counts that are known are constants of the code; others are worked out when the kernel is run.
  const auto part = [&](bool left) {
    if (count.IsConstant()) return Constant(left ? count.constant % block : count.constant / block);
    return IndexOf(builder.Quotient(count, block, left));
  };
  const Affine blocks = part(false), left = part(true);
  builder.Loop(blocks, [&](VarId number) {
    trips(Times(IndexOf(number), block), Constant(block));
    end_block(IndexOf(number));
  });
  trips(Times(blocks, block), left);
}

// Calls end_group(level), after block `number`, for each level whose group ends with that block: the lowest,
// 1, first. Loop programs only tell 0 from other numbers. So the test is (number % blocks + 1) / blocks,
// which is 1 for the last block of a group, else 0.
template <typename EndGroup>
void EndGroups(ProcedureBuilder& builder, const Affine& number, int levels, const EndGroup& end_group) {
  int64_t blocks = kSumGroup;
  for (int level = 1; level < levels; ++level, blocks *= kSumGroup) {
    const VarId in_group = builder.Quotient(number, blocks, true);
    const VarId whole = builder.Quotient(Plus(IndexOf(in_group), 1), blocks, false);
    builder.WithAny(whole, [&] { end_group(level); });
  }
}

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_SUMS_IN_BLOCKS_H_
