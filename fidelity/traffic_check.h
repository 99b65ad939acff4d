// SPDX-License-Identifier: Apache-2.0
// Checks the bytes that are predicted to cross from level to level, against a simulation of the caches.
//
//   Impl --explain--> predicted bytes of each level --------------------+
//        --WriteProgram, Interpret--> addresses --CacheSimulator--> simulated bytes --> Error()
//
// The model counts footprints of tiles. The simulation knows nothing of tiles, only addresses in their order.
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

// One program: bytes as predicted and as simulated.
struct TrafficCheck {
  std::string spec;
  Level home = Level::kRam;      // where the operands are at first
  Traffic predicted, simulated;  // up to there

  // Returns the largest |predicted - simulated| / simulated over the levels from L2 to `home`, of the bytes
  // in and back. 1 where nothing crosses in the simulation but something was predicted.
  double Error() const;
};

// Interprets the program of a placed root of one thread, and lets the simulator see every address. Its
// operands are at their home; the caches are empty otherwise. An error is the interpreter's.
absl::StatusOr<TrafficCheck> CheckTraffic(const Impl& impl, const CostModel& model);

// Returns the same CPU with caches so small that problems of up to 128 a side are large. Half of each cache
// may be filled: a cache that replaces the line used longest ago keeps nothing while as much streams by.
Target WithSmallCaches(Target target);

// Draws `count` matmuls by the seed, of several types and up to 128 a side. Checks the best program of each
// for the CPU with small caches.
absl::StatusOr<std::vector<TrafficCheck>> CheckTraffics(const Target& target, int count, uint64_t seed);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_TRAFFIC_CHECK_H_
