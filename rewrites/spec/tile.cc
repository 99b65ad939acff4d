// SPDX-License-Identifier: Apache-2.0
#include "rewrites/spec/tile.h"

#include <algorithm>

#include "rewrites/spec/tile_sizes.h"

namespace kirsch {
namespace {

constexpr int kBatch = 0;  // ops list their batch dim first

// Returns the spec of a tile. A window may have fewer digits then (NarrowWindow).
Spec WithSize(const Spec& spec, int dim, uint32_t size) {
  Spec child = spec;
  child.size[static_cast<size_t>(dim)] = size;
  NarrowWindow(&child);
  return child;
}

// Returns a spec that may be tiled so. A relaxation's tiles need not follow the window that it has relaxed:
// such a tile is a plain matrix.
Spec FollowingOnly(const Spec& spec, const Decision& decision) {
  const DigitAxis* const axis = WindowAxis(spec, decision.dim);
  if (axis == nullptr || axis->MayTile(spec.size[decision.dim], decision.size)) return spec;
  Spec strided = spec;
  strided.op = spec.op_info().strided;
  return strided;
}

void AddChild(const Spec& spec, int64_t trips, Expansion* expansion) {
  if (trips == 0) return;
  expansion->children[static_cast<size_t>(expansion->num_children++)] = {spec, trips, trips};
}

// True if a sum may be stored in parts. An output that is not of the sums' type is made from the whole sum:
// it has no room for parts. A depthwise convolution's sums are short.
bool ReductionMayBeSplit(const Spec& spec) {
  return spec.out().dtype == AccumulatorOf(spec) && spec.op_info().base == OpKind::kMatmul;
}

void AppendTiles(const Spec& spec, int dim, const Target& target, std::vector<Decision>* decisions) {
  thread_local std::vector<uint32_t> sizes;
  sizes.clear();
  AppendTileSizes(spec, dim, target, &sizes);
  for (uint32_t size : sizes) {
    Decision decision;
    decision.kind = RewriteKind::kTile;
    decision.dim = static_cast<uint8_t>(dim);
    decision.size = size;
    decisions->push_back(decision);
  }
}

// Tiles a reduction. The first tile overwrites, unless all accumulate, so no separate pass clears the output.
// The last one has the epilogue, which needs the whole sum.
void ExpandReduction(const Spec& spec, const Decision& decision, Expansion* expansion) {
  const uint32_t size = spec.size[decision.dim], rest = size % decision.size;
  Spec tile = WithSize(WithoutEpilogue(spec), decision.dim, decision.size);
  Spec last = WithSize(spec, decision.dim, rest != 0 ? rest : decision.size);
  last.accumulate = true;
  // The last tile is a child of its own only if it is smaller or has an epilogue. So there are up to three
  // children.
  const bool last_differs = rest != 0 || last.op != tile.op;
  int64_t trips = size / decision.size - (rest == 0 && last_differs ? 1 : 0);
  if (!tile.accumulate) {
    AddChild(tile, 1, expansion);
    --trips;
  }
  tile.accumulate = true;
  AddChild(tile, trips, expansion);
  if (last_differs) AddChild(last, 1, expansion);
}

}  // namespace

// spec[d: D] -> D / t tiles spec[d: t], then spec[d: D mod t]. A batch is split before all other dims.
void EnumerateTiles(const Spec& spec, bool output_fits_registers, const Target& target,
                    std::vector<Decision>* decisions) {
  if (spec.size[kBatch] > 1) return AppendTiles(spec, kBatch, target, decisions);
  for (int dim = 1; dim < spec.op_info().num_dims; ++dim) {
    if (spec.block != 0 && dim == BlockDim(spec)) continue;  // the block is the tile
    if (spec.op_info().dims[static_cast<size_t>(dim)].reduction &&
        (output_fits_registers || !ReductionMayBeSplit(spec)))
      continue;
    AppendTiles(spec, dim, target, decisions);
  }
}

// Whole tiles come first, then one of what is left. A block that has been cut off is a plain spec.
void ExpandTile(const Spec& whole, const Decision& decision, Expansion* expansion) {
  const Spec spec = FollowingOnly(whole, decision);
  if (spec.op_info().dims[decision.dim].reduction) return ExpandReduction(spec, decision, expansion);
  const uint32_t size = spec.size[decision.dim], rest = size % decision.size;
  Spec tile = WithSize(spec, decision.dim, decision.size);
  if (spec.block != 0 && decision.dim == BlockDim(spec)) tile.block = tile.block_rows = 0;
  AddChild(tile, size / decision.size, expansion);
  if (rest != 0) AddChild(WithSize(tile, decision.dim, rest), 1, expansion);
}

// Appends the only tile that computes a spec in blocks: one of its blocks, or all columns if they are fewer.
void EnumerateBlocks(const Spec& spec, std::vector<Decision>* decisions) {
  Decision decision;
  decision.kind = RewriteKind::kTile;
  decision.dim = static_cast<uint8_t>(BlockDim(spec));
  decision.size = std::min<uint32_t>(spec.block, spec.size[decision.dim]);
  decisions->push_back(decision);
}

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

}  // namespace

// spec[d: D, threads: T] -> up to `parts` tiles spec[d: t, threads: T / parts] at once, parts dividing T.
// Tiles are as even as whole vectors (or panels) allow. Or one part: the rest of the spec runs on one thread.
//
//   512 columns, 6 threads, vectors of 16: 2 tiles of 256, or 3 of 176, or 6 of 96; the last may be smaller
void EnumerateParallelTiles(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  const int vector_dim = InnerDim(spec, spec.op_info().output());
  const uint32_t panel = BoundPanel(spec);
  const uint32_t vectors =
      panel != 0 ? panel : static_cast<uint32_t>(target.vectors.front().lanes(AccumulatorOf(spec)));
  for (int dim = 0; dim < spec.op_info().num_dims; ++dim) {
    if (spec.op_info().dims[static_cast<size_t>(dim)].reduction) continue;
    // Where the batch has an item for each thread, nothing else is shared out.
    if (dim != kBatch && spec.size[kBatch] > 1 && spec.size[kBatch] >= spec.threads) continue;
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
void ExpandParallelTile(const Spec& spec, const Decision& decision, Expansion* expansion) {
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

}  // namespace kirsch
