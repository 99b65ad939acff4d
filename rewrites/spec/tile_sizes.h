// SPDX-License-Identifier: Apache-2.0
// Lists the tile sizes that the search may choose from: a lattice, fine where register tiles are chosen,
// powers of two beyond. Every remainder is a spec of its own, so no size of a problem is a bad one.
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
//                            where there is no room for two, or sums are narrower than a word; multiples of the panel once packed; 1..6 elements
//                            too where a dot product can compute them
//   reductions               2^i from 128, or from 4 per row where rows are few: rhs is then streamed, not
//                            reused, and wants long runs (from 8 for up to 16 rows and 4096 columns or more
//                            from beyond L2)
// clang-format on
// Along the digits of a window: those of these sizes that divide a run, or are whole runs; and 2^i runs.
// Finer lattices (3*2^i in every dim, every height for any number of rows) were measured: over ten times the
// search for a gain below 0.4 % in predicted cost.
void AppendTileSizes(const Spec& spec, int dim, const Target& target, std::vector<uint32_t>* sizes);

// Returns the panel width of a packed operand that has the output's vector dim. Tiles are multiples of it,
// since a microkernel reads whole panels. 0 if there is none. Of a lanewise operation, its groups of lanes.
uint32_t BoundPanel(const Spec& spec);

// Appends the panel widths into which an operand with the output's vector dim may be packed, in elements.
void AppendPanelWidths(const Spec& spec, const Target& target, std::vector<uint8_t>* widths);

// Returns how many f32 are in a cache line. Tiles of graphs are measured in it.
int64_t LineElements(const Target& target);

// Returns how far apart rows of `columns` words in a tile should be: an odd number of lines, in words.
//
// A row's last vector, of which only some elements are stored, then overlaps no part of the next row: loads
// of that would have to wait for the store. Nor do loads wait for stores to rows that lie a multiple of 4 KiB
// before them.
//
//   100 columns, lines of 16 words: 7 lines, 112 words; 128 columns: 8 lines become 9, 144 words
int64_t RowDistance(int64_t columns, const Target& target);

// Returns tiles of rows for several stages of a graph, ascending, fewer rows than there are: powers of two,
// and such multiples of the heights of register tiles.
std::vector<int64_t> RowTiles(int64_t rows, const Target& target);

// Returns first, 2 * first, 4 * first and so on, up to `most` and below `end`.
std::vector<int64_t> Doublings(int64_t first, int64_t most, int64_t end);

// Returns the tile that gives each thread one, rounded up to a multiple of `step`. 0 if there is nothing to
// share: a single thread, or a tile of all rows. For 100 rows, 4 threads and steps of 8: 32.
int64_t ShareOf(int64_t rows, int threads, int64_t step);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_TILE_SIZES_H_
