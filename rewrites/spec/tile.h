// SPDX-License-Identifier: Apache-2.0
// Tiling one dim, serially or over threads. Internal to rewrites/.
#ifndef KIRSCH_REWRITES_SPEC_TILE_H_
#define KIRSCH_REWRITES_SPEC_TILE_H_

#include <vector>

#include "rewrites/spec/rewrite.h"

namespace kirsch {

void EnumerateTiles(const Spec& spec, bool output_fits_registers, const Target& target,
                    std::vector<Decision>* decisions);
void EnumerateBlocks(const Spec& spec, std::vector<Decision>* decisions);
void ExpandTile(const Spec& spec, const Decision& decision, Expansion* expansion);

void EnumerateParallelTiles(const Spec& spec, const Target& target, std::vector<Decision>* decisions);
void ExpandParallelTile(const Spec& spec, const Decision& decision, Expansion* expansion);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_TILE_H_
