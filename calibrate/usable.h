// How much of a cache a program may fill before that hurts. What it keeps there meets what streams by, the
// stack, and lines that fall into sets that are full already; how badly, depends on where the pages happen to
// lie.
#ifndef KIRSCH_CALIBRATE_USABLE_H_
#define KIRSCH_CALIBRATE_USABLE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "calibrate/experiment.h"
#include "spec/target/target.h"

namespace kirsch {

struct Filling {
  double share = 0;     // of the level that is filled
  double slowdown = 1;  // times as slow per element as with the least share, on the worst of several memories
};

struct Usable {
  double share = 1;  // the largest that does not hurt
  double next = 1;   // the smallest that does; 1 if none did
};

// A share hurts if it, or one that is smaller, is slower than this.
inline constexpr double kHurts = 1.05;

// `fillings` by their share, ascending, not empty.
Usable UsableOf(const std::vector<Filling>& fillings);

// L1 and L2: a tile of rhs that is multiplied over and over, beside rows that stream by. L3: a matrix that is
// read again and again. `level` is one of them. Errors are those of Observe.
absl::StatusOr<std::vector<Filling>> MeasureFillings(Level level, const Target& target,
                                                     const ExperimentOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_USABLE_H_
