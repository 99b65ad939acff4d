// SPDX-License-Identifier: Apache-2.0
// Tiles one dim of a spec, serially or over threads. Internal to rewrites/.
//
//   before -> after, for matmul f32 100x300x512:
//     tile m 32           3 times 32x300x512, then once 4x300x512
//     tile k 128          100x128x512 overwrites, 100x128x512 accumulates, 100x44x512 has the epilogue, too
//     4 threads, m in 2   2 tiles 50x300x512 side by side, for 2 threads each
#ifndef KIRSCH_REWRITES_SPEC_TILE_H_
#define KIRSCH_REWRITES_SPEC_TILE_H_

#include <vector>

#include "rewrites/spec/rewrite.h"

namespace kirsch {

// Append tiles of each dim that may be tiled; blocks of a spec in blocks (Spec::block). With
// `output_fits_registers` the reduction is left to the microkernel.
void EnumerateTiles(const Spec& spec, bool output_fits_registers, const Target& target,
                    std::vector<Decision>* decisions);
void EnumerateBlocks(const Spec& spec, std::vector<Decision>* decisions);
// Leaves the tiles as children, in the order in which they run.
void ExpandTile(const Spec& spec, const Decision& decision, Expansion* expansion);

// Append the ways to share a dim out to threads, and the way to leave the rest to one. Only for specs with
// threads.
void EnumerateParallelTiles(const Spec& spec, const Target& target, std::vector<Decision>* decisions);
void ExpandParallelTile(const Spec& spec, const Decision& decision, Expansion* expansion);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_TILE_H_
