// SPDX-License-Identifier: Apache-2.0
// Brings operands closer to the core as they lie, and expands moves of the output into registers
// (register_tile.cc), too.
//
//   before -> after, for an rhs of f32 64x512 in RAM, rows 512 elements apart:
//     move rhs L2    the spec with rhs in L2, resident: no code, lines come when first read
//     move out VRF   the spec with the output in registers; what is left is the microkernel
#include <algorithm>

#include "rewrites/spec/expansion_parts.h"
#include "rewrites/spec/operand_order.h"
#include "rewrites/spec/registry.h"
#include "spec/block.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

// True if no microkernel can read the operand as it lies, whatever the tile. It must be copied, so it is not
// moved. Lhs across the reduction is no partner of groups.
bool NeedsCopy(const Spec& spec, int operand, const Target& target) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kK = MatmulDims::kK;
  const bool rhs_along_k = ContiguousAlong(spec, kRhs, kK);
  if (operand == kLhs && IsInPanels(Operand(spec, kRhs).dtype) && !AreIntegers(spec)) return true;
  if (operand == kRhs && IsWindow(spec, kRhs)) return !ContiguousAlong(spec, kRhs, MatmulDims::kN);
  if (spec.fixed_order != 0) return operand == kRhs && rhs_along_k;
  if (spec.ideal) return false;
  if (operand == kRhs && IsMeantForPanels(spec)) return true;
  if (operand == kRhs) return rhs_along_k && !ContiguousAlong(spec, kLhs, kK);
  if (operand != kLhs) return false;
  return Operand(spec, kRhs).layout.group > 1 && !LhsSuits(spec, BestArithmetic(spec, target));
}

// operand@X -> operand@Y, Y faster than X and no slower than the level being filled. Operands of the epilogue
// stay where they are: each is read once, or it is a vector.
void EnumerateMoves(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  const Level filling = FillingLevel(spec);
  for (int operand = 0; operand <= spec.op_info().output(); ++operand) {
    if (NeedsCopy(spec, operand, target)) continue;
    for (Level level : {Level::kL3, Level::kL2, Level::kL1}) {
      if (level > filling || level >= Operand(spec, operand).level) continue;
      Decision decision;
      decision.kind = RewriteKind::kMove;
      decision.operand = static_cast<uint8_t>(operand);
      decision.level = level;
      decisions->push_back(decision);
    }
  }
}

// True if the microkernels below prefetch what is moved, each for the tile of columns behind its own.
bool AreColumnsPrefetched(const Spec& spec, const Decision& decision) {
  return decision.operand == MatmulDims::kRhs && decision.level <= Level::kL2 &&
         spec.operand[MatmulDims::kRhs].level > Level::kL2 && RhsIsReadInColumns(spec);
}

// Notes that the columns are one long stream, of which as much is on its way as microkernels look ahead.
void AskForColumnsAhead(const Spec& spec, const Target& target, Transfer* transfer) {
  const int64_t column = Bytes(spec.operand[MatmulDims::kRhs].dtype, spec.size[MatmulDims::kK]);
  transfer->a_tile_ahead = transfer->one_stream = true;
  transfer->ahead_lines = ColumnsAhead(spec) * column / target.line_bytes;
  transfer->new_runs = 0;
}

// A move has one child: the same spec with the operand at its new level. Only a move into registers also
// changes what is left to compute.
void ExpandMove(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion) {
  Spec child = spec;
  TensorSpec& moved = child.operand[decision.operand];
  const Footprint footprint = FootprintOf(spec, decision.operand, target);
  moved.level = decision.level;
  if (decision.level == Level::kVrf) {
    moved.layout = decision.layout;
    moved.dtype = AccumulatorOf(spec);
    // Registers hold the tile: the spec below only adds to it, whatever was asked for.
    child = WithoutEpilogue(child);
    child.accumulate = true;
    // What the tile's store and epilogue take from beyond L1 comes at this point.
    for (int operand = decision.operand; operand < spec.op_info().num_operands; ++operand)
      if (Operand(spec, operand).level > Level::kL1)
        AddTransfer(spec, operand, decision.level,
                    operand == decision.operand ? footprint : FootprintOf(spec, operand, target), target,
                    expansion);
  } else {
    AddTransfer(spec, decision.operand, decision.level, footprint, target, expansion);
    // How the lines arrive decides what they cost: in short pieces of rows, in rows that evict each other,
    // panel by panel, or in whole columns that are asked for ahead.
    Transfer& transfer = LastTransfer(expansion);
    transfer.by_tiles = decision.operand == MatmulDims::kRhs && decision.level <= Level::kL2 &&
                        transfer.from > Level::kL2 && RhsHasShortRuns(spec);
    transfer.rows_conflict = transfer.by_tiles && RowsConflict(spec, decision.operand, target);
    // Of panels that are closer than L3, microkernels read one after the other.
    transfer.one_by_one = Operand(spec, decision.operand).layout.kind == LayoutKind::kPacked;
    const bool ahead = AreColumnsPrefetched(spec, decision);
    if (ahead) AskForColumnsAhead(spec, target, &transfer);
    // What has been asked for so stays that, if it is moved once more.
    moved.resident = ahead || transfer.by_tiles ? kPrefetched : std::max(moved.resident, kResident);
    SettleRounding(&child);
    // The tile takes room in its cache from here on.
    expansion->filled = decision.level;
    expansion->filled_lines = ResidentLines(spec, decision.operand, footprint, target, decision.level);
  }
  AddChild(child, 1, expansion);
}

}  // namespace

const SpecRewrite kMove = {
    .kind = RewriteKind::kMove, .applies = MayBePlaced, .enumerate = EnumerateMoves, .expand = ExpandMove};

}  // namespace kirsch
