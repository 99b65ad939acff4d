// SPDX-License-Identifier: Apache-2.0
// How much of a cache a program may fill before that hurts. What it keeps there meets what streams by, the
// stack, and lines that fall into sets that are full already; how badly, depends on where the pages happen to
// lie.
#ifndef KIRSCH_CALIBRATE_CACHE_CAPACITY_H_
#define KIRSCH_CALIBRATE_CACHE_CAPACITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "calibrate/experiment.h"
#include "spec/target.h"

namespace kirsch {

struct Filling {
  double share = 0;     // of the level that is filled
  double slowdown = 1;  // times as slow per element as with the least share: what is expected of a memory
};

struct UsableShare {
  double share = 1;  // with which programs are as much slower as kHurts says
  double next = 1;   // the smallest that was measured and hurts; 1 if none did
};

// A share hurts if it is expected to be slower than this.
inline constexpr double kHurts = 1.05;

// Beside RAM, what does not fit is read again from a farther level, or columns are read several at a time,
// which takes as much longer as this: a share hurts if it is slower than that.
inline constexpr double kHurtsBesideRam = 1.3;

// `fillings` by their share, ascending, not empty. What they expect is made to rise (isotonic regression),
// since a larger share hurts no less, and read off between two shares: whether a single one passes a
// threshold would be chance.
UsableShare FindUsableShare(const std::vector<Filling>& fillings, double hurts = kHurts);

// Bytes of L3 that this machine has, at most what `target` says: of a cache that others share, a virtual
// machine has a part, which no instruction tells. A matrix of ever more bytes is read again and again, at
// last one that is surely beyond; where half of what the target says is no slower, all of it is taken to be
// there. Errors are those of Observe.
absl::StatusOr<int64_t> MeasureSharedBytes(const Target& target, const ExperimentOptions& options);

// The same of what was measured: `times` by their bytes, ascending, the last one beyond. Where that is hardly
// slower than the first, nothing is told.
struct SizeTime {
  int64_t bytes = 0;
  double cycles_per_byte = 0;
};
int64_t SharedBytesOf(const std::vector<SizeTime>& times, int64_t all);

// What is filled, and beside what.
struct FilledCache {
  Level level;
  bool beside_ram = false;  // of L1: beside columns that come from RAM
};
inline constexpr FilledCache kFilledCaches[] = {{Level::kL1}, {Level::kL1, true}, {Level::kL2}, {Level::kL3}};

// The target's key for the share: "memory.L1.capacity_share".
std::string KeyName(const FilledCache& cache);

// L1 and L2: a tile of rhs that is multiplied over and over, beside rows that stream by; L1 beside RAM: rows
// of lhs, by one column of rhs after the other. L3: a matrix that is read again and again. Each share in so
// many fresh memories, as pages come to lie on other sets in each. `cache` is one of kFilledCaches. Errors
// are those of Observe.
absl::StatusOr<std::vector<Filling>> MeasureFillings(const FilledCache& cache, const Target& target,
                                                     int memories, const ExperimentOptions& options);

// `target`, all of whose caches may be filled.
Target WithAllUsable(Target target);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_CACHE_CAPACITY_H_
