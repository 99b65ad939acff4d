// Long sums of f32 are added up in blocks, so that their errors don't grow with their length.
#ifndef KIRSCH_SPEC_SUM_BLOCKS_H_
#define KIRSCH_SPEC_SUM_BLOCKS_H_

#include <algorithm>
#include <cstdint>

namespace kirsch {

// Additions that follow each other in a block. Then the block's sum is added to those before it, where the
// order is free. Shorter sums are one block.
inline constexpr int64_t kSumBlock = 4096;

// Roundings that a term of a sum in blocks goes through, at most: a block's, one for each block, and those of
// the sums that lanes and accumulators have apart.
inline double RoundingsInBlocks(double terms) {
  constexpr double kApart = 16;
  const auto block = static_cast<double>(kSumBlock);
  return std::min(terms, block + terms / block + kApart);
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_SUM_BLOCKS_H_
