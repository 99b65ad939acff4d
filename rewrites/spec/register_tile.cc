// SPDX-License-Identifier: Apache-2.0
// Moves the output into registers: one decision for each register layout that fits.
//
//   before -> after, for out of f32 6x16 in L1:
//     move out VRF vectors8      12 registers of 8 sums each; the spec below adds to them
#include "rewrites/spec/operand_order.h"
#include "rewrites/spec/registry.h"
#include "spec/block.h"
#include "spec/interleaving.h"
#include "spec/microkernel.h"
#include "spec/sum_blocks.h"

namespace kirsch {
namespace {

// True if a tile may read several panels side by side. Those are several streams of whole vectors, which is
// of use only where they come from far.
bool ReadsSeveralPanels(const Spec& spec, const VectorUnit& unit) {
  const TensorSpec& rhs = Operand(spec, MatmulDims::kRhs);
  return rhs.level >= Level::kL3 && rhs.layout.panel % unit.lanes(AccumulatorOf(spec)) == 0;
}

// True if vectors of this unit can hold the codes of rhs. Integers of blocks are read a vector at a time: of
// words, no more than are neighbours; of bytes, as many as share a scale of lhs. Floats of 8 bits are decoded
// as vectors of bytes, for which the widest ones need AVX-512BW.
bool CodesSuit(const Spec& spec, Arithmetic arithmetic, const VectorUnit& unit, const Target& target) {
  const Dtype rhs = Operand(spec, MatmulDims::kRhs).dtype;
  if (IsOfBlocks(rhs) && FormatOf(rhs).codes == BlockCodes::kFloats8)
    return unit.bytes < 64 || target.HasFeature("avx512bw");
  if (!Info(arithmetic).scales) return true;
  const int steps = unit.lanes(Info(arithmetic).accumulator()) * Info(arithmetic).group;
  if (Info(arithmetic).group == kWordBytes) return steps == BlockOf(Dtype::kQ8);
  return steps <= Info(rhs).code_run;
}

// True if a matrix unit can load the operands. Its tiles are loaded row by row at one distance: of lhs, steps
// of the reduction; of rhs, a vector of groups. Their sums are long, and in no order that anyone could ask
// for.
bool SuitsTiles(const Spec& spec, const Instruction& row, const Target& target) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kK = MatmulDims::kK;
  const int lanes = target.vectors.front().lanes(row.accumulator());
  if (spec.fixed_order != 0) return false;
  if (IsFloating(row.accumulator()) && spec.size[kK] > kSumBlock * lanes) return false;
  if (spec.ideal == kIdealInputs) return true;
  const Layout& rhs = Operand(spec, kRhs).layout;
  if (rhs.group != row.group || rhs.panel % lanes != 0) return false;
  return spec.ideal == kIdealLhs || (!IsWindow(spec, kLhs) && ContiguousAlong(spec, kLhs, kK));
}

// True if the register layout and its groups suit the layouts of both inputs. In outer products vectors run
// along the output's inner dim: rhs must be contiguous along it, within one panel or whole vectors of
// several. Where lhs has groups, it must be contiguous along the reduction. Partial sums run along the
// reduction, so both inputs must.
bool OperandsSuit(const Spec& spec, LayoutKind form, Arithmetic arithmetic, const VectorUnit& unit,
                  const Target& target) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kK = MatmulDims::kK;
  const Layout& rhs = Operand(spec, kRhs).layout;
  // Groups of lanes are not cut.
  if (form == LayoutKind::kLanewise)
    return unit.lanes(Info(arithmetic).accumulator()) %
               spec.op_info().window.LaneGroup(spec.size[MatmulDims::kK]) ==
           0;
  if (form == LayoutKind::kTiles && !SuitsTiles(spec, Info(arithmetic), target)) return false;
  if (form == LayoutKind::kPartialSums)
    return spec.fixed_order == 0 && CodesSuit(spec, arithmetic, unit, target) &&
           ContiguousAlong(spec, kLhs, kK) && ContiguousAlong(spec, kRhs, kK) && rhs.panel == 0 &&
           !IsWindow(spec, kLhs);
  if (rhs.panel != 0 && ExtentOf(spec, kRhs).inner > rhs.panel && !ReadsSeveralPanels(spec, unit))
    return false;
  // Vectors lie in one run of a window.
  if (IsWindow(spec, kRhs) && WindowAxis(spec, MatmulDims::kN)->digits > 1) return false;
  if (!ContiguousAlong(spec, kRhs, InnerDim(spec, spec.op_info().output()))) return false;
  return spec.ideal || form == LayoutKind::kTiles ||
         ((rhs.group == Info(arithmetic).group || MayInterleave(spec, arithmetic)) &&
          LhsSuits(spec, arithmetic));
}

// Returns the arithmetic of a tile of this form: that of the packed rhs's groups; along the reduction, the
// best.
Arithmetic FormArithmetic(const Spec& spec, LayoutKind form, const Target& target) {
  const TensorSpec &lhs = Operand(spec, MatmulDims::kLhs), &rhs = Operand(spec, MatmulDims::kRhs);
  if (form == LayoutKind::kVectors && spec.ideal != kIdealInputs)
    return ArithmeticOf(lhs.dtype, rhs.dtype, rhs.layout.group, target);
  return BestArithmetic(spec, target);
}

// True if the tile fits the registers. An ideal tile fits if it does by either arithmetic: it bounds the
// programs of both.
bool FitsRegisters(const Spec& spec, RegisterTile tile, const VectorUnit& unit, const Target& target) {
  if (tile.form == LayoutKind::kTiles) return TileRegistersNeeded(tile) <= target.matrix->registers;
  if (int64_t{tile.rows} * tile.columns > unit.registers) return false;
  if (RegistersNeeded(tile, unit) <= unit.registers) return true;
  if (spec.ideal != kIdealInputs) return false;
  tile.arithmetic =
      ArithmeticOf(Operand(spec, MatmulDims::kLhs).dtype, Operand(spec, MatmulDims::kRhs).dtype, 1, target);
  return RegistersNeeded(tile, unit) <= unit.registers;
}

// Appends the register tiles of one form that have all of the spec's output, one per vector unit that suits.
void AppendRegisterTiles(const Spec& spec, LayoutKind form, Arithmetic arithmetic, const Target& target,
                         std::vector<Decision>* decisions) {
  for (const VectorUnit& unit : target.vectors) {
    if (form == LayoutKind::kTiles && unit.bytes != kTileRowBytes) continue;
    if (!OperandsSuit(spec, form, arithmetic, unit, target)) continue;
    Decision decision;
    decision.kind = RewriteKind::kMove;
    decision.operand = static_cast<uint8_t>(spec.op_info().output());
    decision.level = Level::kVrf;
    decision.layout.kind = form;
    decision.layout.panel = static_cast<uint8_t>(unit.lanes(Info(arithmetic).accumulator()));
    decision.layout.group = static_cast<uint8_t>(Info(arithmetic).group);
    const RegisterTile tile = RegisterTileOf(spec, decision.layout, target);
    if (!FitsRegisters(spec, tile, unit, target)) continue;
    decisions->push_back(decision);
    // Sets of sums have to be added in the end, which few steps do not pay for.
    if (form != LayoutKind::kVectors || CountedSets(tile, unit) == 1) continue;
    decision.layout.kind = LayoutKind::kChains;
    decisions->push_back(decision);
  }
}

// All forms of a register tile, in a fixed order. There are none while rhs in panels waits for an lhs of
// integers, or rhs has to go into panels first.
void EnumerateRegisterTiles(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  if (spec.size[MatmulDims::kB] > 1) return;
  if (IsInPanels(Operand(spec, MatmulDims::kRhs).dtype) && !AreIntegers(spec)) return;
  if (IsMeantForPanels(spec)) return;
  if (spec.op_info().lanewise())
    return AppendRegisterTiles(spec, LayoutKind::kLanewise,
                               PlainArithmetic(Operand(spec, MatmulDims::kLhs).dtype), target, decisions);
  if (const std::optional<Arithmetic> tiles = TilesOf(spec, target))
    AppendRegisterTiles(spec, LayoutKind::kTiles, *tiles, target, decisions);
  const Arithmetic of_types =
      BestArithmetic(Operand(spec, MatmulDims::kLhs).dtype, Operand(spec, MatmulDims::kRhs).dtype, target);
  for (LayoutKind form : {LayoutKind::kVectors, LayoutKind::kPartialSums}) {
    const Arithmetic arithmetic = FormArithmetic(spec, form, target);
    AppendRegisterTiles(spec, form, arithmetic, target, decisions);
    if (form == LayoutKind::kVectors && of_types != arithmetic && spec.fixed_order == 0 &&
        MayInterleave(spec, of_types))
      AppendRegisterTiles(spec, form, of_types, target, decisions);
    // Of several rows, plain multiply-adds take fewer registers; of a step or two, also fewer instructions,
    // and what is ideal costs no more than any.
    if (form == LayoutKind::kPartialSums ? Info(arithmetic).parts() > 1
                                         : spec.ideal == kIdealInputs && Info(arithmetic).group > 1)
      AppendRegisterTiles(spec, form, PlainArithmetic(Operand(spec, MatmulDims::kLhs).dtype), target,
                          decisions);
  }
}

}  // namespace

const SpecRewrite kMoveToRegisters = {
    .kind = RewriteKind::kMove,
    .applies = [](const Spec&, SpecStage stage) { return stage == SpecStage::kTiles; },
    .enumerate = EnumerateRegisterTiles};

}  // namespace kirsch
