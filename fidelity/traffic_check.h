// SPDX-License-Identifier: Apache-2.0
// Bytes that are predicted to cross from level to level, held against a simulation of the caches.
#ifndef KIRSCH_FIDELITY_TRAFFIC_CHECK_H_
#define KIRSCH_FIDELITY_TRAFFIC_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "spec/impl.h"
#include "spec/level.h"
#include "spec/target.h"
#include "spec/traffic.h"

namespace kirsch {

struct TrafficCheck {
  std::string spec;
  Level home = Level::kRam;      // where the operands wait
  Traffic predicted, simulated;  // up to there

  // The largest |predicted - simulated| over simulated, of the bytes in and back of each level up to home.
  double Error() const;
};

// Interprets the program of a placed root of one thread, its operands at their home, in caches that are empty
// else, and lets the simulator see every address. An error is the interpreter's.
absl::StatusOr<TrafficCheck> CheckTraffic(const Impl& impl, const CostModel& model);

// The same CPU with caches so small that problems of up to 128 a side are large. Half of each may be filled:
// what replaces the line used longest ago keeps nothing while as much streams by.
Target WithSmallCaches(Target target);

// The best programs for the CPU with small caches of `count` matmuls, drawn by the seed: up to 128 a side, of
// several types.
absl::StatusOr<std::vector<TrafficCheck>> CheckTraffics(const Target& target, int count, uint64_t seed);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_TRAFFIC_CHECK_H_
