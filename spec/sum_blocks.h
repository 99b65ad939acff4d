// SPDX-License-Identifier: Apache-2.0
// Says how long sums of floats are added up: in blocks, and these in groups, so that errors grow with the
// logarithm of their length. A sum of a million terms has two levels above its blocks: a term goes through
// 4096 + 2 * 64 + 16 roundings at most.
#ifndef KIRSCH_SPEC_SUM_BLOCKS_H_
#define KIRSCH_SPEC_SUM_BLOCKS_H_

#include <algorithm>
#include <cstdint>

namespace kirsch {

// The additions that follow each other in a block, at most, where the order is free. Then the block's sum is
// added to those before it. Shorter sums are one block.
inline constexpr int64_t kSumBlock = 4096;
// The sums of blocks that follow each other in a group. Its sum is added to those of the groups before it;
// and so on for groups of groups.
inline constexpr int64_t kSumGroup = 64;

// How many levels of sums there are above those of blocks: 0 where there is one block, 1 where there is one
// group, and so on. As blocks are whole trips of a loop, they may have a quarter of the additions that they
// could have.
constexpr int SumLevels(int64_t additions) {
  if (additions <= kSumBlock) return 0;
  int levels = 1;
  for (int64_t group = kSumBlock / 4 * kSumGroup; group < additions; group *= kSumGroup) ++levels;
  return levels;
}

// The roundings that a term of a sum in blocks goes through, at most: those of its block, those of a group on
// each level, and those of the sums that lanes and accumulators keep apart.
inline double RoundingsInBlocks(double terms) {
  constexpr double kApart = 16;
  const int levels = SumLevels(static_cast<int64_t>(terms));
  return std::min(terms, static_cast<double>(kSumBlock + kSumGroup * levels) + kApart);
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_SUM_BLOCKS_H_
