// SPDX-License-Identifier: Apache-2.0
// The tile sizes the search may choose from.
#ifndef KIRSCH_REWRITES_SPEC_TILE_SIZES_H_
#define KIRSCH_REWRITES_SPEC_TILE_SIZES_H_

#include <cstdint>
#include <vector>

#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Appends the tile sizes below spec.size[dim], ascending.
// clang-format off
//   batch dims               1
//   output rows              register-tile heights 1..14 (of more than 28 rows: those that divide them or fill
//                            the registers), the rows of a matrix unit's tile, then 2^i from 32
//   output's vector dim      2..4 vectors (5 and 6 for at most 5 rows), then 2^i from 8 vectors; one vector
//                            where there is no room for two; multiples of the panel once packed; 1..6 elements
//                            too where a dot product can compute them
//   reductions               2^i from 128, or from 4 per row where rows are few: rhs is then streamed, not
//                            reused, and wants long runs (from 8 for up to 16 rows and 4096 columns or more
//                            from beyond L2)
// clang-format on
// Along the digits of a window: those of these sizes that divide a run, or are whole runs; and 2^i runs.
// Finer lattices (3*2^i in every dim, every height for any number of rows) were measured: over ten times the
// search for a gain below 0.4 % in predicted cost.
void AppendTileSizes(const Spec& spec, int dim, const Target& target, std::vector<uint32_t>* sizes);

// The panel width the output's vector dim is bound to by a packed operand: tiles are multiples of it. 0 if
// none.
uint32_t BoundPanel(const Spec& spec);

// Panel widths an operand that holds the output's vector dim may be packed into.
void AppendPanelWidths(const Spec& spec, const Target& target, std::vector<uint8_t>* widths);

// f32 in a cache line: what tiles of graphs are measured in.
int64_t LineElements(const Target& target);

// How far apart rows of so many elements (words) of a tile should be: an odd number of lines. A row's last
// vector, of which only some elements are stored, has none of the next row's place then, whose loads would
// wait for it; nor do loads wait for stores of rows that are a multiple of 4 KiB before them.
int64_t RowDistance(int64_t columns, const Target& target);

// Of graphs: tiles of rows of several stages, fewer than there are: powers of two, and of those the multiples
// of the heights of register tiles.
std::vector<int64_t> RowTiles(int64_t rows, const Target& target);

// first, 2 * first, 4 * first and so on, up to `most` and below `end`.
std::vector<int64_t> Doublings(int64_t first, int64_t most, int64_t end);

// The tile that gives each thread one, a multiple of `step`; 0: there is nothing to share.
int64_t ShareOf(int64_t rows, int threads, int64_t step);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_TILE_SIZES_H_
