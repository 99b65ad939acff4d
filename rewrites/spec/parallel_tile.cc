// SPDX-License-Identifier: Apache-2.0
// Shares the tiles of one dim out over threads.
//
//   before -> after, for matmul f32 100x300x512:
//     parallel m 50 2, of 4 threads    2 tiles 50x300x512 side by side, for 2 threads each
#include <algorithm>

#include "rewrites/spec/expansion_parts.h"
#include "rewrites/spec/registry.h"
#include "rewrites/spec/tile_sizes.h"

namespace kirsch {
namespace {

// Returns the least tile of at least `tile` that the window, if there is one, may have; at most the whole
// size.
uint32_t WholeRuns(const Spec& spec, int dim, uint32_t tile) {
  const int64_t size = spec.size[static_cast<size_t>(dim)];
  const DigitAxis* const axis = WindowAxis(spec, dim);
  int64_t rounded = tile;
  for (int level = 1; axis != nullptr && level < axis->digits && !axis->MayTile(size, rounded); ++level)
    rounded = (rounded + axis->unit(level) - 1) / axis->unit(level) * axis->unit(level);
  return static_cast<uint32_t>(std::min(rounded, size));
}

// spec[d: D, threads: T] -> up to `parts` tiles spec[d: t, threads: T / parts] at once, parts dividing T.
// Tiles are as even as whole vectors (or panels) allow. Or one part: the rest of the spec runs on one thread.
//
//   512 columns, 6 threads, vectors of 16: 2 tiles of 256, or 3 of 176, or 6 of 96; the last may be smaller
void EnumerateParallelTiles(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  const int vector_dim = InnerDim(spec, spec.op_info().output());
  const uint32_t panel = BoundPanel(spec);
  const auto lanes = static_cast<uint32_t>(target.vectors.front().lanes(AccumulatorOf(spec)));
  const uint32_t vectors = panel == 0 || spec.op_info().lanewise() ? lanes : panel;
  for (int dim = 0; dim < spec.op_info().num_dims; ++dim) {
    if (spec.op_info().dims[static_cast<size_t>(dim)].reduction) continue;
    // Where the batch has an item for each thread, nothing else is shared out.
    if (dim != MatmulDims::kB && spec.size[MatmulDims::kB] > 1 && spec.size[MatmulDims::kB] >= spec.threads)
      continue;
    const uint32_t grain = dim == vector_dim ? vectors : 1;
    const uint32_t size = spec.size[static_cast<size_t>(dim)];
    for (uint32_t parts = 2; parts <= spec.threads; ++parts) {
      if (spec.threads % parts != 0) continue;
      const uint32_t tile = WholeRuns(spec, dim, ((size + parts - 1) / parts + grain - 1) / grain * grain);
      // Rounded up to whole vectors, a tile may be all there is.
      if (tile >= size) continue;
      Decision decision;
      decision.kind = RewriteKind::kParallelTile;
      decision.dim = static_cast<uint8_t>(dim);
      decision.size = tile;
      decision.parts = parts;
      decisions->push_back(decision);
    }
  }
  Decision serial;
  serial.kind = RewriteKind::kParallelTile;
  serial.dim = static_cast<uint8_t>(vector_dim);
  serial.size = spec.size[static_cast<size_t>(vector_dim)];
  serial.parts = 1;
  decisions->push_back(serial);
}

// Threads divide among the parts; as many times more run at once, and share caches (active_threads).
void ExpandParallelTile(const Spec& spec, const Decision& decision, const Target&, Expansion* expansion) {
  const uint32_t size = spec.size[decision.dim];
  Spec tile = WithSize(spec, decision.dim, decision.size);
  tile.threads = decision.parts == 1 ? 1 : static_cast<uint8_t>(spec.threads / decision.parts);
  tile.active_threads = static_cast<uint8_t>(spec.active_threads * decision.parts);
  AddChild(tile, size / decision.size, expansion);
  expansion->children[0].weight = 1;
  if (size % decision.size == 0) return;
  // The smaller last tile runs beside the whole ones and ends before them.
  AddChild(WithSize(tile, decision.dim, size % decision.size), 1, expansion);
  expansion->children[1].weight = 0;
}

}  // namespace

const SpecRewrite kParallelTile = {
    .kind = RewriteKind::kParallelTile,
    .applies = [](const Spec&, SpecStage stage) { return stage == SpecStage::kThreads; },
    .enumerate = EnumerateParallelTiles,
    .expand = ExpandParallelTile};

}  // namespace kirsch
