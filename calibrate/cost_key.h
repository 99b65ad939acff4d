// SPDX-License-Identifier: Apache-2.0
// The keys of a target that say what things cost: what a calibration finds out. (Sizes, registers and
// features are the vendor's to say.)
#ifndef KIRSCH_CALIBRATE_COST_KEY_H_
#define KIRSCH_CALIBRATE_COST_KEY_H_

#include <functional>
#include <string>
#include <vector>

#include "spec/target.h"

namespace kirsch {

struct CostKey {
  std::string name;  // its path in a target file: "memory.L2.cycles_per_line", "vectors.32.fma_per_cycle"
  double low = 0, high = 0;  // the values that a target file may have
  // Steps are relative to value + grain: a key of cycles may be 0, and below its grain nothing depends on it.
  double grain = 0;
  // Standard deviation of what the key may be before anything is measured, in the logarithm: a factor of 2 or
  // so; shares are known better.
  double freedom = 0.7;
  bool whole = false;  // counts lines or runs; the cost jumps with it
  std::function<double(const Target&)> get;
  std::function<void(double, Target&)> set;
};

// Those that whole programs don't tell, and patterns of their own do: how full caches may be, teams of
// threads.
std::vector<CostKey> MakePatternKeys();

// What of the last cache this machine has: a virtual one has a share of what its processor says.
CostKey SharedBytesKey();

// The target that says which code is made with it, whatever its cost keys become: of what makes code, a
// target without `chains` says nothing but its latencies and rates.
Target WithCodeOf(const Target& target);

// The others, of the target's vector units and memory, in the order of a target file.
std::vector<CostKey> MakeCostKeys(const Target& target);

// The target with all of these as a file that doesn't say them has them (docs/targets.md).
Target WithDefaultCosts(Target target);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_COST_KEY_H_
