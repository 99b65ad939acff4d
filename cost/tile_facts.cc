#include "cost/tile_facts.h"

#include <algorithm>

#include "cost/microkernel_cost.h"

namespace kirsch {
namespace {

// A count, a branch, and two pointers that move on. Those of a dot product do so by the same number of
// elements: where a trip is a single step, compilers have one index for both.
double LoopInstructions(const RegisterTile& tile, int unroll) {
  return tile.form == LayoutKind::kPartialSums && unroll == 1 ? 3 : 4;
}

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
    peak = std::max(peak, 2 * unit.rate(best).per_cycle * Info(best).group * unit.lanes());
  return peak;
}

TileFacts TileFactsOf(const Spec& microkernel, const Expansion& expansion, const Target& target) {
  TileFacts facts;
  facts.tile = TileOf(microkernel, expansion, target);
  const RegisterTile& tile = facts.tile;
  const VectorUnit& unit = UnitWithLanes(target, tile.lanes);
  const MainLoop loop = MainLoopOf(tile, unit, ReductionOf(microkernel));
  facts.registers = RegistersAtPeak(tile, unit, target);
  facts.spills = std::max(0, facts.registers - unit.registers);
  const int64_t step = tile.form == LayoutKind::kPartialSums ? tile.lanes * tile.group() : tile.group();
  facts.steps = loop.unroll * step;
  facts.trips = ReductionSteps(microkernel) / static_cast<double>(facts.steps);
  facts.multiply_adds = loop.unroll * tile.instruction().parts() * tile.accumulators();
  facts.instructions = loop.unroll * InstructionsOfStep(tile, FoldedLoads(tile, unit)) +
                       LoopInstructions(tile, loop.unroll);
  const TripCycles step_cycles = TripCyclesOf(tile, unit, target);
  facts.cycles = loop.unroll * step_cycles.total();
  facts.bottleneck = step_cycles.bottleneck();
  const int64_t elements = ExtentOf(microkernel, microkernel.op_info().output()).elements();
  const double flops = 2 * static_cast<double>(elements * facts.steps);
  facts.peak_share = flops / facts.cycles / PeakFlopsPerCycle(microkernel, target);
  return facts;
}

}  // namespace kirsch
