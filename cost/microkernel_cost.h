// SPDX-License-Identifier: Apache-2.0
// What a register tile costs: a maximum over the core's bottlenecks, per step of the reduction.
#ifndef KIRSCH_COST_MICROKERNEL_COST_H_
#define KIRSCH_COST_MICROKERNEL_COST_H_

#include <cstdint>
#include <string_view>

#include "spec/microkernel.h"
#include "spec/target.h"

namespace kirsch {

// Instructions that close a loop trip.
inline constexpr double kLoopInstructions = 3;

// Cycles of one trip of the microkernel's loop (kVectors: `group` steps of the reduction; kPartialSums:
// and kTiles: `lanes * group` steps; kLanewise: one step), by bottleneck. The trip takes the largest.
struct TripCycles {
  double arithmetic = 0;
  double widening = 0;
  double load = 0;
  double latency = 0;
  double front_end = 0;
  double total() const;
  std::string_view bottleneck() const;
};

TripCycles TripCyclesOf(const RegisterTile& tile, const VectorUnit& unit, const Target& target);

// Terms of each sum.
double ReductionSteps(const Spec& spec);

// Instructions of such a trip, without those of the loop, so many of the loads being operands of others.
double InstructionsOfStep(const RegisterTile& tile, int folded_loads);

// Trips of the loop for a reduction over `k` elements.
int64_t TripsOf(const RegisterTile& tile, int64_t k);

// The whole microkernel with operands in L1: entry, trips, and summing the accumulator sets.
double MicrokernelCycles(const RegisterTile& tile, int64_t k, const VectorUnit& unit, const Target& target);

// To add up the lanes of a vector of partial sums.
double HalvingCycles(const VectorUnit& unit, Dtype accumulator);

// Moving the output tile into registers (if it is accumulated into) and back: instructions only.
double OutputTileCycles(const RegisterTile& tile, bool accumulate, bool masked, const VectorUnit& unit);

// Of sums along the reduction, so many are stored as one vector.
inline constexpr int kSumsStoredAtOnce = 4;

// The epilogue of `spec` for a vector of its output.
double EpilogueCyclesOfVector(const Spec& spec, const VectorUnit& unit);

// The epilogue of `spec`, whose register tile this is, its operands in L1; and what sums of tiles take to
// become vectors, where they are not stored as they are.
double EpilogueCycles(const Spec& spec, const RegisterTile& tile, const VectorUnit& unit);

// Cycles per element of copies of such panels into wider ones.
double PartingInCopies(Dtype panels, const VectorUnit& unit);

}  // namespace kirsch

#endif  // KIRSCH_COST_MICROKERNEL_COST_H_
