// SPDX-License-Identifier: Apache-2.0
#include "cost/microkernel_cost.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <vector>

#include "cost/vector_math_cost.h"
#include "spec/block.h"
#include "spec/graph/epilogue_program.h"
#include "spec/graph/row_passes.h"
#include "spec/interleaving.h"

namespace kirsch {
namespace {

// The code generator unrolls until a trip has this many FMAs.
constexpr double kUnrolledFmas = 24;

// To widen a vector or a broadcast takes a shuffle and, mostly, a shift; shuffles have a port of their own.
constexpr double kShufflesPerCycle = 1;
constexpr double kWideningInstructions = 2;

// To part two vectors into their even and their odd elements, by shuffles.
constexpr double kDeinterleaveInstructions = 2;

// True if words of rhs are unpacked into two factors each.
bool IsPairs(const RegisterTile& tile) { return tile.instruction().unpacked.has_value(); }

// A trip of few multiply-adds is one of several in an unrolled loop, so it has a share of the loop's
// instructions.
double LoopInstructionsPerTrip(const RegisterTile& tile) {
  return kLoopInstructions * std::min(1.0, tile.accumulators() / kUnrolledFmas);
}

// Vectors or broadcasts of lhs in a step; RhsVectors: vectors of rhs.
double Factors(const RegisterTile& tile) { return tile.rows * tile.instruction().parts(); }
double RhsVectors(const RegisterTile& tile) { return tile.columns * tile.instruction().words; }

// The same of a lanewise tile: a step's share of those of a run of taps.
double LanewiseInputs(const RegisterTile& tile) {
  return tile.columns * static_cast<double>(tile.inputs) / tile.taps;
}

// The shuffles of a step: one for each input, where lanes are in groups.
double LanewiseShuffles(const RegisterTile& tile) {
  return tile.form == LayoutKind::kLanewise && tile.lane_group > 1 ? LanewiseInputs(tile) : 0;
}

// Rows of lhs whose elements are unpacked.
double Deinterleaved(const RegisterTile& tile) {
  return IsPairs(tile) && tile.form == LayoutKind::kPartialSums ? tile.rows : 0;
}

// Returns the cycles that a last vector of rhs that is not whole takes beyond those of a whole one.
double CyclesOfLastVector(const RegisterTile& tile, const VectorUnit& unit) {
  return tile.pieces * unit.piece_cycles + (tile.masked_rhs && !unit.masks ? unit.masked_load_cycles : 0);
}

// Returns the cycles that loads across two lines of the cache take beyond those of others.
double CyclesOfSplits(const RegisterTile& tile, const VectorUnit& unit) {
  return (tile.rows * tile.split_lhs + tile.columns * tile.split_rhs) * unit.split_load_cycles;
}

// Returns the cycles of the multiply-add units to widen so many vectors or broadcasts of lhs and vectors of
// rhs.
double FmaCyclesOfWidening(const RegisterTile& tile, const VectorUnit& unit, double lhs, double rhs) {
  const WideningCosts& of_lhs = unit.widening_of(tile.lhs);
  const double lhs_cycles = tile.form == LayoutKind::kVectors ? of_lhs.broadcast_fma : of_lhs.vector_fma;
  return lhs * (unit.widen_cycles + lhs_cycles) +
         rhs * (unit.widen_cycles + unit.widening_of(tile.rhs).vector_fma);
}

// Returns what is done to codes of panels before they are multiplied: shifts and masks, but no shuffles.
double PartingInstructions(const RegisterTile& tile) {
  return IsInPanels(tile.rhs) ? tile.widens_rhs * tile.columns * kWideningInstructions : 0;
}

// Sums of integers begin anew with each part. Only what they are added to goes on from one step to the next,
// as the offset does: that is the chain.
double LatencyOfPanels(const RegisterTile& tile, const VectorUnit& unit) {
  const BlockFormat& format = FormatOf(tile.rhs);
  const int steps = tile.group(), parts = format.part == 0 ? 1 : std::max(1, steps / format.part);
  return (parts + (format.offset_byte >= 0 ? 1 : 0)) * unit.rate(Arithmetic::kFma).latency;
}

// Returns the cycles of the multiply-add units to scale sums of blocks: they do all of it but conversions.
double FmaCyclesOfScaling(const RegisterTile& tile, const VectorUnit& unit) {
  return (tile.scaling * tile.accumulators() + tile.row_scaling * tile.rows + PartingInstructions(tile)) /
         unit.fma_per_cycle * 2 / 3;
}

// Returns the loads that are operands of multiply-adds. Unlike FoldedLoads, whatever is masked, and of both
// products alike: tables of outer products bound dot products, too (BestTrips::Fill).
int CountedAsFolded(const RegisterTile& tile, const VectorUnit& unit) {
  if (tile.form == LayoutKind::kLanewise || tile.instruction().words > 1) return 0;
  if (tile.rows == 1 && tile.widens_rhs == 0) return tile.columns;
  return tile.columns == 1 && unit.masks && tile.widens_lhs == 0 ? tile.rows : 0;
}

// Returns the cycles of the multiply-add units for broadcasts of less than a word: one of the units does
// them, unless the multiply-add itself takes them from memory (bench/lab/2026-11-28.md).
double FmaCyclesOfBroadcasts(const RegisterTile& tile, const VectorUnit& unit) {
  const bool words = Bytes(tile.instruction().lhs) * tile.group() >= kWordBytes;
  if (words || tile.form != LayoutKind::kVectors || tile.columns == 1) return 0;
  return tile.rows / unit.fma_per_cycle;
}

// A step's share of the trip of a depthwise convolution, whose rows have inputs in common. A shuffle takes a
// cycle of the port for them.
TripCycles LanewiseTrip(const RegisterTile& tile, const VectorUnit& unit) {
  const ArithmeticRate rate = unit.rate(tile.arithmetic);
  const double fmas = tile.accumulators();
  const double inputs = LanewiseInputs(tile);
  const double loads = inputs + tile.columns;
  const double widened_lhs = tile.widens_lhs * inputs, widened_rhs = tile.widens_rhs * tile.columns;
  TripCycles trip;
  trip.arithmetic = fmas / rate.per_cycle + FmaCyclesOfWidening(tile, unit, widened_lhs, widened_rhs);
  trip.widening = widened_lhs * unit.widening_of(tile.lhs).vector +
                  widened_rhs * unit.widening_of(tile.rhs).vector + LanewiseShuffles(tile);
  trip.load = loads / unit.loads_per_cycle;
  trip.latency = rate.latency;
  return trip;
}

// Returns the cycles of the multiply-add units for vectors of rhs that loads put together: other units do
// most of that, but not beside a product in each cycle (bench/lab/2026-11-30-types.md).
double FmaCyclesOfInterleaving(const RegisterTile& tile) {
  constexpr double kPerVector = 0.5;
  return Interleaves(tile) ? tile.columns * kPerVector : 0;
}

// The trip of an outer or a dot product; all but the front end.
TripCycles ProductTrip(const RegisterTile& tile, const VectorUnit& unit, const Target& target) {
  const ArithmeticRate rate = unit.rate(tile.arithmetic);
  const double fmas = tile.accumulators(), factors = Factors(tile);
  const double widened_lhs = tile.widens_lhs * factors;
  const double widened_rhs = IsInPanels(tile.rhs) ? 0 : tile.widens_rhs * tile.columns;
  TripCycles trip;
  trip.arithmetic = fmas / rate.per_cycle + FmaCyclesOfWidening(tile, unit, widened_lhs, widened_rhs) +
                    FmaCyclesOfInterleaving(tile) + FmaCyclesOfScaling(tile, unit) +
                    FmaCyclesOfBroadcasts(tile, unit) + CyclesOfLastVector(tile, unit) +
                    tile.unaligned * unit.unaligned_load_cycles;
  // Words of pairs are unpacked by a shift and a mask.
  const WideningCosts &of_lhs = unit.widening_of(tile.lhs), &of_rhs = unit.widening_of(tile.rhs);
  trip.widening = widened_lhs * (tile.form == LayoutKind::kVectors ? of_lhs.broadcast : of_lhs.vector) +
                  (IsPairs(tile) ? 0 : widened_rhs * of_rhs.vector) +
                  Deinterleaved(tile) * kDeinterleaveInstructions / kShufflesPerCycle;
  // Broadcasts are loads of one element: they go at the rate of the narrowest vectors.
  const double broadcasts = tile.form == LayoutKind::kVectors ? factors : 0;
  trip.load = (factors + RhsVectors(tile) - broadcasts + tile.prefetches) / unit.loads_per_cycle +
              broadcasts / target.vectors.back().loads_per_cycle + CyclesOfLastVector(tile, unit) +
              CyclesOfSplits(tile, unit);
  trip.latency = IsInPanels(tile.rhs) ? LatencyOfPanels(tile, unit) : rate.latency / KSplit(tile, unit);
  return trip;
}

// The trip of a matrix unit's tiles. Rows are loaded as vectors are, one by one. Those across two lines of
// the cache take far longer than vectors there do (bench/lab/2026-11-27.md).
TripCycles TilesTrip(const RegisterTile& tile, const VectorUnit& unit, const MatrixUnit& matrix) {
  constexpr double kSplitRow = 2.4;  // cycles more
  TripCycles trip;
  for (int i = 0; i < tile.row_tiles(); ++i)
    trip.arithmetic +=
        tile.columns * std::max(matrix.least_product_cycles, tile.rows_of(i) * matrix.row_cycles);
  trip.load = (tile.rows + tile.columns * kTileRows + tile.prefetches) / unit.loads_per_cycle +
              tile.rows * tile.split_lhs * kSplitRow;
  return trip;
}

// Returns the cycles to copy what is left of the reduction into whole tiles, from where they are multiplied.
double CyclesOfTileTail(const RegisterTile& tile, int64_t k, const VectorUnit& unit) {
  if (tile.form != LayoutKind::kTiles || k % tile.step() == 0) return 0;
  return (tile.rows + tile.columns * kTileRows) * (1 / unit.loads_per_cycle + 1 / unit.stores_per_cycle);
}

// Tiles are configured once in a run. A kernel that may be all of a small run bears the whole cost. Larger
// kernels, of which a run that is worth it has several, bear a share.
double ShareOfConfiguration(const RegisterTile& tile, int64_t k, const Target& target) {
  constexpr double kSmall = 1 << 14;  // multiply-adds: what vectors do in as long
  if (tile.form != LayoutKind::kTiles) return 0;
  const double products = static_cast<double>(tile.rows * tile.columns * tile.lanes) * static_cast<double>(k);
  return target.matrix->configure_cycles * std::min(1.0, kSmall / products);
}

}  // namespace

double InstructionsOfStep(const RegisterTile& tile, int folded_loads) {
  if (tile.form == LayoutKind::kTiles)
    return tile.row_tiles() * (tile.columns + 1) + tile.columns + tile.prefetches;
  const bool lanewise = tile.form == LayoutKind::kLanewise;
  const double fmas = tile.accumulators();
  const double factors = lanewise ? LanewiseInputs(tile) : Factors(tile);
  const double widened = tile.widens_lhs * factors + tile.widens_rhs * tile.columns;
  const double loads = factors + RhsVectors(tile);
  return fmas * tile.instruction().instructions() + loads - folded_loads + LanewiseShuffles(tile) +
         widened * kWideningInstructions + Deinterleaved(tile) * kDeinterleaveInstructions + tile.prefetches +
         tile.scaling * fmas + tile.row_scaling * tile.rows;
}

double TripCycles::total() const { return std::max({arithmetic, widening, load, latency, front_end}); }

std::string_view TripCycles::bottleneck() const {
  const double most = total();
  if (arithmetic == most) return "arithmetic";
  if (widening == most) return "widening";
  if (load == most) return "load";
  return latency == most ? "latency" : "front end";
}

TripCycles TripCyclesOf(const RegisterTile& tile, const VectorUnit& unit, const Target& target) {
  TripCycles trip = tile.form == LayoutKind::kTiles      ? TilesTrip(tile, unit, *target.matrix)
                    : tile.form == LayoutKind::kLanewise ? LanewiseTrip(tile, unit)
                                                         : ProductTrip(tile, unit, target);
  trip.front_end = (InstructionsOfStep(tile, CountedAsFolded(tile, unit)) + LoopInstructionsPerTrip(tile)) /
                   target.issue_width;
  return trip;
}

double ReductionSteps(const Spec& spec) {
  const OpInfo& op = spec.op_info();
  double steps = 1;
  for (size_t dim = 0; dim < static_cast<size_t>(op.num_dims); ++dim)
    if (op.dims[dim].reduction) steps *= spec.size[dim];
  return steps;
}

int64_t TripsOf(const RegisterTile& tile, int64_t k) { return (k + tile.step() - 1) / tile.step(); }

double MicrokernelCycles(const RegisterTile& tile, int64_t k, const VectorUnit& unit, const Target& target) {
  // Accumulator sets are added to the first one; excess-128 needs a subtraction from each vector of sums.
  const double set_sums = (CountedSets(tile, unit) - 1) * tile.accumulators() / unit.fma_per_cycle;
  const double excess = tile.instruction().has_excess() ? tile.rows * tile.columns / unit.fma_per_cycle : 0;
  return target.microkernel_cycles + set_sums + excess + CyclesOfTileTail(tile, k, unit) +
         ShareOfConfiguration(tile, k, target) +
         static_cast<double>(TripsOf(tile, k)) * TripCyclesOf(tile, unit, target).total();
}

// Halved log2(lanes) times, a shuffle and an add each; bit_width counts one more.
double HalvingCycles(const VectorUnit& unit, Dtype accumulator) {
  return std::bit_width(static_cast<unsigned>(unit.lanes(accumulator))) * unit.halving_cycles;
}

double OutputTileCycles(const RegisterTile& tile, bool accumulate, bool masked, const VectorUnit& unit) {
  const double vectors = tile.rows * tile.columns;
  double cycles = vectors / unit.stores_per_cycle + (accumulate ? vectors / unit.loads_per_cycle : 0);
  if (tile.form == LayoutKind::kPartialSums)
    cycles += vectors * HalvingCycles(unit, tile.instruction().accumulator());
  if (masked && !unit.masks) cycles += tile.rows * unit.masked_store_cycles;
  return cycles;
}

namespace {

struct EpilogueValues {
  RowProgram program;
  std::vector<int> computed;
};

// Every bound asks for the same few programs, so each thread keeps those that it has seen. (An OpKind never
// changes its meaning.)
const EpilogueValues& ValuesOf(const Spec& spec) {
  thread_local std::map<std::tuple<OpKind, Dtype, Dtype>, EpilogueValues> known;
  const auto [at, is_new] = known.try_emplace({spec.op, AccumulatorOf(spec), spec.out().dtype});
  if (is_new) {
    at->second.program = RowProgramOf(spec);
    at->second.computed = ComputedValues(at->second.program);
  }
  return at->second;
}

}  // namespace

double EpilogueCyclesOfVector(const Spec& spec, const VectorUnit& unit) {
  const Epilogue& epilogue = spec.op_info().epilogue;
  if (epilogue.empty()) return 0;
  const auto& [program, computed] = ValuesOf(spec);
  VectorWork work = WorkOf(program, computed, unit);
  const Dtype type = program.values.back().type;
  if (IsFloating(type) && !IsFloating(spec.out().dtype)) work.instructions += kIntoRange;
  // Where there are functions, sums wait in memory.
  const double waits = epilogue.HasFunctions() ? 1 : 0;
  return std::max(ArithmeticCycles(work, unit), DivisionCycles(work, type, unit)) +
         waits / unit.stores_per_cycle + (epilogue.operands() + waits) / unit.loads_per_cycle;
}

double EpilogueCycles(const Spec& spec, const RegisterTile& tile, const VectorUnit& unit) {
  const int vectors = tile.form == LayoutKind::kPartialSums
                          ? tile.rows * ((tile.columns + kSumsStoredAtOnce - 1) / kSumsStoredAtOnce)
                          : tile.rows * tile.columns;
  const OpInfo& op = spec.op_info();
  const bool waits = TilesWait(tile, op.epilogue, spec.out().dtype, ExtentOf(spec, op.output()).inner);
  const double waiting = waits ? 1 / unit.stores_per_cycle + 1 / unit.loads_per_cycle : 0;
  return vectors * (EpilogueCyclesOfVector(spec, unit) + waiting);
}

// To part codes takes what products would do to a word of each column. One instruction makes up for another
// bias, and one stores the word, all by the multiply-add units.
double PartingInCopies(Dtype panels, const VectorUnit& unit) {
  constexpr double kPerWord = 2;
  const Instruction& row = Info(Arithmetic::kDotPanels);
  const double parting = WideningOf(row.arithmetic, MatmulDims::kRhs, panels) * kWideningInstructions;
  return (parting + kPerWord * row.words) / unit.fma_per_cycle * 2 / 3 /
         (unit.lanes(row.accumulator()) * row.group);
}

}  // namespace kirsch
