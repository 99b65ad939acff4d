// SPDX-License-Identifier: Apache-2.0
// Draws programs by chance that are one register tile each. They show how fast microkernels are, without what
// larger programs add: copies, loops over tiles and slow caches.
#ifndef KIRSCH_SEARCH_SAMPLING_DRAW_TILES_H_
#define KIRSCH_SEARCH_SAMPLING_DRAW_TILES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "spec/expansion.h"
#include "spec/impl.h"
#include "spec/language/parser.h"
#include "spec/target.h"

namespace kirsch {

// A matmul whose output is a single register tile. If rhs must be copied, that is done ahead.
struct TileKernel {
  ParsedSpec parsed;
  Impl impl;
  Spec microkernel;     // the spec of its only microkernel
  Expansion expansion;  // of that
};

// Draws up to `count` register tiles, no two alike, of the types, forms, instructions and widths that the
// target has. The reduction is as long as leaves the operands in L1, a multiple of 64 steps. Deterministic.
std::vector<TileKernel> DrawTileKernels(const Target& target, int count, uint64_t seed);

// Returns the same register tile with a reduction of `steps`. Two lengths tell the time of a step from what
// comes before and after all steps. Returns nothing if that length doesn't have this tile.
std::optional<TileKernel> WithSteps(const TileKernel& kernel, int64_t steps, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SAMPLING_DRAW_TILES_H_
