// SPDX-License-Identifier: Apache-2.0
// Prices a register tile: per step of the reduction, the slowest of the core's bottlenecks. The cost model
// prices microkernels so, and bounds of arithmetic take the best of all tiles (best_trips.h).
//
//   f32, 6 rows of 2 vectors; 2 multiply-adds, 2 loads and 6 instructions per cycle:
//     arithmetic 12 / 2 = 6,  load (6 + 2) / 2 = 4,  front end (12 + 8 + 1.5) / 6 = 3.6:  the trip takes 6
#ifndef KIRSCH_COST_MICROKERNEL_COST_H_
#define KIRSCH_COST_MICROKERNEL_COST_H_

#include <cstdint>
#include <string_view>

#include "spec/microkernel.h"
#include "spec/target.h"

namespace kirsch {

// Instructions that close a loop trip.
inline constexpr double kLoopInstructions = 3;

// Cycles of one trip of the microkernel's loop, by bottleneck; the trip takes the largest. A trip has `group`
// steps of the reduction (kVectors), `lanes * group` steps (kPartialSums and kTiles), or one step
// (kLanewise).
struct TripCycles {
  double arithmetic = 0;
  double widening = 0;
  double load = 0;
  double latency = 0;
  double front_end = 0;
  double total() const;
  std::string_view bottleneck() const;
};

// Returns the cycles of a trip with operands in L1.
TripCycles TripCyclesOf(const RegisterTile& tile, const VectorUnit& unit, const Target& target);

// Returns the terms of each sum: the product of all dims that are reduced.
double ReductionSteps(const Spec& spec);

// Returns the instructions of such a trip, without those of the loop. `folded_loads` of the loads are
// operands of other instructions, so they are none of their own.
double InstructionsOfStep(const RegisterTile& tile, int folded_loads);

// Returns the trips of the loop for a reduction over `k` elements, the last one perhaps not whole.
int64_t TripsOf(const RegisterTile& tile, int64_t k);

// Returns the cycles of the whole microkernel with operands in L1: entry, trips, and summing the accumulator
// sets.
double MicrokernelCycles(const RegisterTile& tile, int64_t k, const VectorUnit& unit, const Target& target);

// Returns the cycles to add up the lanes of a vector of partial sums.
double HalvingCycles(const VectorUnit& unit, Dtype accumulator);

// Returns the cycles to move the output tile into registers, if it is accumulated into, and back:
// instructions only. `masked`: the last vector of each row is not whole.
double OutputTileCycles(const RegisterTile& tile, bool accumulate, bool masked, const VectorUnit& unit);

// So many sums along the reduction are stored as one vector.
inline constexpr int kSumsStoredAtOnce = 4;

// Returns the cycles of the epilogue of `spec` for a vector of its output.
double EpilogueCyclesOfVector(const Spec& spec, const VectorUnit& unit);

// Returns the cycles of the epilogue of `spec`, whose register tile this is, its operands in L1. Sums of a
// matrix unit's tiles are stored and loaded as vectors first, unless they are stored as they are.
double EpilogueCycles(const Spec& spec, const RegisterTile& tile, const VectorUnit& unit);

// Returns the cycles per element of copies of such panels into wider ones.
double PartingInCopies(Dtype panels, const VectorUnit& unit);

}  // namespace kirsch

#endif  // KIRSCH_COST_MICROKERNEL_COST_H_
