// SPDX-License-Identifier: Apache-2.0
// Lists the keys of a target that say what things cost: the unknowns of a calibration.
//
// The list follows the tables of spec/target/target_keys.h, so a new key needs no line here. Sizes, registers
// and features are the vendor's to say, and are no cost keys.
#ifndef KIRSCH_CALIBRATE_COST_KEY_H_
#define KIRSCH_CALIBRATE_COST_KEY_H_

#include <functional>
#include <string>
#include <vector>

#include "spec/target.h"

namespace kirsch {

// One unknown number of a target, with its range and the means to read and write it.
struct CostKey {
  std::string name;  // its path in a target file: "memory.L2.cycles_per_line", "vectors.32.fma_per_cycle"
  double low = 0, high = 0;  // the values that a target file may have
  // Added to the value before its logarithm is taken, so that a key of cycles may be 0. Below its grain
  // nothing depends on the key. With a grain of 0.25 cycles, to go from 0 to 0.25 is as far as from 0.25 to
  // 0.75.
  double grain = 0;
  // Standard deviation of what the key may be before anything is measured, in the logarithm. 0.7 is a factor
  // of 2 or so; shares are known better.
  double freedom = 0.7;
  bool whole = false;  // an integer, such as lines or streams; the cost jumps with it
  // Read and write the key in any target that has the vector units of the one that the list was made for.
  std::function<double(const Target&)> get;
  std::function<void(double, Target&)> set;
};

// Returns the keys that whole programs don't tell and that have patterns of their own: how full caches may
// be, and what teams of threads cost.
std::vector<CostKey> MakePatternKeys();

// Returns the key for the bytes of L3. A virtual machine has a share of what its processor says.
CostKey SharedBytesKey();

// Returns `target` with its numbers of chains written out. Without them a target derives chains from
// latencies and rates, so that a fit would change the code that it is fitted to.
Target WithCodeOf(const Target& target);

// Returns all other cost keys, those of the target's vector units and memory, in the order of a target file.
std::vector<CostKey> MakeCostKeys(const Target& target);

// Returns `target` with the default value of every cost key, as a file that doesn't say them has it
// (docs/targets.md).
Target WithDefaultCosts(Target target);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_COST_KEY_H_
