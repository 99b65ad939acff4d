// SPDX-License-Identifier: Apache-2.0
// Adds up long sums of a register tile in blocks. Accumulators have the sum of a block; memory has those of
// blocks and of groups of blocks. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_TILE_SUMS_H_
#define KIRSCH_CODEGEN_KERNELS_TILE_SUMS_H_

#include <algorithm>
#include <cstdint>

#include "codegen/kernels/accumulators.h"
#include "codegen/kernels/sums_in_blocks.h"

namespace kirsch {

// Writes nothing if the kernel's sums are not in blocks. An array on the stack has a tile for each level:
// level 0 sums blocks, level 1 groups of blocks, and so on.
class TileSums {
 public:
  // All outlive this.
  TileSums(ProcedureBuilder& builder, const Microkernel& kernel, const AccumulatorSets& accumulators)
      : builder_(builder), kernel_(kernel), accumulators_(accumulators) {
    if (!are_in_blocks()) return;
    const int lanes = kernel.tile.lanes;
    memory_ = builder.Array("blocks", kernel.accumulator(), lanes, At(kernel.sum_levels, 0, 0));
    sum_ = builder.Vector("of_blocks", kernel.accumulator(), lanes);
    group_ = builder.Vector("of_groups", kernel.accumulator(), lanes);
  }

  bool are_in_blocks() const { return kernel_.sum_levels != 0; }

  // Returns the trips of a loop that a block has, each of so many steps of the reduction: one at least.
  int64_t TripsOfBlock(int64_t steps) const { return std::max<int64_t>(1, kernel_.block_steps() / steps); }

  // Writes zeros into the array. Called before the loops.
  void Start() const {
    if (!are_in_blocks()) return;
    builder_.Do(Zero{sum_});
    for (int level = 0; level < kernel_.sum_levels; ++level)
      accumulators_.ForEachSum([&](int i, int j) { Store(sum_, level, i, j); });
  }

  // Writes trip(number) for so many trips, each of so many `steps` of the reduction. `before` is the number
  // of blocks that have ended. What whole blocks leave stays in the accumulators.
  template <typename Trip>
  void Loop(const Affine& trips, int64_t steps, const Affine& before, const Trip& trip) const {
    if (!are_in_blocks()) return builder_.Loop(trips, [&](VarId number) { trip(IndexOf(number)); });
    InBlocks(
        builder_, trips, TripsOfBlock(steps),
        [&](const Affine& first, const Affine& count) {
          builder_.Loop(count, [&](VarId number) { trip(Plus(first, number, 1)); });
        },
        [&](const Affine& number) { EndBlock(Plus(before, number)); });
  }

  // Adds the accumulators, which have the sums of block `number`, to level 0, and clears them. If a group
  // ends with that block, its sum goes up a level.
  void EndBlock(const Affine& number) const {
    accumulators_.SumSets();
    accumulators_.ForEachSum([&](int i, int j) {
      Load(sum_, 0, i, j);
      Add(sum_, accumulators_.at(0, i, j));
      Store(sum_, 0, i, j);
    });
    accumulators_.Clear();
    EndGroups(builder_, number, kernel_.sum_levels, [&](int level) {
      accumulators_.ForEachSum([&](int i, int j) {
        Load(sum_, level - 1, i, j);
        Load(group_, level, i, j);
        Add(group_, sum_);
        Store(group_, level, i, j);
        builder_.Do(Zero{sum_});
        Store(sum_, level - 1, i, j);
      });
    });
  }

  // Adds the sums of all levels to the accumulators of set 0, to which SumSets adds the other sets.
  void Finish() const {
    for (int level = 0; level < kernel_.sum_levels; ++level)
      accumulators_.ForEachSum([&](int i, int j) {
        Load(sum_, level, i, j);
        Add(accumulators_.at(0, i, j), sum_);
      });
  }

 private:
  // Returns where the array has the sum of vector (i, j) of a level.
  int64_t At(int level, int i, int j) const {
    return ((int64_t{level} * kernel_.tile.rows + i) * kernel_.tile.columns + j) * kernel_.tile.lanes;
  }
  void Load(VarId to, int level, int i, int j) const {
    builder_.Do(kirsch::Load{to, kirsch::At(memory_, At(level, i, j)), kernel_.tile.lanes});
  }
  void Store(VarId from, int level, int i, int j) const {
    builder_.Do(kirsch::Store{from, kirsch::At(memory_, At(level, i, j)), kernel_.tile.lanes});
  }
  void Add(VarId to, VarId what) const { builder_.Do(Binary{BinaryOp::kAdd, to, to, what}); }

  ProcedureBuilder& builder_;
  const Microkernel& kernel_;
  const AccumulatorSets& accumulators_;
  VarId memory_ = kNoVar, sum_ = kNoVar, group_ = kNoVar;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_TILE_SUMS_H_
