// SPDX-License-Identifier: Apache-2.0
// Tiles one dim of a spec.
//
//   before -> after, for matmul f32 100x300x512:
//     tile m 32           3 times 32x300x512, then once 4x300x512
//     tile k 128          100x128x512 overwrites, 100x128x512 accumulates, 100x44x512 has the epilogue, too
#include <algorithm>

#include "rewrites/spec/expansion_parts.h"
#include "rewrites/spec/operand_order.h"
#include "rewrites/spec/registry.h"
#include "rewrites/spec/tile_sizes.h"

namespace kirsch {
namespace {

// Returns a spec that may be tiled so. A relaxation's tiles need not follow the window that it has relaxed:
// such a tile is a plain matrix.
Spec FollowingOnly(const Spec& spec, const Decision& decision) {
  const DigitAxis* const axis = WindowAxis(spec, decision.dim);
  if (axis == nullptr || axis->MayTile(spec.size[decision.dim], decision.size)) return spec;
  Spec strided = spec;
  strided.op = spec.op_info().strided;
  return strided;
}

// True if a sum may be stored in parts. An output that is not of the sums' type is made from the whole sum:
// it has no room for parts. A depthwise convolution's sums are short.
bool ReductionMayBeSplit(const Spec& spec) {
  return spec.out().dtype == AccumulatorOf(spec) && !spec.op_info().lanewise();
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

// spec[d: D] -> D / t tiles spec[d: t], then spec[d: D mod t]. A batch is split before all other dims. A
// reduction is left to the microkernel where the output fits the registers; but not where a matrix unit has
// the types, as others may multiply better what its tiles leave.
void EnumerateTiles(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  const bool output_fits_registers = spec.block == 0 && !decisions->empty() && !TilesOf(spec, target);
  if (spec.size[MatmulDims::kB] > 1) return AppendTiles(spec, MatmulDims::kB, target, decisions);
  for (int dim = 1; dim < spec.op_info().num_dims; ++dim) {
    if (spec.block != 0 && dim == BlockDim(spec)) continue;  // the block is the tile
    if (spec.op_info().dims[static_cast<size_t>(dim)].reduction &&
        (output_fits_registers || !ReductionMayBeSplit(spec)))
      continue;
    AppendTiles(spec, dim, target, decisions);
  }
}

// Whole tiles come first, then one of what is left. A block that has been cut off is a plain spec.
void ExpandTile(const Spec& whole, const Decision& decision, const Target&, Expansion* expansion) {
  const Spec spec = FollowingOnly(whole, decision);
  if (spec.op_info().dims[decision.dim].reduction) return ExpandReduction(spec, decision, expansion);
  const uint32_t size = spec.size[decision.dim], rest = size % decision.size;
  Spec tile = WithSize(spec, decision.dim, decision.size);
  if (spec.block != 0 && decision.dim == BlockDim(spec)) tile.block = tile.block_rows = 0;
  AddChild(tile, size / decision.size, expansion);
  if (rest != 0) AddChild(WithSize(tile, decision.dim, rest), 1, expansion);
}

// Appends the only tile that computes a spec in blocks: one of its blocks, or all columns if they are fewer.
void EnumerateColumnBlocks(const Spec& spec, const Target&, std::vector<Decision>* decisions) {
  Decision decision;
  decision.kind = RewriteKind::kTile;
  decision.dim = static_cast<uint8_t>(BlockDim(spec));
  decision.size = std::min<uint32_t>(spec.block, spec.size[decision.dim]);
  decisions->push_back(decision);
}

}  // namespace

const SpecRewrite kColumnBlocks = {
    .kind = RewriteKind::kTile,
    .applies = [](const Spec&, SpecStage stage) { return stage == SpecStage::kBlocks; },
    .enumerate = EnumerateColumnBlocks};

const SpecRewrite kTile = {
    .kind = RewriteKind::kTile, .applies = MayBeTiled, .enumerate = EnumerateTiles, .expand = ExpandTile};

}  // namespace kirsch
