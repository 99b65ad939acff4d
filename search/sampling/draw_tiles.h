// SPDX-License-Identifier: Apache-2.0
// Programs that are one register tile each, drawn by chance.
#ifndef KIRSCH_SEARCH_SAMPLING_DRAW_TILES_H_
#define KIRSCH_SEARCH_SAMPLING_DRAW_TILES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/expansion.h"
#include "spec/impl.h"
#include "spec/language/parser.h"
#include "spec/target.h"

namespace kirsch {

// A matmul whose output is a single register tile; a copy of rhs that it needs is made ahead.
struct TileKernel {
  ParsedSpec parsed;
  Impl impl;
  Spec microkernel;  // of its only one
  Expansion expansion;
};

// Up to `count` register tiles, no two alike, of all types, forms, instructions and widths that the target
// has; the reduction is `steps` long or as long as leaves the operands in L1, a multiple of 64.
// Deterministic.
std::vector<TileKernel> DrawTileKernels(const Target& target, int count, uint64_t seed);

// The same register tile with a reduction of `steps`; nothing if that has none.
std::optional<TileKernel> WithSteps(const TileKernel& kernel, int64_t steps, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SAMPLING_DRAW_TILES_H_
