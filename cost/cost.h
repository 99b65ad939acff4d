// SPDX-License-Identifier: Apache-2.0
// Defines the cost of a program: cycles of the target core, in fixed point, so that sums and multiples are
// exact and the same on every machine. The same input then has the same cheapest program everywhere.
//
//   CostFromCycles(1.001)  = 257 units, rounded up;  BoundFromCycles(1.001) = 256 units, rounded down
#ifndef KIRSCH_COST_COST_H_
#define KIRSCH_COST_COST_H_

#include <cstdint>
#include <limits>

namespace kirsch {

using Cost = int64_t;  // 1/256 cycle

// Units of a cycle.
inline constexpr Cost kCostUnit = 256;
// No program is that dear. A few such costs can be added up without overflow.
inline constexpr Cost kInfiniteCost = std::numeric_limits<Cost>::max() / 4;
inline constexpr double kInfiniteCycles = std::numeric_limits<double>::infinity();

constexpr double ToCycles(Cost cost) { return static_cast<double>(cost) / kCostUnit; }

// Costs are rounded up and bounds down. So a bound of a program's cycles also bounds the sum of its rounded
// costs, whatever the constants of a target.
constexpr Cost BoundFromCycles(double cycles) { return static_cast<Cost>(cycles * kCostUnit); }
constexpr Cost CostFromCycles(double cycles) {
  const Cost below = BoundFromCycles(cycles);
  return static_cast<double>(below) < cycles * kCostUnit ? below + 1 : below;
}

}  // namespace kirsch

#endif  // KIRSCH_COST_COST_H_
