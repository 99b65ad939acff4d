// SPDX-License-Identifier: Apache-2.0
#include "cost/cost_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "cost/copy_cost.h"
#include "cost/microkernel_cost.h"
#include "cost/tile_facts.h"
#include "spec/block.h"
#include "spec/check.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

// Bounds are summed in another order than costs; this much keeps them below in spite of rounding.
constexpr double kRoundingSlack = 1 - 1e-9;

double LinesCycles(const Footprint& footprint, const MemoryLevel& level, int active_threads) {
  const double per_line = std::max(level.cycles_per_line, level.shared_cycles_per_line * active_threads);
  return static_cast<double>(footprint.lines) * per_line;
}

double OutputElements(const Spec& spec) {
  return static_cast<double>(ExtentOf(spec, spec.op_info().output()).elements());
}

// Trips of the loops around the microkernel's own, over the digits of a window's reduction.
double WindowLoops(const Spec& spec, const RegisterTile& tile, const VectorUnit& unit) {
  const Window& window = spec.op_info().window;
  if (window.empty() || !IsWindow(spec, window.operand)) return 0;
  const DigitAxis& reduction = *WindowAxis(spec, MatmulDims::kK);
  const int innermost = WholeDigits(tile, unit, reduction);
  if (innermost + 1 >= reduction.digits) return 0;
  return spec.size[MatmulDims::kK] / static_cast<double>(reduction.unit(innermost + 1));
}

}  // namespace

CostModel::CostModel(const Target& target) : target_(target), compute_(target_) {
  cycles_per_byte_read_ = cycles_per_byte_written_ = std::numeric_limits<double>::infinity();
  for (const VectorUnit& unit : target.vectors) {
    const double bytes = unit.bytes;
    cycles_per_byte_read_ = std::min(cycles_per_byte_read_, 1 / (bytes * unit.loads_per_cycle));
    cycles_per_byte_written_ = std::min(cycles_per_byte_written_, 1 / (bytes * unit.stores_per_cycle));
  }
}

// The share of the lines that no prefetch instruction asks for in time.
double CostModel::LateShare(const Transfer& transfer) const {
  const MemoryLevel& level = target_.at(transfer.from);
  if (transfer.by_tiles) return 0;
  if (transfer.ahead_lines == 0 || transfer.read.runs > level.prefetch_streams) return 1;
  const double on_time = static_cast<double>(transfer.ahead_lines) / level.prefetch_lines;
  return 1 - (1 - transfer.head) * std::min(1.0, on_time);
}

// Cycles spent on lines that no prefetcher brings in time. Nothing hides them.
double CostModel::UnstreamedCycles(const Transfer& transfer) const {
  if (transfer.from <= Level::kL1) return 0;
  const MemoryLevel& level = target_.at(transfer.from);
  const auto lines = static_cast<double>(transfer.read.lines), runs = static_cast<double>(transfer.read.runs);
  const bool too_many = !transfer.in_order && runs > level.streams;
  const double ramps = transfer.one_stream ? 0 : runs * level.ramp_lines;
  return (too_many ? lines : std::min(lines, ramps)) * level.unstreamed_cycles_per_line *
             LateShare(transfer) +
         static_cast<double>(transfer.new_runs) * level.run_cycles;
}

// What inputs take longer than the fastest stream there is: few runs are slower than several, by a share that
// falls with the square of their number (bench/lab/2026-11-23.md), and hardware alone is slower than prefetch
// instructions.
double CostModel::StreamingCycles(const Transfer& transfer) const {
  if (transfer.read.runs == 0 || transfer.written.lines != 0) return 0;
  const MemoryLevel& level = target_.at(transfer.from);
  const double beside = transfer.one_by_one ? 1 : static_cast<double>(transfer.read.runs);
  const double per_line = level.single_stream_cycles_per_line / (beside * beside) +
                          (transfer.by_tiles ? level.short_run_cycles_per_line : 0) +
                          (transfer.crowded ? level.set_conflict_cycles_per_line : 0) +
                          (transfer.ahead_lines > 0 ? level.prefetched_cycles_per_line : 0) +
                          LateShare(transfer) * level.unprefetched_cycles_per_line;
  return static_cast<double>(transfer.read.lines) * per_line;
}

// Cycles that addresses take to be translated. A tile that is on more pages than the TLB has entries for
// finds none of them there when it is walked over again: the oldest goes first.
double CostModel::PageCycles(const Transfer& transfer) const {
  if (transfer.from <= Level::kL1 || transfer.read.pages <= target_.l1_dtlb_entries) return 0;
  return static_cast<double>(transfer.read.pages) * target_.at(transfer.from).cycles_per_page;
}

double CostModel::TransferCycles(const Transfer& transfer, int active_threads) const {
  if (transfer.from <= Level::kL1) return 0;
  const MemoryLevel& level = target_.at(transfer.from);
  return LinesCycles(transfer.read, level, active_threads) +
         LinesCycles(transfer.written, level, active_threads) * level.write_factor +
         UnstreamedCycles(transfer) + StreamingCycles(transfer) + PageCycles(transfer);
}

// What a move brings closer need only come the rest of the way later: a transfer costs the difference of its
// two ends, so that all the hops of a line add up to what its first level costs.
CostModel::Exposure CostModel::ExposureOf(const Transfer& transfer, int active_threads) const {
  const auto through = [&](Level from) -> Exposure {
    Transfer whole = transfer;
    whole.from = from;
    const MemoryLevel& level = target_.at(from);
    const double cycles = TransferCycles(whole, active_threads), waited = UnstreamedCycles(whole);
    return {cycles, waited + (cycles - waited) * (1 - level.overlap)};
  };
  const Exposure far = through(transfer.from), near = through(transfer.to);
  // What is asked for ahead comes as far as L2, and hides whole on that part of its way.
  const double exposed = transfer.a_tile_ahead ? through(Level::kL2).exposed : far.exposed;
  return {std::max(0.0, far.total - near.total), std::max(0.0, exposed - near.exposed), near.total};
}

CostModel::Exposure CostModel::ExposureOf(const Spec& spec, const Expansion& expansion) const {
  Exposure exposure;
  for (int i = 0; i < expansion.num_transfers; ++i) {
    const Exposure one = ExposureOf(expansion.transfers[static_cast<size_t>(i)], spec.active_threads);
    exposure.total += one.total;
    exposure.exposed += one.exposed;
    exposure.below += one.below;
  }
  return exposure;
}

// Tiles of the reduction read columns of rhs in pieces, or few rows in one walk along them. Where a run goes
// on behind the tile, the prefetchers do so too, and what they bring is not read next.
double CostModel::OverrunCycles(const Spec& spec, const Expansion& expansion) const {
  constexpr int kRhs = MatmulDims::kRhs;
  const TensorSpec& rhs = spec.operand[kRhs];
  const MemoryLevel& level = target_.at(rhs.level);
  if (level.overrun_lines == 0 || rhs.layout.kind != LayoutKind::kStrided) return 0;
  const bool columns = InnerDim(spec, kRhs) == MatmulDims::kK;
  const int64_t lines = level.overrun_lines;
  double runs = 0;
  for (int i = 0; i < expansion.num_children; ++i) {
    const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
    const TileExtent tile = ExtentOf(child.spec, kRhs);
    const bool walks_along = columns || tile.outer <= level.streams;
    const int64_t behind = Bytes(rhs.dtype, rhs.layout.ld - tile.inner);
    if (walks_along && behind >= lines * target_.line_bytes)
      runs += static_cast<double>(child.trips * tile.outer);
  }
  return runs * LinesCycles({lines, 0, 0}, level, spec.active_threads);
}

// One panel of a copy follows the other, and is read so; unless tiles of the reduction read a piece of each.
// Of these, all begin where nobody has read or asked for anything.
double CostModel::CutPanelsCycles(const Spec& spec, const Expansion& expansion) const {
  constexpr int kRhs = MatmulDims::kRhs;
  const TensorSpec& rhs = spec.operand[kRhs];
  if (spec.ideal || rhs.layout.panel == 0 || rhs.level <= Level::kL2) return 0;
  double cycles = 0;
  for (int i = 0; i < expansion.num_children; ++i) {
    const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
    Transfer pieces{rhs.level, Level::kVrf, FootprintOf(child.spec, kRhs, target_), {}};
    pieces.read.runs *= ExtentOf(child.spec, kRhs).batch;
    if (pieces.read.runs == 1) continue;  // the next piece follows
    pieces.new_runs = pieces.read.runs;
    pieces.in_order = true;  // one after the other
    cycles += static_cast<double>(child.trips) * UnstreamedCycles(pieces);
  }
  return cycles;
}

// What lines of columns or panels from RAM take longer than the fastest loads there are would. (Rows that are
// walked along don't, nor does what bounds them.)
double CostModel::FarLinesCycles(const Spec& spec, const Footprint& rhs, const VectorUnit& unit) const {
  const TensorSpec& tensor = spec.operand[MatmulDims::kRhs];
  const bool rows = tensor.layout.panel == 0 && InnerDim(spec, MatmulDims::kRhs) == MatmulDims::kN;
  if (spec.ideal || tensor.level != Level::kRam || rows) return 0;
  return static_cast<double>(rhs.lines) * unit.wide_load_cycles_per_line;
}

// A tile of rhs that L1 doesn't hold beside the rows of lhs that pass by comes from L2 once more for each of
// them.
double CostModel::EvictedCycles(const Spec& spec, const Expansion& expansion) const {
  constexpr int kRhs = MatmulDims::kRhs;
  if (spec.ideal || spec.operand[kRhs].level != Level::kL1 ||
      spec.operand[MatmulDims::kLhs].level <= Level::kL1)
    return 0;
  const int64_t lines = FootprintOf(spec, kRhs, target_).lines;
  const bool fits =
      (lines + expansion.transfers[0].read.lines) * target_.line_bytes <= target_.at(Level::kL1).bytes;
  return fits ? 0 : LinesCycles({lines, 0, 0}, target_.at(Level::kL2), spec.active_threads);
}

// While rhs streams by, lines of lhs from the caches come late: misses for both wait in the same few buffers.
double CostModel::BesideRhsCycles(const Spec& spec, const Expansion& expansion) const {
  if (spec.ideal || spec.operand[MatmulDims::kLhs].level <= Level::kL1) return 0;
  const Footprint& lhs = expansion.transfers[0].read;  // the first of the operands that stream
  return static_cast<double>(lhs.lines) *
         target_.at(spec.operand[MatmulDims::kRhs].level).lhs_contention_cycles_per_line;
}

// A copy that neither turns nor changes what it copies goes vector by vector. Others work on words of
// `group` elements: each element is widened, shifted and merged.
double CostModel::PackCycles(const Spec& spec, const Decision& decision, const Expansion& expansion) const {
  const VectorUnit& unit = target_.vectors.front();
  const Dtype from = spec.operand[decision.operand].dtype;
  const bool as_it_is = from == decision.dtype && decision.layout.group == 1;
  double per_element = Bytes(decision.dtype) / (unit.stores_per_cycle * unit.bytes * BlockOf(decision.dtype));
  const double converting = as_it_is           ? 0
                            : IsInPanels(from) ? PartingInCopies(from, unit)
                            : IsOfBlocks(from) ? DecodingInCopies(from, decision.dtype, unit) +
                                                     RecodingInCopies(from, decision.dtype, unit)
                                               : ConvertingInCopies(from, decision.dtype, unit);
  per_element = std::max(per_element, converting);
  // Blocks in panels are turned word by word, what is decoded meanwhile by small squares.
  const bool in_panels = IsInPanels(decision.dtype);
  const int turned = in_panels ? kWordBytes : decision.layout.group;
  const bool rounded = from == Dtype::kF32 && !in_panels;
  const int word = rounded ? kWordBytes : turned * Bytes(decision.dtype);
  if (expansion.copy_transposes)
    per_element = IsOfBlocks(from) ? kSmallSquareCycles / turned + converting  // decoded first, then turned
                                   : SquareCycles(word, unit) / turned;
  if (IsWindow(spec, decision.operand))
    per_element = WindowCopyCycles(spec, decision.operand, per_element, unit);
  const double read = TransferCycles(expansion.transfers[0], spec.active_threads);
  const double written = TransferCycles(expansion.transfers[1], spec.active_threads);
  return target_.microkernel_cycles +
         std::max(static_cast<double>(expansion.copied_elements) * per_element, read + written);
}

double CostModel::RegisterTileBase(const Spec& spec, const Decision& decision) const {
  const RegisterTile tile = RegisterTileOf(spec, decision.layout, target_);
  const VectorUnit& unit = UnitOf(target_, tile);
  const bool masked = ExtentOf(spec, decision.operand).inner % tile.lanes != 0;
  return OutputTileCycles(tile, spec.accumulate, masked, unit) + EpilogueCycles(spec, tile, unit);
}

Cost CostModel::Base(const Spec& spec, const Decision& decision, const Expansion& expansion) const {
  switch (decision.kind) {
    case RewriteKind::kTile: {
      int64_t trips = 0;
      for (int i = 0; i < expansion.num_children; ++i)
        trips += expansion.children[static_cast<size_t>(i)].trips;
      return CostFromCycles(static_cast<double>(trips) * target_.loop_cycles +
                            (decision.dim == MatmulDims::kK
                                 ? OverrunCycles(spec, expansion) + CutPanelsCycles(spec, expansion)
                                 : 0));
    }
    case RewriteKind::kParallelTile:
      return decision.parts > 1 && spec.active_threads == 1 ? CostFromCycles(target_.fork_join_cycles) : 0;
    case RewriteKind::kMove: {
      // A transfer hides behind the arithmetic below it, and behind no more than that; nor does the same
      // arithmetic hide the rest of the way once more.
      const Exposure exposure = ExposureOf(spec, expansion);
      const bool ahead = expansion.num_transfers == 1 && expansion.transfers[0].a_tile_ahead;
      const double hiding = ahead ? BesideTiles(spec, decision) - exposure.below
                                  : std::max(0.0, HidingPlace(spec, decision.operand) - exposure.below);
      // Which loads bring it is up to the microkernels; the widest ones are taken for it.
      const double slower = decision.operand == MatmulDims::kRhs && !ahead
                                ? FarLinesCycles(spec, expansion.transfers[0].read, target_.vectors.front())
                                : 0;
      const double waited = std::max(exposure.exposed, exposure.total + slower - hiding);
      return CostFromCycles(waited + (decision.level == Level::kVrf ? RegisterTileBase(spec, decision) : 0));
    }
    case RewriteKind::kPack:
      if (spec.operand[decision.operand].constant != 0) return 0;  // paid once, not in every run
      return CostFromCycles(PackCycles(spec, decision, expansion));
    case RewriteKind::kMicrokernel: {
      const RegisterTile tile = TileOf(spec, expansion, target_);
      const VectorUnit& unit = UnitOf(target_, tile);
      const auto steps = static_cast<int64_t>(ReductionSteps(spec));
      double compute =
          MicrokernelCycles(tile, steps, unit, target_) + WindowLoops(spec, tile, unit) * target_.loop_cycles;
      if (spec.ideal == kIdealInputs && tile.form != LayoutKind::kTiles) {
        RegisterTile plain = tile;
        plain.arithmetic = ArithmeticOf(spec.operand[MatmulDims::kLhs].dtype,
                                        spec.operand[MatmulDims::kRhs].dtype, 1, target_);
        const double by_plain = MicrokernelCycles(plain, steps, unit, target_);
        const bool fits = RegistersNeeded(tile, unit) <= unit.registers;
        compute = fits ? std::min(compute, by_plain) : by_plain;
      }
      const Exposure exposure = ExposureOf(spec, expansion);
      const size_t rhs = spec.operand[MatmulDims::kLhs].level <= Level::kL1 ? 0 : 1;  // of what streams
      const double slower = BesideRhsCycles(spec, expansion) +
                            FarLinesCycles(spec, expansion.transfers[rhs].read, unit) +
                            EvictedCycles(spec, expansion);
      return CostFromCycles(std::max(compute + exposure.exposed, exposure.total + slower));
    }
    case RewriteKind::kNone:
      break;
  }
  KIRSCH_BUG("no such rewrite");
}

// The arithmetic that a transfer of `operand` may hide behind: what the lines of other inputs don't hide
// behind already.
double CostModel::HidingPlace(const Spec& spec, int operand) const {
  double cycles = ComputeBound(spec);
  for (int other = 0; other < spec.op_info().output(); ++other)
    if (other != operand) cycles -= Compulsory(spec, other, spec.tensor(other).level).total;
  return std::max(0.0, cycles);
}

// What a tile of rhs takes at least once it is in `decision.level`: arithmetic, and what comes from L2. Other
// inputs that lie further away come over the same way as the columns, so these hide behind as much less.
double CostModel::BesideTiles(const Spec& spec, const Decision& decision) const {
  double cycles = ComputeBound(spec);
  for (int operand = 0; operand < spec.op_info().output(); ++operand) {
    const Level level = operand == decision.operand ? decision.level : spec.tensor(operand).level;
    const Exposure lines = Compulsory(spec, operand, level);
    cycles += level <= Level::kL2 ? lines.exposed : -lines.total;
  }
  return cycles;
}

double CostModel::OutputBound(const Spec& spec) const {
  if (spec.out().level == Level::kVrf) return 0;
  const double per_byte = cycles_per_byte_written_ + (spec.accumulate ? cycles_per_byte_read_ : 0);
  return OutputElements(spec) * Bytes(AccumulatorOf(spec)) * per_byte;
}

// Every operand's lines must come from their level once, whatever the program; an operand in L1 or in
// registers costs nothing. Runs and pages are left out: they depend on the tiling.
CostModel::Exposure CostModel::Compulsory(const Spec& spec, int operand, Level from) const {
  if (from <= Level::kL1) return {};
  return Compulsory(spec, operand, CompulsoryLines(spec, operand), from);
}

int64_t CostModel::CompulsoryLines(const Spec& spec, int operand) const {
  const int64_t lines = FootprintOf(spec, operand, target_).lines;
  // A copy may take fewer lines, but never less than its elements; of lhs, than what they may be rounded to.
  const TensorSpec& tensor = spec.tensor(operand);
  if (tensor.constant == 0) return lines;
  const int64_t elements = ExtentOf(spec, operand).elements();
  int64_t bytes = Bytes(tensor.dtype, elements);
  if (operand == MatmulDims::kLhs && spec.lhs_as != LhsAs::kItself)
    bytes = std::min(bytes, elements * (spec.lhs_as == LhsAs::kQ8 ? 1 : Bytes(ElementAs(spec.lhs_as))));
  return std::min(lines, bytes / target_.line_bytes);
}

CostModel::Exposure CostModel::Compulsory(const Spec& spec, int operand, int64_t lines, Level from) const {
  const MemoryLevel& level = target_.at(from);
  const double read = LinesCycles({lines, 0, 0}, level, spec.active_threads);
  const double total = operand == spec.op_info().output() ? read + read * level.write_factor : read;
  return {total, total * (1 - level.overlap)};
}

Cost CostModel::LowerBound(const Spec& spec) const {
  constexpr int kRhs = MatmulDims::kRhs;
  const Level from = spec.operand[kRhs].level;
  const bool of_blocks = IsOfBlocks(spec.operand[kRhs].dtype);
  const bool ahead = from > Level::kL2 && MayReadInColumns(spec);
  // Beside what comes from L2 and nearer, and the rest of the way of what lies further.
  double near = 0, far = 0, far_of_rhs = 0, all_of_rhs = 0;
  ComputeBounds::Brought brought;
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    if (of_blocks && operand == kRhs) continue;
    const Level level = spec.tensor(operand).level;
    if (level <= Level::kL1) continue;
    const int64_t lines = CompulsoryLines(spec, operand);
    const Exposure way = Compulsory(spec, operand, lines, level);
    if (operand == MatmulDims::kLhs) brought.lhs = way.exposed;
    if (operand == kRhs) {
      brought.rhs = way.exposed;
      all_of_rhs = way.total;
    }
    const double from_l2 = std::min(way.exposed, Compulsory(spec, operand, lines, Level::kL2).exposed);
    near += from_l2;
    (operand == kRhs ? far_of_rhs : far) += way.exposed - from_l2;
  }
  near += of_blocks ? compute_.ProductsOfBlocks(spec, Compulsory(spec, kRhs, from).exposed)
                    : compute_.ProductsAndCopies(spec, brought);
  // What is asked for ahead hides whole on its way to L2, but takes its time; as does what is not.
  if (from > Level::kL2 && !of_blocks && spec.op_info().base == OpKind::kMatmul)
    near = std::max(near + (ahead ? 0 : far_of_rhs), all_of_rhs);
  else
    near += far_of_rhs;
  const double cycles = near + far + OutputBound(spec) + ToCycles(EpilogueBound(spec));
  return BoundFromCycles(cycles / spec.threads * kRoundingSlack);
}

Cost CostModel::SlowerLevelBound(const Spec& spec, Level slow, Level fast) const {
  double extra = 0;
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    if (spec.tensor(operand).level != slow) continue;
    const Exposure from_slow = Compulsory(spec, operand, slow), from_fast = Compulsory(spec, operand, fast);
    const double cycles = std::min(from_slow.total - from_fast.total, from_slow.exposed - from_fast.exposed);
    // Costs are whole units, rounded for each transfer. Those are of a line at least: a unit a line is
    // all that may be lost on the way.
    const auto lines = static_cast<double>(FootprintOf(spec, operand, target_).lines);
    extra += std::max(0.0, cycles - ToCycles(1) * lines);
  }
  return BoundFromCycles(extra * kRoundingSlack);
}

// Costs are whole units, rounded for each register tile, which holds an element at least.
Cost CostModel::EpilogueBound(const Spec& spec) const {
  if (spec.op_info().epilogue.empty()) return 0;
  double per_element = std::numeric_limits<double>::infinity();
  for (const VectorUnit& unit : target_.vectors)
    per_element = std::min(per_element, EpilogueCyclesOfVector(spec, unit) /
                                            std::max(unit.lanes(AccumulatorOf(spec)), kSumsStoredAtOnce));
  return BoundFromCycles(OutputElements(spec) * std::max(0.0, per_element - ToCycles(1)) * kRoundingSlack);
}

}  // namespace kirsch
