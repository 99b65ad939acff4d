// SPDX-License-Identifier: Apache-2.0
// Prices the transforms of Winograd's algorithm (spec/winograd.h): for each vector of a square, the slowest
// of arithmetic, loads, stores and the front end.
#ifndef KIRSCH_COST_TRANSFORM_COST_H_
#define KIRSCH_COST_TRANSFORM_COST_H_

#include <vector>

#include "spec/level.h"
#include "spec/target.h"
#include "spec/traffic.h"
#include "spec/winograd.h"

namespace kirsch {

// Returns the cycles: instructions, with those that spill what finds no register, and the lines that cross
// levels. `levels` are those of the stage's operands, in their order.
double TransformCycles(const TransformShape& shape, const std::vector<Level>& levels, const Target& target);

// Returns the bytes that the transform moves: what is stored is fetched first.
Traffic TransformTraffic(const TransformShape& shape, const std::vector<Level>& levels, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_COST_TRANSFORM_COST_H_
