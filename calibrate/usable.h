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
  double slowdown = 1;  // times as slow per element as with the least share: what is expected of a memory
};

struct Usable {
  double share = 1;  // with which programs are as much slower as kHurts says
  double next = 1;   // the smallest that was measured and hurts; 1 if none did
};

// A share hurts if it is expected to be slower than this.
inline constexpr double kHurts = 1.05;

// `fillings` by their share, ascending, not empty. What they expect is made to rise (isotonic regression),
// since a larger share hurts no less, and read off between two shares: whether a single one passes a
// threshold would be chance.
Usable UsableOf(const std::vector<Filling>& fillings);

// L1 and L2: a tile of rhs that is multiplied over and over, beside rows that stream by. L3: a matrix that is
// read again and again. Each share in so many fresh memories, as pages come to lie on other sets in each.
// `level` is one of them. Errors are those of Observe.
absl::StatusOr<std::vector<Filling>> MeasureFillings(Level level, const Target& target, int memories,
                                                     const ExperimentOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_USABLE_H_
