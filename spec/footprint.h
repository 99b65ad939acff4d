// SPDX-License-Identifier: Apache-2.0
// Counts what a tile of an operand occupies: cache lines, strided runs, pages, and its share of a cache's
// sets. This is pure geometry: cost/ says what it costs, the rewrites whether it fits.
#ifndef KIRSCH_SPEC_FOOTPRINT_H_
#define KIRSCH_SPEC_FOOTPRINT_H_

#include <cstdint>

#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// For example, 6 rows of 64 bytes that are 4000 bytes apart take 6 lines in 6 runs, on 5 pages of 4096 bytes.
struct Footprint {
  int64_t lines = 0;  // cache lines touched
  int64_t runs = 0;   // stretches of consecutive lines, one a row of the tile
  int64_t pages = 0;  // pages touched
};

// The lines, runs and pages of the operand's tile as it lies.
Footprint FootprintOf(const Spec& spec, int operand, const Target& target);

// Returns how many lines of the cache the tile takes when it is to stay there. Rows that are nearly a power
// of two apart leave sets unused; each line then counts as many times as there are sets for one that is used.
// (Rows that are 4 KiB apart use one set in 64 of a 32 KiB 8-way cache; 513 rows that are 4100 bytes apart
// use 33.)
int64_t ResidentLines(const Spec& spec, int operand, const Footprint& footprint, const Target& target,
                      Level level);

// Returns how many of the caller's rows, of any width, take no more than half of the ways of any set.
int64_t RowsInHalfOfWays(const Spec& spec, int operand, const Target& target, Level level);

// True if the current lines of a tile's rows, read side by side, do not fit the ways of the L1 sets they fall
// on: a line is gone before the walk along its row comes back to it.
bool RowsEvictEachOther(const Spec& spec, int operand, const Target& target);

// True if they do not fit even where each line is read only once, so that only what is asked for ahead must
// stay. Rows that just fill the ways do not conflict.
bool RowsConflict(const Spec& spec, int operand, const Target& target);

// The leading dimension of a kPacked copy without panels: padded to whole lines, and away from strides that
// fall on few cache sets.
int64_t PackedLd(int64_t inner, Dtype dtype, const Target& target);

// The same of any copy without panels, a kStrided one too.
int64_t CopyLd(const TileExtent& extent, const Layout& layout, Dtype dtype, const Target& target);

// The elements of the buffer that holds a copy of the operand's tile, all panels padded to full width.
int64_t PackedElements(const TileExtent& extent, const Layout& layout, Dtype dtype, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_FOOTPRINT_H_
