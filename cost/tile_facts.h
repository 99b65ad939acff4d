// SPDX-License-Identifier: Apache-2.0
// Predicts what a register tile's main loop will be before there is code for it: registers, instructions,
// cycles. Code can then be held against the prediction.
#ifndef KIRSCH_COST_TILE_FACTS_H_
#define KIRSCH_COST_TILE_FACTS_H_

#include <cstdint>
#include <string_view>

#include "spec/expansion.h"
#include "spec/microkernel.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// A trip is one of the main loop as the code generator writes it, unrolled.
struct TileFacts {
  RegisterTile tile;        // with the lines that it prefetches
  int registers = 0;        // vector registers in use at the same time, at most; mask registers are none
  int spills = 0;           // vectors that there is no register for
  int64_t steps = 0;        // of the reduction that a trip takes in
  double trips = 0;         // in one run; a part of one is what a loop of single steps, or the tail, takes
  int multiply_adds = 0;    // of whole vectors, in a trip
  double instructions = 0;  // in a trip; the average where not every trip prefetches as much
  double cycles = 0;        // of a trip, operands in L1
  std::string_view bottleneck;
  double peak_share = 0;  // of PeakFlopsPerCycle, in a trip: what is masked off counts for nothing
};

// Returns the facts of a spec whose decision is kMicrokernel. `expansion` is what Expand makes of it.
TileFacts TileFactsOf(const Spec& microkernel, const Expansion& expansion, const Target& target);

// Returns the register tile, with the lines that it prefetches in each trip, on average.
RegisterTile TileOf(const Spec& microkernel, const Expansion& expansion, const Target& target);

// Returns the peak of one thread, by the fastest way that the target has to multiply operands of these types.
// A multiplication and an addition are two.
double PeakFlopsPerCycle(const Spec& spec, const Target& target);

// Returns the cycles of the spec's arithmetic alone, at the peak of all its threads.
double PeakCycles(const Spec& spec, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_COST_TILE_FACTS_H_
