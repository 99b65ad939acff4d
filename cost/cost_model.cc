// SPDX-License-Identifier: Apache-2.0
#include "cost/cost_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "cost/copy_cost.h"
#include "cost/microkernel_cost.h"
#include "cost/tile_facts.h"
#include "spec/block.h"
#include "spec/check.h"
#include "spec/extension.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

// Bounds are summed in another order than costs. This factor keeps them below costs in spite of rounding.
constexpr double kRoundingSlack = 1 - 1e-9;

// To ask for a line ahead: an instruction, and what it takes from the loads beside it.
constexpr double kAskCycles = 2;

// Cycles of a sequential read. Threads that share a level have its lines in turn, which sets a floor.
double LinesCycles(const Footprint& footprint, const MemoryLevel& level, int active_threads) {
  const double per_line = std::max(level.cycles_per_line, level.shared_cycles_per_line * active_threads);
  return static_cast<double>(footprint.lines) * per_line;
}

double OutputElements(const Spec& spec) {
  return static_cast<double>(ExtentOf(spec, spec.op_info().output()).elements());
}

// Returns the trips of the loops around the microkernel's own, over the digits of a window's reduction.
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
  // The best rates of any vector unit, for OutputBound.
  cycles_per_byte_read_ = cycles_per_byte_written_ = std::numeric_limits<double>::infinity();
  for (const VectorUnit& unit : target.vectors) {
    const double bytes = unit.bytes;
    cycles_per_byte_read_ = std::min(cycles_per_byte_read_, 1 / (bytes * unit.loads_per_cycle));
    cycles_per_byte_written_ = std::min(cycles_per_byte_written_, 1 / (bytes * unit.stores_per_cycle));
  }
}

// Returns the share of the lines, 0 to 1, that no prefetch instruction asks for in time. With enough lines on
// their way (MemoryLevel::prefetch_lines), only the first lines of each run are late. With fewer, a larger
// share is; of too many runs, all lines are.
double CostModel::LateShare(const Transfer& transfer) const {
  const MemoryLevel& level = target_.at(transfer.from);
  if (transfer.by_tiles) return 0;
  if (transfer.ahead_lines == 0 || transfer.read.runs > level.prefetch_streams) return 1;
  const double on_time = static_cast<double>(transfer.ahead_lines) / level.prefetch_lines;
  return 1 - (1 - transfer.head) * std::min(1.0, on_time);
}

// Returns the cycles spent on lines that no prefetcher brings in time, in hardware or code. Nothing hides
// them. They are the first lines of each run, and all lines where too many runs are read side by side.
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

// Returns the cycles that inputs take beyond those of the fastest stream there is. Few runs are slower than
// several, by a share that falls with the square of their number (bench/lab/2026-11-23.md). Hardware alone is
// slower than prefetch instructions.
double CostModel::StreamingCycles(const Transfer& transfer) const {
  if (transfer.read.runs == 0 || transfer.written.lines != 0) return 0;
  const MemoryLevel& level = target_.at(transfer.from);
  const double beside = transfer.one_by_one ? 1 : static_cast<double>(transfer.read.runs);
  const double per_line = level.single_stream_cycles_per_line / (beside * beside) +
                          (transfer.by_tiles ? level.short_run_cycles_per_line : 0) +
                          (transfer.rows_conflict ? level.set_conflict_cycles_per_line : 0) +
                          (transfer.ahead_lines > 0 ? level.prefetched_cycles_per_line : 0) +
                          LateShare(transfer) * level.unprefetched_cycles_per_line;
  return static_cast<double>(transfer.read.lines) * per_line;
}

// Returns the cycles for translating addresses. A tile on more pages than the TLB has entries finds none of
// them there when it is walked over again: the oldest goes first.
double CostModel::PageCycles(const Transfer& transfer) const {
  if (transfer.from <= Level::kL1 || transfer.read.pages <= target_.l1_dtlb_entries) return 0;
  return static_cast<double>(transfer.read.pages) * target_.at(transfer.from).cycles_per_page;
}

double CostModel::TransferCycles(const Transfer& transfer, int active_threads) const {
  if (transfer.from <= Level::kL1) return 0;
  const MemoryLevel& level = target_.at(transfer.from);
  // What is written is brought first, which its factor has. It is no less than 1.
  return std::max(LinesCycles(transfer.read, level, active_threads),
                  LinesCycles(transfer.written, level, active_threads) * level.write_factor) +
         UnstreamedCycles(transfer) + StreamingCycles(transfer) + PageCycles(transfer);
}

// Prices a transfer as the difference of its two ends. What a move brings closer need only come the rest of
// the way later, so all hops of a line add up to what its first level costs.
//
//   rhs from RAM, a line 8 cycles, L2 3 cycles:  the move to L2 costs 8 - 3 = 5, the microkernel's read 3
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

// Returns the cycles for lines that are brought in vain. Tiles of the reduction read columns of rhs in
// pieces, or few rows in one walk along them. Where a run goes on behind the tile, prefetchers do so too, and
// what they bring is not read next.
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

// Returns the cycles that tiles of the reduction add to reads of panels. One panel of a copy follows the
// other, and is read so. A tile of the reduction reads a piece of each, and each piece begins where nobody
// has read or prefetched.
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

// Returns the cycles that lines of columns or panels from RAM take longer than with the fastest loads there
// are. Rows that are walked along don't, nor does what bounds them.
double CostModel::WideLoadCycles(const Spec& spec, const Footprint& rhs, const VectorUnit& unit) const {
  const TensorSpec& tensor = spec.operand[MatmulDims::kRhs];
  const bool rows = tensor.layout.panel == 0 && InnerDim(spec, MatmulDims::kRhs) == MatmulDims::kN;
  if (spec.ideal || tensor.level != Level::kRam || rows) return 0;
  return static_cast<double>(rhs.lines) * unit.wide_load_cycles_per_line;
}

// Returns the cycles that lines of rhs take longer where a step loads many of one row, and rows lie apart.
// Prefetchers run a few lines ahead in each of several rows. Who reads further in one of them waits for its
// lines, while no other row goes on (bench/lab/2026-11-29.md).
double CostModel::WideStepCycles(const Spec& spec, const VectorUnit& unit) const {
  constexpr double kLinesAhead = 4;
  const TensorSpec& rhs = spec.operand[MatmulDims::kRhs];
  const TileExtent tile = ExtentOf(spec, MatmulDims::kRhs);
  if (spec.ideal || rhs.layout.kind != LayoutKind::kStrided ||
      InnerDim(spec, MatmulDims::kRhs) != MatmulDims::kN || rhs.layout.ld == tile.inner)
    return 0;
  const double lines = static_cast<double>(Bytes(rhs.dtype, tile.inner)) / target_.line_bytes;
  return std::max(0.0, lines - kLinesAhead) * static_cast<double>(tile.outer * tile.batch) *
         unit.wide_step_cycles_per_line;
}

// Returns the cycles for reading a tile of rhs once more. L1 does not hold it beside the rows of lhs that
// pass by, so it comes from L2 for each of them.
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

// Returns the cycles that lines of lhs from the caches come late while rhs streams by: misses for both wait
// in the same few buffers.
double CostModel::LhsContentionCycles(const Spec& spec, const Expansion& expansion) const {
  if (spec.ideal || spec.operand[MatmulDims::kLhs].level <= Level::kL1) return 0;
  const Footprint& lhs = expansion.transfers[0].read;  // the first of the operands that stream
  return static_cast<double>(lhs.lines) *
         target_.at(spec.operand[MatmulDims::kRhs].level).lhs_contention_cycles_per_line;
}

// Returns the cycles to ask for a tile of rhs while the one before is worked on, and those that it comes late
// all the same. It lies in L2 then, which the transfer is changed to.
double CostModel::AskingCycles(const Spec& spec, const Decision& decision, Transfer* transfer) const {
  const auto way = [&](Level from) {
    return LinesCycles(transfer->read, target_.at(from), spec.active_threads);
  };
  const double further = way(std::exchange(transfer->from, Level::kL2)) - way(Level::kL2);
  return static_cast<double>(transfer->read.lines) * kAskCycles +
         std::max(0.0, further - std::max(0.0, BesideTiles(spec, decision)));
}

// Returns what is waited for in a move that asks for the next tile, or in one of a relaxed spec, which also
// stands for copies that do. `waited`: without asking.
double CostModel::AskingWaiting(const Spec& spec, const Decision& decision, const Expansion& expansion,
                                double waited) const {
  if (decision.operand != MatmulDims::kRhs || decision.level != Level::kL1 || !MayAskAhead(spec, target_))
    return waited;
  Transfer transfer = expansion.transfers[0];
  const double asking = AskingCycles(spec, decision, &transfer);
  return std::min(waited,
                  asking + LinesCycles(transfer.read, target_.at(transfer.from), spec.active_threads));
}

// A copy that neither turns nor changes its elements goes vector by vector. Others work on words of `group`
// elements: each element is widened, shifted and merged.
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
  // A copy has no arithmetic to hide behind: the slower of its instructions and its lines counts.
  Transfer source = expansion.transfers[0];
  double asking = 0;
  if (source.a_tile_ahead) asking = AskingCycles(spec, decision, &source);
  const double read = TransferCycles(source, spec.active_threads);
  const double written = TransferCycles(expansion.transfers[1], spec.active_threads);
  return target_.microkernel_cycles + asking +
         std::max(static_cast<double>(expansion.copied_elements) * per_element, read + written);
}

// The output's way into registers and back, and its epilogue: instructions only.
double CostModel::RegisterTileBase(const Spec& spec, const Decision& decision) const {
  const RegisterTile tile = RegisterTileOf(spec, decision.layout, target_);
  const VectorUnit& unit = UnitOf(target_, tile);
  const bool masked = ExtentOf(spec, decision.operand).inner % tile.lanes != 0;
  return OutputTileCycles(tile, spec.accumulate, masked, unit) + EpilogueCycles(spec, tile, unit);
}

Cost CostModel::Base(const Spec& spec, const Decision& decision, const Expansion& expansion) const {
  const Cost base = BuiltInBase(spec, decision, expansion);
  if (target_.extension == nullptr) return base;
  return CostFromCycles(target_.extension->Price(spec, decision, expansion, ToCycles(base)));
}

Cost CostModel::BuiltInBase(const Spec& spec, const Decision& decision, const Expansion& expansion) const {
  switch (decision.kind) {
    case RewriteKind::kTile: {
      // Each tile is a trip of a loop. Tiles of the reduction cut runs and panels, which costs more.
      int64_t trips = 0;
      for (int i = 0; i < expansion.num_children; ++i)
        trips += expansion.children[static_cast<size_t>(i)].trips;
      return CostFromCycles(static_cast<double>(trips) * target_.loop_cycles +
                            (decision.dim == MatmulDims::kK
                                 ? OverrunCycles(spec, expansion) + CutPanelsCycles(spec, expansion)
                                 : 0));
    }
    case RewriteKind::kParallelTile:
      // Only the outermost parallel tile starts threads.
      return decision.parts > 1 && spec.active_threads == 1 ? CostFromCycles(target_.fork_join_cycles) : 0;
    case RewriteKind::kMove: {
      // A transfer hides behind the arithmetic below it, and behind no more than that; nor does the same
      // arithmetic hide the rest of the way once more.
      const bool ahead = expansion.num_transfers == 1 && expansion.transfers[0].a_tile_ahead;
      const Exposure exposure = ExposureOf(spec, expansion);
      const double hiding = ahead ? BesideTiles(spec, decision) - exposure.below
                                  : std::max(0.0, HidingPlace(spec, decision.operand) - exposure.below);
      // Which loads bring it is up to the microkernels; the widest ones are taken for it.
      const double slower = decision.operand == MatmulDims::kRhs && !ahead
                                ? WideLoadCycles(spec, expansion.transfers[0].read, target_.vectors.front())
                                : 0;
      double waited = std::max(exposure.exposed, exposure.total + slower - hiding);
      if (IsRelaxed(spec) || AsksAhead(spec, decision, target_))
        waited = AskingWaiting(spec, decision, expansion, waited);
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
        // An ideal tile bounds the programs of both arithmetics, so it takes the cheaper one that fits.
        RegisterTile plain = tile;
        plain.arithmetic = ArithmeticOf(spec.operand[MatmulDims::kLhs].dtype,
                                        spec.operand[MatmulDims::kRhs].dtype, 1, target_);
        const double by_plain = MicrokernelCycles(plain, steps, unit, target_);
        const bool fits = RegistersNeeded(tile, unit) <= unit.registers;
        compute = fits ? std::min(compute, by_plain) : by_plain;
      }
      compute += WideStepCycles(spec, unit);
      const Exposure exposure = ExposureOf(spec, expansion);
      const size_t rhs = spec.operand[MatmulDims::kLhs].level <= Level::kL1 ? 0 : 1;  // of what streams
      const double slower = LhsContentionCycles(spec, expansion) +
                            WideLoadCycles(spec, expansion.transfers[rhs].read, unit) +
                            EvictedCycles(spec, expansion);
      // What never hides comes on top of the arithmetic; else the slower of arithmetic and transfers counts.
      return CostFromCycles(std::max(compute + exposure.exposed, exposure.total + slower));
    }
    case RewriteKind::kNone:
      break;
  }
  KIRSCH_BUG("no such rewrite");
}

// Returns the arithmetic that a transfer of `operand` may hide behind: all that the lines of other inputs
// don't hide behind already.
double CostModel::HidingPlace(const Spec& spec, int operand) const {
  double cycles = ComputeBound(spec);
  for (int other = 0; other < spec.op_info().output(); ++other)
    if (other != operand) cycles -= Compulsory(spec, other, spec.tensor(other).level).total;
  return std::max(0.0, cycles);
}

// Returns the least cycles for a tile of rhs once it is in `decision.level`: arithmetic, and lines that come
// from L2. Other inputs that are further away come over the same way as the columns, so the columns hide
// behind as much less.
double CostModel::BesideTiles(const Spec& spec, const Decision& decision) const {
  double cycles = ComputeBound(spec);
  for (int operand = 0; operand < spec.op_info().output(); ++operand) {
    const Level level = operand == decision.operand ? decision.level : spec.tensor(operand).level;
    const Exposure lines = Compulsory(spec, operand, level);
    cycles += level <= Level::kL2 ? lines.exposed : -lines.total;
  }
  return cycles;
}

// Each element of the output is stored at least once, and loaded first if it is accumulated into.
double CostModel::OutputBound(const Spec& spec) const {
  if (spec.out().level == Level::kVrf) return 0;
  const double per_byte = cycles_per_byte_written_ + (spec.accumulate ? cycles_per_byte_read_ : 0);
  return OutputElements(spec) * Bytes(AccumulatorOf(spec)) * per_byte;
}

// Every operand's lines must come from their level once, whatever the program. An operand in L1 or in
// registers costs nothing. Runs and pages are left out: they depend on the tiling.
CostModel::Exposure CostModel::Compulsory(const Spec& spec, int operand, Level from) const {
  if (from <= Level::kL1) return {};
  return Compulsory(spec, operand, CompulsoryLines(spec, operand), from);
}

// Returns the lines that every program brings at least.
int64_t CostModel::CompulsoryLines(const Spec& spec, int operand) const {
  const int64_t lines = FootprintOf(spec, operand, target_).lines;
  // A copy of a constant may take fewer lines than it, but never less than its elements; of lhs, than what
  // these may be rounded to.
  const TensorSpec& tensor = spec.tensor(operand);
  if (tensor.constant == 0) return lines;
  const int64_t elements = ExtentOf(spec, operand).elements();
  int64_t bytes = Bytes(tensor.dtype, elements);
  if (operand == MatmulDims::kLhs && spec.lhs_as != LhsAs::kItself)
    bytes = std::min(bytes, elements * (spec.lhs_as == LhsAs::kQ8 ? 1 : Bytes(ElementAs(spec.lhs_as))));
  return std::min(lines, bytes / target_.line_bytes);
}

// Returns the least cycles of copies that ask for so many lines of rhs ahead: all of them come from L2.
double CostModel::LeastAsking(const Spec& spec, int64_t lines) const {
  return static_cast<double>(lines) * kAskCycles +
         LinesCycles({lines, 0, 0}, target_.at(Level::kL2), spec.active_threads);
}

CostModel::Exposure CostModel::Compulsory(const Spec& spec, int operand, int64_t lines, Level from) const {
  const MemoryLevel& level = target_.at(from);
  const double read = LinesCycles({lines, 0, 0}, level, spec.active_threads);
  const double total = operand == spec.op_info().output() ? read * level.write_factor : read;
  return {total, total * (1 - level.overlap)};
}

// Adds up what each program pays somewhere: lines, arithmetic with widening and copies, the output, the
// epilogue.
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
    const double from_l2 = std::min(way.exposed, Compulsory(spec, operand, lines, Level::kL2).exposed);
    near += from_l2;
    const double exposed = operand == kRhs && MayAskAhead(spec, target_)
                               ? std::min(way.exposed, LeastAsking(spec, lines))
                               : way.exposed;
    (operand == kRhs ? far_of_rhs : far) += std::max(0.0, exposed - from_l2);
    if (operand != kRhs) continue;
    brought.rhs = ahead ? from_l2 : std::max(exposed, from_l2);
    all_of_rhs = way.total;
  }
  near += of_blocks ? compute_.ProductsOfBlocks(spec, Compulsory(spec, kRhs, from).exposed)
                    : compute_.ProductsAndCopies(spec, brought);
  // What is asked for ahead hides whole on its way to L2, but takes its time; as does what is not.
  if (from > Level::kL1 && !of_blocks && !spec.op_info().lanewise())
    near = std::max(near + (ahead ? 0 : far_of_rhs), all_of_rhs);
  else
    near += far_of_rhs;
  // Each step of a program costs at least this share of its built-in price, so the whole program does.
  const double share = target_.extension == nullptr ? 1 : target_.extension->least_share();
  const double cycles = share * (near + far + OutputBound(spec) + ToCycles(EpilogueBound(spec)));
  return BoundFromCycles(cycles / spec.threads * kRoundingSlack);
}

Cost CostModel::SlowerLevelBound(const Spec& spec, Level slow, Level fast) const {
  double extra = 0;
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    if (spec.tensor(operand).level != slow) continue;
    const Exposure from_slow = Compulsory(spec, operand, slow), from_fast = Compulsory(spec, operand, fast);
    double cycles = std::min(from_slow.total - from_fast.total, from_slow.exposed - from_fast.exposed);
    if (operand == MatmulDims::kRhs && MayAskAhead(spec, target_))
      cycles = std::min(cycles, LeastAsking(spec, CompulsoryLines(spec, operand)) - from_fast.total);
    // Costs are whole units, rounded for each transfer. Those are of a line at least: a unit a line is
    // all that may be lost on the way.
    const auto lines = static_cast<double>(FootprintOf(spec, operand, target_).lines);
    extra += std::max(0.0, cycles - ToCycles(1) * lines);
  }
  return BoundFromCycles(extra * kRoundingSlack);
}

// A register tile holds at least one element, and its cost is rounded to whole units: a unit for each element
// is all that may be lost on the way.
Cost CostModel::EpilogueBound(const Spec& spec) const {
  if (spec.op_info().epilogue.empty()) return 0;
  double per_element = std::numeric_limits<double>::infinity();
  for (const VectorUnit& unit : target_.vectors)
    per_element = std::min(per_element, EpilogueCyclesOfVector(spec, unit) /
                                            std::max(unit.lanes(AccumulatorOf(spec)), kSumsStoredAtOnce));
  return BoundFromCycles(OutputElements(spec) * std::max(0.0, per_element - ToCycles(1)) * kRoundingSlack);
}

}  // namespace kirsch
