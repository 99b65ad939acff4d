// SPDX-License-Identifier: Apache-2.0
// Measures how much of a cache a program can fill before it becomes slower.
//
// A cache never serves all of its bytes. The data that a program keeps there competes with data that streams
// by, with the stack, and with lines of sets that are already full. How badly depends on where the physical
// pages lie.
//
// A share is a fraction of the level's bytes, from 0 to 1. Kernels of growing shares are timed. The largest
// share that is hardly slower becomes the target's `capacity_share`:
//
//   share      0.5    0.75   1        the share at which 1.05 is reached, between two measurements:
//   slowdown   1.00   1.02   1.10     0.75 + (1.05 - 1.02) / (1.10 - 1.02) * 0.25 = 0.84
#ifndef KIRSCH_CALIBRATE_CACHE_CAPACITY_H_
#define KIRSCH_CALIBRATE_CACHE_CAPACITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "calibrate/experiment.h"
#include "spec/target.h"

namespace kirsch {

// One measurement: how much slower a program is when it fills this share of the level.
struct Filling {
  double share = 0;     // of the level that is filled
  double slowdown = 1;  // measured over predicted cycles, in units of the first share's ratio
};

// The result of a search for the usable share. Both ends go to the target file: as the value, and as the
// interval.
struct UsableCapacity {
  double share = 1;  // at which the slowdown reaches the limit, interpolated; two digits
  double next = 1;   // the smallest measured share that is slower; the largest measured one if none is
};

// A share hurts if it is expected to be slower than this.
inline constexpr double kHurts = 1.05;

// Beside RAM, what does not fit is read again from a farther level, or columns are read several at a time,
// which takes as much longer as this: a share hurts if it is slower than that.
inline constexpr double kHurtsBesideRam = 1.3;

// Finds the share at which the slowdown passes `hurts`, which is relative to the slowdown of the first share.
// `fillings` ascend by their share and are not empty. A larger share hurts no less, so slowdowns are first
// made to rise (isotonic regression). The share is then read off between two measurements: whether a single
// one passes a threshold would be chance.
UsableCapacity FindUsableCapacity(const std::vector<Filling>& fillings, double hurts = kHurts);

// Measures the bytes of L3 that this machine has, at most as many as `target` says. A virtual machine has a
// part of its processor's L3, and no instruction tells how large it is.
//
// The method reads a matrix of ever more bytes again and again, and at last one that is surely beyond L3. If
// even half of what the target says is no slower, all of it is taken to be there. Errors are those of
// Observe.
absl::StatusOr<int64_t> MeasureSharedBytes(const Target& target, const ExperimentOptions& options);

// The time of one size of the matrix: the cycles of a call over its bytes.
struct SizeTime {
  int64_t bytes = 0;
  double cycles_per_byte = 0;
};
// Evaluates the measurements of MeasureSharedBytes: `times` ascend by their bytes, and the last one is surely
// beyond L3. Returns `all`, the bytes of the target, where the last one is hardly slower than the first,
// since that tells nothing.
//
//   MB of 32          4     8     16    128     the rise is 2.0, a tenth of it is reached at 1.2:
//   cycles per byte   1.0   1.0   1.5   3.0     8 + (1.2 - 1.0) / (1.5 - 1.0) * 8 = 11.2, so there are 11 MB
int64_t SharedBytesOf(const std::vector<SizeTime>& times, int64_t all);

// Says which cache is filled, and what streams by at the same time.
struct FilledCache {
  Level level;
  bool beside_ram = false;  // L1 only: columns that come from RAM stream by
};
// All that a calibration fills. L3 comes last, and only L1 is filled beside columns from RAM.
inline constexpr FilledCache kFilledCaches[] = {{Level::kL1}, {Level::kL1, true}, {Level::kL2}, {Level::kL3}};

// The target's key for the share: "memory.L1.capacity_share".
std::string KeyName(const FilledCache& cache);

// Measures the slowdown at a fixed list of shares of `cache`, which is one of kFilledCaches. The filled data
// is
//
//   - of L1 and L2 a tile of rhs that is multiplied over and over, while rows of lhs stream by;
//   - of L1 beside RAM the rows of lhs, while one column of rhs after the other streams by;
//   - of L3 a matrix that is read again and again.
//
// Each share is measured in `memories` fresh memories, since pages lie on other sets in each. Errors are
// those of Observe.
absl::StatusOr<std::vector<Filling>> MeasureFillings(const FilledCache& cache, const Target& target,
                                                     int memories, const ExperimentOptions& options);

// Returns `target` with all shares set to 1, so that programs which fill a whole cache are legal.
Target WithAllUsable(Target target);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_CACHE_CAPACITY_H_
