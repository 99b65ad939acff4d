// SPDX-License-Identifier: Apache-2.0
#include "cost/tile_facts.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "cost/microkernel_cost.h"
#include "spec/footprint.h"
#include "spec/interleaving.h"

namespace kirsch {
namespace {

// Returns the bytes from one step of the reduction to the one so many on.
int64_t BytesOfSteps(const Spec& spec, int operand, int64_t steps, const Target& target) {
  const TensorSpec& tensor = spec.operand[static_cast<size_t>(operand)];
  const Layout& layout = tensor.layout;
  const int64_t row =
      layout.panel != 0 ? layout.panel : CopyLd(ExtentOf(spec, operand), layout, tensor.dtype, target);
  return Bytes(tensor.dtype, steps) * (InnerDim(spec, operand) == MatmulDims::kK ? 1 : row);
}

// True if an address may have its index multiplied by the factor.
bool IsScale(int64_t factor) { return factor == 1 || factor == 2 || factor == 4 || factor == 8; }

// True if compilers have one index for two pointers: one of them moves by as many bytes as the other, or by
// as many times as addresses can say. Where one of them moves so little that the count of trips is its index,
// the other one must, too.
bool HaveOneIndex(int64_t a, int64_t b) {
  const auto [less, more] = std::minmax(a, b);
  if (more % less != 0 || !IsScale(more / less)) return false;
  return less == more || !IsScale(less) || IsScale(more);
}

// A count, a branch, and two pointers that move on. Of what is unrolled compilers have a pointer each.
double LoopInstructions(const Spec& spec, const MainLoop& loop, int64_t steps, const Target& target) {
  constexpr double kAll = 4;
  if (loop.unroll > 1 || !spec.op_info().window.empty()) return kAll;
  const bool one_index = HaveOneIndex(BytesOfSteps(spec, MatmulDims::kLhs, steps, target),
                                      BytesOfSteps(spec, MatmulDims::kRhs, steps, target));
  return kAll - (one_index ? 1 : 0);
}

// Returns the instructions that widen a vector or a broadcast of an operand, beside its load. The first one
// that widens a vector loads it; a broadcast of bf16 is shifted only.
double WideningOf(const Spec& spec, int operand, const RegisterTile& tile) {
  const Dtype dtype = spec.operand[static_cast<size_t>(operand)].dtype;
  const Dtype lane = LaneType(tile.arithmetic, operand, dtype);
  constexpr double kInterleavingAll = 4;  // instructions for a vector of two rows
  if (lane == dtype) return operand == MatmulDims::kRhs && Interleaves(tile) ? kInterleavingAll - 1 : 0;
  const bool one = !IsFloating(dtype) || dtype == Dtype::kF16;  // extended, or converted
  const int all =
      one ? 1 : WideningInstructions(dtype, lane == Dtype::kBf16 ? lane : Dtype::kF32, tile.by_tables);
  const bool broadcast = tile.form == LayoutKind::kVectors && operand == MatmulDims::kLhs;
  return broadcast && dtype != Dtype::kBf16 ? all : all - 1;
}

// Returns the instructions that widen in a step. Words of pairs are unpacked by two instructions. Vectors of
// lhs that are no words take two shuffles, whose results have to be put in order where there is no shuffle of
// all lanes.
double WideningOf(const Spec& spec, const RegisterTile& tile, const VectorUnit& unit) {
  const double lhs = WideningOf(spec, MatmulDims::kLhs, tile), rhs = WideningOf(spec, MatmulDims::kRhs, tile);
  if (tile.form == LayoutKind::kLanewise)
    return lhs * tile.columns * tile.inputs / tile.taps + rhs * tile.columns;
  if (!tile.instruction().unpacked) return lhs * tile.rows + rhs * tile.columns;
  const double unpacked = tile.widens_rhs > 0 ? 2.0 * tile.columns : 0;
  if (tile.form == LayoutKind::kVectors) return 2 * lhs * tile.rows + unpacked;
  const double of_row = tile.widens_lhs > 0 ? -1 : unit.masks ? 0 : 2;  // a word is one load
  return unpacked + of_row * tile.rows;
}

// Returns the instructions for a last vector that is loaded in pieces. A first piece of less than a word goes
// by way of a general register. Half a vector of bf16 is widened by one instruction.
int InstructionsOfPieces(const RegisterTile& tile, int rest) {
  if (tile.pieces == 0) return 0;
  const int first = static_cast<int>(std::bit_floor(static_cast<unsigned>(rest))) * Bytes(tile.rhs);
  const bool unpacked = tile.rhs == Dtype::kBf16 && tile.lanes == 4;
  return tile.pieces + (first < kWordBytes ? 1 : 0) - (unpacked ? 1 : 0);
}

// Returns the registers for masks where there are no mask registers: zeros, for a blend with which words are
// unpacked.
int Masks(const RegisterTile& tile, const VectorUnit& unit) {
  return !unit.masks && tile.instruction().unpacked ? 1 : 0;
}

// Returns the vector registers in use at the same time. What is widened takes its own place. Compilers load
// two of the next broadcasts before they are needed, where registers are left.
int RegistersInUse(const RegisterTile& tile, const VectorUnit& unit, const Target& target) {
  if (tile.form == LayoutKind::kTiles) return TileRegistersNeeded(tile);
  constexpr int kEarly = 2;
  int registers = RegistersAtPeak(tile, unit, target) + Masks(tile, unit);
  if (tile.widens_lhs > 0 || (tile.widens_rhs > 0 && !Interleaves(tile))) --registers;
  const bool fmas = tile.instruction().timed == Arithmetic::kFma && !tile.instruction().unpacked;
  const bool loads_ahead = tile.rows > 1 && tile.widens_lhs == 0 && fmas && FoldedLoads(tile, unit) == 0;
  return loads_ahead ? std::max(registers, std::min(unit.registers, registers + kEarly)) : registers;
}

// Returns the instructions of a step. Folded loads and each way to widen are counted as compilers write them.
double InstructionsOf(const Spec& spec, const RegisterTile& tile, const VectorUnit& unit,
                      const Target& target) {
  if (tile.form == LayoutKind::kTiles) return InstructionsOfStep(tile, 0);
  RegisterTile plain = tile;
  plain.widens_lhs = plain.widens_rhs = 0;
  const Encoding* const encoding = EncodingOf(tile.arithmetic, unit, target);
  const bool adds_apart = encoding != nullptr && encoding->form == EncodingForm::kProduct &&
                          tile.instruction().instructions() == 1;
  return InstructionsOfStep(plain, FoldedLoads(tile, unit)) + WideningOf(spec, tile, unit) +
         InstructionsOfPieces(tile, static_cast<int>(spec.size[MatmulDims::kN]) % tile.lanes) +
         (adds_apart ? tile.accumulators() : 0);
}

// Lines that prefetch instructions ask for in one run of the microkernel.
int64_t PrefetchedLines(const Expansion& expansion) {
  int64_t lines = 0;
  for (int i = 0; i < expansion.num_transfers; ++i) {
    const Transfer& transfer = expansion.transfers[static_cast<size_t>(i)];
    if (transfer.ahead_lines != 0 || transfer.by_tiles) lines += transfer.read.lines;
  }
  return lines;
}

DigitAxis ReductionOf(const Spec& spec) {
  const DigitAxis* const axis = WindowAxis(spec, MatmulDims::kK);
  return axis != nullptr ? *axis : DigitAxis{};
}

}  // namespace

RegisterTile TileOf(const Spec& microkernel, const Expansion& expansion, const Target& target) {
  RegisterTile tile = RegisterTileOf(microkernel, microkernel.out().layout, target);
  tile.prefetches = static_cast<double>(PrefetchedLines(expansion)) /
                    static_cast<double>(TripsOf(tile, static_cast<int64_t>(ReductionSteps(microkernel))));
  return tile;
}

double PeakFlopsPerCycle(const Spec& spec, const Target& target) {
  const Arithmetic best = BestArithmetic(spec, target);
  double peak = 0;
  for (const VectorUnit& unit : target.vectors)
    peak = std::max(peak, 2 * unit.rate(best).per_cycle * Info(best).group * unit.lanes(AccumulatorOf(spec)));
  const std::optional<Arithmetic> tiles =
      TileArithmetic(spec.tensor(MatmulDims::kLhs).dtype, spec.tensor(MatmulDims::kRhs).dtype, target);
  if (!tiles || spec.fixed_order != 0) return peak;
  const double lanes = target.vectors.front().lanes(AccumulatorOf(spec));
  return std::max(peak, 2 * Info(*tiles).group * lanes * lanes / target.matrix->row_cycles);
}

double PeakCycles(const Spec& spec, const Target& target) {
  return Flops(spec) / PeakFlopsPerCycle(spec, target) / spec.threads;
}

TileFacts TileFactsOf(const Spec& microkernel, const Expansion& expansion, const Target& target) {
  TileFacts facts;
  facts.tile = TileOf(microkernel, expansion, target);
  // The loop's form first, then the registers, then a trip: `unroll` steps of the register tile.
  const RegisterTile& tile = facts.tile;
  const VectorUnit& unit = UnitOf(target, tile);
  const MainLoop loop = MainLoopOf(tile, unit, ReductionOf(microkernel));
  facts.registers = RegistersInUse(tile, unit, target);
  const bool of_matrix = tile.form == LayoutKind::kTiles;
  facts.spills = std::max(0, facts.registers - RegistersFor(tile, target));
  const int64_t step = tile.step();
  facts.steps = loop.unroll * step;
  facts.trips = ReductionSteps(microkernel) / static_cast<double>(facts.steps);
  facts.multiply_adds = loop.unroll * tile.instruction().parts() *
                        (of_matrix ? tile.row_tiles() * tile.columns : tile.accumulators());
  facts.instructions = loop.unroll * InstructionsOf(microkernel, tile, unit, target) +
                       LoopInstructions(microkernel, loop, step, target);
  const TripCycles step_cycles = TripCyclesOf(tile, unit, target);
  facts.cycles = loop.unroll * step_cycles.total();
  facts.bottleneck = step_cycles.bottleneck();
  const int64_t elements = ExtentOf(microkernel, microkernel.op_info().output()).elements();
  const double flops = 2 * static_cast<double>(elements * facts.steps);
  facts.peak_share = flops / facts.cycles / PeakFlopsPerCycle(microkernel, target);
  return facts;
}

}  // namespace kirsch
