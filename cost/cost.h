// The cost of a program: cycles of the target core, in fixed point, so that sums and multiples are exact and
// the same on every machine.
#ifndef KIRSCH_COST_COST_H_
#define KIRSCH_COST_COST_H_

#include <cstdint>
#include <limits>

namespace kirsch {

using Cost = int64_t;  // 1/256 cycle

inline constexpr Cost kCostUnit = 256;
inline constexpr Cost kInfiniteCost = std::numeric_limits<Cost>::max() / 4;

constexpr double ToCycles(Cost cost) { return static_cast<double>(cost) / kCostUnit; }

// Rounds down, so that a bound in fixed point is still a bound.
constexpr Cost FromCycles(double cycles) { return static_cast<Cost>(cycles * kCostUnit); }

}  // namespace kirsch

#endif  // KIRSCH_COST_COST_H_
