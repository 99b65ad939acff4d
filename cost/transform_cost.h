// SPDX-License-Identifier: Apache-2.0
// What the transforms of Winograd's algorithm cost.
#ifndef KIRSCH_COST_TRANSFORM_COST_H_
#define KIRSCH_COST_TRANSFORM_COST_H_

#include <vector>

#include "spec/level.h"
#include "spec/target.h"
#include "spec/traffic.h"
#include "spec/winograd.h"

namespace kirsch {

// Cycles: instructions, with those that keep in memory what finds no register, and the lines that cross
// levels. `levels`: of the stage's operands, in their order.
double TransformCycles(const TransformShape& shape, const std::vector<Level>& levels, const Target& target);

// What they move: what is stored is fetched first.
Traffic TransformTraffic(const TransformShape& shape, const std::vector<Level>& levels, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_COST_TRANSFORM_COST_H_
