// SPDX-License-Identifier: Apache-2.0
#include "rewrites/spec/rewrite.h"

#include <algorithm>
#include <optional>

#include "rewrites/spec/move.h"
#include "rewrites/spec/prefetch.h"
#include "rewrites/spec/tile.h"
#include "spec/check.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

// Appends what may be done to a spec in blocks (Spec::block): the blocks themselves, or steps before them,
// for all columns that a caller wants at once. Those are taken to be more than a block, so no register tile
// holds them.
void EnumerateOutsideBlocks(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  EnumerateBlocks(spec, decisions);
  if (spec.block >= spec.size[static_cast<size_t>(BlockDim(spec))]) return;
  EnumerateTiles(spec, /*output_fits_registers=*/false, target, decisions);
  if (spec.size[0] > 1) return;
  EnumerateMoves(spec, target, decisions);
  EnumeratePacks(spec, target, decisions);
  // A copy that all blocks have in common is made before all of them, so it is placed where the operand is.
  std::erase_if(*decisions, [&](const Decision& decision) {
    const auto& operand = spec.op_info().operands[decision.operand];
    return decision.kind == RewriteKind::kPack && !operand.UsesDim(BlockDim(spec)) &&
           decision.level != spec.tensor(decision.operand).level;
  });
}

// Appends all of the space, or, if `only` is given, at least all decisions of that kind. The conditions come
// in the order in which a program decides: constants, blocks, threads, then tiles, moves and packs, down to
// the microkernel.
void Enumerate(const Spec& spec, const Target& target, std::optional<RewriteKind> only,
               std::vector<Decision>* decisions) {
  const auto wanted = [&](RewriteKind kind) { return !only || *only == kind; };
  if (const int operand = ConstantOperand(spec); operand >= 0)
    return EnumerateConstantPacks(spec, operand, target, decisions);
  if (spec.block != 0) return EnumerateOutsideBlocks(spec, target, decisions);
  if (spec.threads > 1) return EnumerateParallelTiles(spec, target, decisions);
  // The output is in registers: only the microkernel is left to choose, with its prefetch.
  if (spec.out().level == Level::kVrf) {
    Decision microkernel;
    microkernel.kind = RewriteKind::kMicrokernel;
    decisions->push_back(microkernel);
    if (spec.op_info().base == OpKind::kMatmul) EnumeratePrefetches(spec, target, decisions);
    return;
  }
  EnumerateRegisterTiles(spec, target, decisions);
  // What a tile of a matrix unit leaves of the reduction may be multiplied better by others.
  const bool in_one = !decisions->empty() && !TileArithmetic(spec.tensor(MatmulDims::kLhs).dtype,
                                                             spec.tensor(MatmulDims::kRhs).dtype, target);
  if (wanted(RewriteKind::kTile)) EnumerateTiles(spec, /*output_fits_registers=*/in_one, target, decisions);
  // A batch is split before anything is moved or packed.
  if (spec.size[0] > 1) return;
  if (wanted(RewriteKind::kMove)) EnumerateMoves(spec, target, decisions);
  if (wanted(RewriteKind::kPack)) EnumeratePacks(spec, target, decisions);
}

}  // namespace

void EnumerateDecisions(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  decisions->clear();
  Enumerate(spec, target, std::nullopt, decisions);
}

void Expand(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion) {
  expansion->num_children = 0;
  expansion->num_transfers = 0;
  expansion->copied_elements = 0;
  expansion->copy_transposes = false;
  expansion->filled = Level::kVrf;
  expansion->filled_lines = 0;
  switch (decision.kind) {
    case RewriteKind::kTile:
      return ExpandTile(spec, decision, expansion);
    case RewriteKind::kParallelTile:
      return ExpandParallelTile(spec, decision, expansion);
    case RewriteKind::kMove:
      return ExpandMove(spec, decision, target, expansion);
    case RewriteKind::kPack:
      return ExpandPack(spec, decision, target, expansion);
    case RewriteKind::kMicrokernel:
      return ExpandMicrokernel(spec, decision, target, expansion);
    case RewriteKind::kNone:
      break;
  }
  KIRSCH_BUG("no such rewrite");
}

bool IsLegal(const Spec& spec, const Decision& decision, const Target& target) {
  // Only decisions of the same kind are enumerated, which is quicker than all.
  std::vector<Decision> decisions;
  Enumerate(spec, target, decision.kind, &decisions);
  return std::find(decisions.begin(), decisions.end(), decision) != decisions.end();
}

}  // namespace kirsch
