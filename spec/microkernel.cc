// SPDX-License-Identifier: Apache-2.0
#include "spec/microkernel.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "spec/block.h"
#include "spec/check.h"
#include "spec/footprint.h"
#include "spec/interleaving.h"

namespace kirsch {
namespace {

// Products of elements that the target's fastest unit does in a cycle.
double MultiplicationsPerCycle(Arithmetic arithmetic, const Target& target) {
  double most = 0;
  for (const VectorUnit& unit : target.vectors)
    most = std::max(most, unit.rate(arithmetic).per_cycle * unit.lanes(Info(arithmetic).accumulator()) *
                              Info(arithmetic).group);
  return most;
}

// Is rhs a window, whose copies have no groups, or such a copy?
bool HasNoGroups(const Spec& spec) {
  if (IsWindow(spec, MatmulDims::kRhs)) return true;
  const Layout& rhs = spec.operand[MatmulDims::kRhs].layout;
  return rhs.kind == LayoutKind::kPacked && rhs.group == 1 && spec.ideal != kIdealInputs &&
         InnerDim(spec, MatmulDims::kRhs) == InnerDim(spec, spec.op_info().output());
}

// The fastest row for these types among those that `considered` accepts and `fallback`. Of several it is the
// last.
template <typename Considered>
Arithmetic Fastest(Dtype lhs, Dtype rhs, const Target& target, Arithmetic fallback,
                   const Considered& considered) {
  Arithmetic best = fallback;
  for (const Instruction& row : kInstructions)
    if (considered(row) && Takes(row, lhs, rhs) && TargetHas(row.arithmetic, target) &&
        MultiplicationsPerCycle(row.arithmetic, target) >= MultiplicationsPerCycle(best, target))
      best = row.arithmetic;
  return best;
}

// The registers that a step needs beside the accumulators:
//
//   - the rhs vectors of one step; with a single row they are used one by one and need one register
//   - one broadcast of lhs
//   - AVX2's mask operand; the products, where multiplying and adding are two instructions; what is widened
//   - for pairs: even and odd vectors of rhs and, along the reduction or with a single row, of lhs; while one
//     of several rows is unpacked, two more
//   - lanewise: the rhs vectors of one column's taps; of lanes in groups, of those that meet the same channel
//     of their group, what is shuffled, and, of groups beyond 16 bytes, the order
//   - for blocks: one is decoded at a time, with its scale and offset, the codes, a mask, perhaps tables
//   - for products of their integers: for each row a scale, its integers and what sums start from; factors of
//     parts wait for each column
//   - for panels: a vector of each column, a broadcast, and one to make a sum f32 in. Codes of half a byte
//     need a mask; higher bits, a mask of their own and a place; factors of parts, one of them, a mask and a
//     sign
int Operands(const RegisterTile& tile, const VectorUnit& unit) {
  constexpr int kDecoding = 6, kTables = 4, kOfRow = 4, kOfParts = 4, kOfPanels = 2;
  if (IsInPanels(tile.rhs)) {
    constexpr int kMask = 1, kHigherBits = 2, kFactors = 3;
    return kOfPanels + tile.columns + (HasNibbles(tile.rhs) ? kMask : 0) +
           (HasHigherBits(tile.rhs) ? kHigherBits : 0) + (HasFactors(tile.rhs) ? kFactors : 0);
  }
  if (IsOfBlocks(tile.rhs)) {
    if (!tile.instruction().scales) return kDecoding + (tile.by_tables ? kTables : 0);
    return kDecoding + (tile.reads_rows_late() ? 0 : kOfRow * tile.rows) +
           (FormatOf(tile.rhs).part != 0 ? kOfParts * tile.columns : 0);
  }
  const bool products = tile.instruction().has_products(), pairs = tile.instruction().parts() > 1;
  const int rhs = tile.form == LayoutKind::kLanewise
                      ? tile.taps / tile.lane_group + (tile.lane_group > 4   ? 2
                                                       : tile.lane_group > 1 ? 1
                                                                             : 0)
                      : (tile.rows == 1 ? 1 : tile.columns) * (pairs ? 2 : 1);
  const int lhs = !pairs ? 1 : tile.rows == 1 ? 2 : tile.form == LayoutKind::kPartialSums ? 4 : 1;
  return rhs + lhs + (tile.masked_rhs && !unit.masks ? 1 : 0) + (products ? 1 : 0) +
         (tile.widens_lhs > 0 || tile.widens_rhs > 0 ? 1 : 0) + (tile.instruction().has_excess() ? 1 : 0);
}

// How many steps a block takes: in a dot product vectors along a column, of panels groups.
int VectorsOfBlock(const RegisterTile& tile) {
  return BlockOf(tile.rhs) / (IsInPanels(tile.rhs) ? tile.group() : tile.lanes * tile.group());
}

// Do elements stand by themselves, so that blocks are no units?
bool StandAlone(Dtype blocks) { return FormatOf(blocks).scale == BlockScale::kNone; }

// The most sets of accumulators. Blocks go to sets vector by vector, if they are units. Blocks of integers go
// in parts as long as blocks of lhs are; those no longer than that go one after the other, if each is a
// vector. Of panels, sums of integers are chains of their own.
int MostSets(const RegisterTile& tile) {
  constexpr int kMost = 4;
  if (!IsOfBlocks(tile.rhs) || StandAlone(tile.rhs)) return kMost;
  if (IsInPanels(tile.rhs)) return 1;
  if (!tile.instruction().scales) return std::min(kMost, VectorsOfBlock(tile));
  return VectorsOfBlock(tile) == 1 || BlockOf(tile.rhs) > BlockOf(Dtype::kQ8) ? kMost : 1;
}

// How many steps of a reduction, of one run or a part of it, a kLanewise tile takes at once. Their vectors of
// rhs leave registers for accumulators. Of lanes in groups, the steps of a tap are taken together.
int TapsOf(const DigitAxis& reduction, int64_t steps, int group, const VectorUnit& unit) {
  constexpr int kMostTaps = 8;
  const int64_t most = std::clamp(unit.registers / 2 - 1, 1, kMostTaps);
  const int level = group > 1 ? 1 : 0;  // of the taps
  const int64_t run = level + 1 < reduction.digits ? reduction.digit[static_cast<size_t>(level)].count : most;
  return group * static_cast<int>(std::min({most, steps / group, run}));
}

// How many elements of a channel `rows` consecutive rows of the window have in a run of `taps` taps, which
// are digit `level` of the reduction. Rows have elements in common: 2 rows of 3 taps, a pixel apart, have 4.
int InputsOf(const Window& window, int level, int rows, int taps) {
  if (level == window.axes[1].digits) return rows;
  const int64_t row = window.axes[0].stride(0), tap = window.axes[1].stride(level);
  const int64_t run = std::min<int64_t>(rows, window.axes[0].RunLength(0));
  int64_t inputs = run * taps;
  if (row % tap == 0) inputs = std::min(inputs, (run - 1) * (row / tap) + taps);
  if (tap % row == 0) inputs = std::min(inputs, (taps - 1) * (tap / row) + run);
  return static_cast<int>(inputs * (rows / run));
}

// The common divisor of all distances between the rows of an operand, in elements. 0 where there is one row,
// or its rows are whole lines of a copy.
int64_t CommonDistance(const Spec& spec, int operand) {
  const Layout& layout = spec.tensor(operand).layout;
  if (layout.kind == LayoutKind::kStrided) return ExtentOf(spec, operand).outer > 1 ? layout.ld : 0;
  if (layout.kind != LayoutKind::kWindow) return 0;
  int64_t common = 0;
  for (const DigitAxis& axis : spec.op_info().window.axes)
    for (int level = &axis == &spec.op_info().window.axes[1] ? 1 : 0; level < axis.digits; ++level)
      common = std::gcd(common, axis.stride(level));
  return common;
}

// The share of an operand's vectors of `elements` that lie across a line more than they must. Rows begin at
// multiples of the common divisor of their distance and the line, equally often at each.
double SplitShare(const Spec& spec, int operand, int elements, const Target& target) {
  const Dtype dtype = spec.tensor(operand).dtype;
  const int64_t line = target.line_bytes, apart = std::gcd(Bytes(dtype, CommonDistance(spec, operand)), line);
  return static_cast<double>(std::max<int64_t>(0, std::min(Bytes(dtype, elements), line) - apart)) /
         static_cast<double>(line);
}

// The share of an operand's vectors that begin at no multiple of 8 bytes, rows beginning as above. Loads of
// less than a whole vector, which is widened then, are not counted.
double UnalignedShare(const Spec& spec, int operand, int elements, const VectorUnit& unit) {
  constexpr int64_t kGrain = 8;
  const Dtype dtype = spec.tensor(operand).dtype;
  if (Bytes(dtype, elements) < unit.bytes) return 0;
  const int64_t apart = Bytes(dtype, CommonDistance(spec, operand));
  return 1 - static_cast<double>(std::gcd(apart, kGrain)) / kGrain;
}

// Completes a tile of a matrix unit. `tile` has its rows, and its columns as elements. The operands are of
// the arithmetic's types.
RegisterTile TilesOf(const Spec& spec, RegisterTile tile, const Target& target) {
  const TensorSpec &lhs = spec.tensor(MatmulDims::kLhs), &rhs = spec.tensor(MatmulDims::kRhs);
  const std::optional<Arithmetic> arithmetic = TileArithmetic(lhs.dtype, rhs.dtype, target);
  KIRSCH_CHECK(arithmetic.has_value());
  tile.arithmetic = *arithmetic;
  tile.columns = (tile.columns + tile.lanes - 1) / tile.lanes;
  tile.split_lhs = SplitShare(spec, MatmulDims::kLhs, kTileRowBytes / Bytes(lhs.dtype), target);
  return tile;
}

// The instructions that words of rhs take before they are multiplied, for as many steps as a block of lhs
// has. Codes that are halves of bytes are masked, and every second one shifted. Higher bits are shifted, and
// put beside them by one instruction more. Factors of parts are shifted, masked or shifted back, made f32 and
// multiplied.
double PartingOfWords(Dtype panels, int words) {
  constexpr double kHalves = 1.5, kHigherBits = 2, kFactors = 4;
  const BlockFormat& format = FormatOf(panels);
  const double of_word = (HasNibbles(panels) ? kHalves : 0) + (HasHigherBits(panels) ? kHigherBits : 0);
  if (!HasFactors(panels)) return of_word * words;
  const double factors = format.offset_factor != nullptr ? 2 : 1;
  return of_word * words + kFactors * factors * BlockOf(Dtype::kQ8) / format.part;
}

// Sets `scaling` and `row_scaling`, see RegisterTile.
void CountScaling(RegisterTile* tile) {
  constexpr double kOfSums = 3, kOfRow = 2;
  const BlockFormat& format = FormatOf(tile->rhs);
  const int block = BlockOf(Dtype::kQ8);
  const double shared = format.part == 0 ? block : std::min(format.part, block);  // steps of the reduction
  if (IsInPanels(tile->rhs)) {
    const double offset = format.offset_byte >= 0 ? 1 : 0;
    tile->scaling = kOfSums * block / shared + offset;
    tile->row_scaling = kOfRow * block / shared + offset;
    return;
  }
  tile->scaling = kOfSums * std::min(1.0, tile->lanes * tile->group() / shared);
  tile->row_scaling = tile->reads_rows_late() ? 1 : kOfRow;
}

}  // namespace

// Integers of blocks are read as elements are, but they are not made f32 and scaled.
double WideningOf(Arithmetic arithmetic, int operand, Dtype dtype, bool by_tables) {
  constexpr double kPlain = 2, kScaling = 2;  // instructions
  const Dtype lane = LaneType(arithmetic, operand, dtype);
  if (IsInPanels(dtype)) return PartingOfWords(dtype, Info(arithmetic).words) / kPlain;
  if (lane == dtype) return 0;
  const Dtype to = lane == Dtype::kBf16 ? lane : Dtype::kF32;
  return (WideningInstructions(dtype, to, by_tables) - (Info(arithmetic).scales ? kScaling : 0)) / kPlain;
}

bool LooksUpBytes(Dtype blocks, int vector_bytes, const Target& target) {
  constexpr int kHalfOfTable = 64;  // bytes
  return Info(blocks).looking_up.floats > 0 && vector_bytes == kHalfOfTable &&
         target.HasFeature("avx512vbmi");
}

bool TargetHas(Arithmetic arithmetic, const Target& target) {
  return std::ranges::all_of(target.vectors, [&](const VectorUnit& unit) {
    return EncodingOf(arithmetic, unit, target) != nullptr;
  });
}

// The factors are of the sums' type, as loads widen both.
Arithmetic PlainArithmetic(Dtype lhs) {
  const Dtype sum = AccumulatorOf(lhs);
  return InstructionFor(sum, sum).instruction->arithmetic;
}

Arithmetic BestArithmetic(Dtype lhs, Dtype rhs, const Target& target) {
  return Fastest(lhs, rhs, target, PlainArithmetic(lhs),
                 [](const Instruction& row) { return row.group > 1; });
}

Arithmetic BestArithmetic(const Spec& spec, const Target& target) {
  const Dtype lhs = spec.operand[MatmulDims::kLhs].dtype, rhs = spec.operand[MatmulDims::kRhs].dtype;
  return spec.fixed_order != 0 || HasNoGroups(spec) ? PlainArithmetic(lhs) : BestArithmetic(lhs, rhs, target);
}

std::optional<Arithmetic> TileArithmetic(Dtype lhs, Dtype rhs, const Target& target) {
  if (!target.matrix) return std::nullopt;
  for (const Instruction& row : kInstructions) {
    const bool suits = (row.lhs == lhs && row.rhs == rhs) ||
                       (!row.tiles.exchanged_llvm.empty() && row.lhs == rhs && row.rhs == lhs);
    if (suits && !row.tiles.feature.empty() && target.HasFeature(row.tiles.feature)) return row.arithmetic;
  }
  return std::nullopt;
}

Arithmetic ArithmeticOfRounded(const Target& target) {
  return TileArithmetic(Dtype::kBf16, Dtype::kBf16, target)
      .value_or(BestArithmetic(Dtype::kBf16, Dtype::kBf16, target));
}

Arithmetic ArithmeticOf(Dtype lhs, Dtype rhs, int group, const Target& target) {
  if (group == 1) return PlainArithmetic(lhs);
  const auto fits = [&](const Instruction& row) { return row.group == group && Takes(row, lhs, rhs); };
  // Mostly one row has this group: then rates need not be compared.
  const auto first = std::ranges::find_if(kInstructions, fits);
  KIRSCH_CHECK(first != kInstructions.end());
  if (std::none_of(first + 1, kInstructions.end(), fits)) return first->arithmetic;
  return Fastest(lhs, rhs, target, first->arithmetic, fits);
}

bool IsPlain(const Spec& spec) {
  return !IsNarrow(spec.operand[MatmulDims::kLhs].dtype) && !IsNarrow(spec.operand[MatmulDims::kRhs].dtype);
}

bool RhsIsSettled(const Spec& spec) {
  const TensorSpec& rhs = spec.operand[MatmulDims::kRhs];
  if (IsOfBlocks(rhs.dtype)) return false;
  return !MayBeCopied(rhs) || (IsWindow(spec, MatmulDims::kRhs) && !spec.op_info().window.HasStridedParts());
}

Dtype LaneType(Arithmetic arithmetic, int operand, Dtype dtype) {
  const Instruction& row = Info(arithmetic);
  if (IsInPanels(dtype) || IsRounded(dtype)) return dtype;
  const bool lhs = operand == MatmulDims::kLhs;
  const bool exchanged = row.commutes && !Holds(lhs ? row.lhs : row.rhs, dtype);
  return lhs != exchanged ? row.lhs : row.rhs;
}

void SetWidening(const WidenedTypes& widened, const Target& target, RegisterTile* tile) {
  if (widened.lhs) {
    tile->lhs = *widened.lhs;
    tile->widens_lhs = WideningOf(tile->arithmetic, MatmulDims::kLhs, tile->lhs);
  }
  if (widened.rhs) {
    tile->rhs = *widened.rhs;
    tile->by_tables = LooksUpBytes(tile->rhs, tile->vector_bytes(), target);
    tile->widens_rhs = WideningOf(tile->arithmetic, MatmulDims::kRhs, tile->rhs, tile->by_tables);
    if (tile->instruction().scales) CountScaling(tile);
  }
}

RegisterTile RegisterTileOf(const Spec& spec, const Layout& registers, const Target& target) {
  const TensorSpec& lhs = spec.operand[MatmulDims::kLhs];
  const TensorSpec& rhs = spec.operand[MatmulDims::kRhs];
  const TileExtent out = ExtentOf(spec, spec.op_info().output());
  RegisterTile tile;
  // A tile of chains is one of vectors whose sums are not split.
  tile.form = registers.kind == LayoutKind::kChains ? LayoutKind::kVectors : registers.kind;
  tile.one_set = registers.kind == LayoutKind::kChains;
  tile.lanes = registers.panel;
  tile.rows = static_cast<int>(out.outer);
  tile.columns = static_cast<int>(out.inner);
  if (tile.form == LayoutKind::kTiles) return TilesOf(spec, tile, target);
  tile.arithmetic = ArithmeticOf(lhs.dtype, rhs.dtype, registers.group, target);
  // Columns are vectors along the output's inner dim, of which the last may be partial. A packed rhs is
  // filled up, and one that is widened is loaded in pieces: neither is masked.
  if (tile.form != LayoutKind::kPartialSums) {
    tile.columns = static_cast<int>((out.inner + tile.lanes - 1) / tile.lanes);
    tile.masked_rhs =
        out.inner % tile.lanes != 0 && rhs.layout.kind != LayoutKind::kPacked && !IsNarrow(rhs.dtype);
  }
  if (tile.form == LayoutKind::kLanewise) {
    const Window& window = spec.op_info().window;
    const int group = static_cast<int>(window.LaneGroup(spec.size[MatmulDims::kK]));
    tile.lane_group = group;
    tile.taps = TapsOf(window.axes[1], spec.size[MatmulDims::kK], group, UnitOf(target, tile));
    tile.inputs = group * InputsOf(window, group > 1 ? 1 : 0, tile.rows, tile.taps / group);
  }
  const bool dots = tile.form == LayoutKind::kPartialSums;
  const int elements = tile.lanes * (dots ? tile.group() : 1);
  const VectorUnit& unit = UnitOf(target, tile);
  if (dots) {
    tile.split_lhs = SplitShare(spec, MatmulDims::kLhs, elements, target);
    tile.unaligned += tile.rows * UnalignedShare(spec, MatmulDims::kLhs, elements, unit);
  }
  if (tile.form != LayoutKind::kLanewise) {
    tile.split_rhs = SplitShare(spec, MatmulDims::kRhs, elements, target);
    tile.unaligned += tile.columns * UnalignedShare(spec, MatmulDims::kRhs, elements, unit);
  }
  tile.one_chain = spec.fixed_order != 0 || tile.form == LayoutKind::kLanewise;
  // Blocks in panels are multiplied in one way only, with registers of its own; at best as wider ones are.
  if (spec.ideal == kIdealInputs && !IsInPanels(rhs.dtype)) return tile;
  WidenedTypes widened{.rhs = spec.ideal == kIdealInputs ? InPanels(rhs.dtype) : rhs.dtype};
  if (spec.ideal != kIdealLhs) widened.lhs = lhs.dtype;
  SetWidening(widened, target, &tile);
  if (tile.form == LayoutKind::kVectors && MayInterleave(spec, tile.arithmetic))
    tile.widens_rhs = kInterleaving;
  if (tile.form == LayoutKind::kVectors && tile.widens_rhs > 0 && rhs.layout.kind != LayoutKind::kPacked)
    tile.pieces = std::popcount(static_cast<uint64_t>(out.inner % tile.lanes));
  return tile;
}

bool LanesMayVary(Dtype dtype, const Target& target) {
  if (IsOfBlocks(dtype)) return false;
  if (Bytes(dtype) >= kWordBytes) return true;
  return target.HasFeature("avx512bw") && std::ranges::any_of(target.vectors, &VectorUnit::masks);
}

const VectorUnit& UnitOf(const Target& target, const RegisterTile& tile) {
  for (const VectorUnit& unit : target.vectors)
    if (unit.bytes == tile.vector_bytes()) return unit;
  KIRSCH_BUG("no vector unit with that many lanes");
}

bool TilesWait(const RegisterTile& tile, const Epilogue& epilogue, Dtype out, int64_t columns) {
  return tile.form == LayoutKind::kTiles &&
         (!epilogue.empty() || out != tile.instruction().accumulator() || columns % tile.lanes != 0);
}

int RegistersFor(const RegisterTile& tile, const Target& target) {
  return tile.form == LayoutKind::kTiles ? target.matrix->registers : UnitOf(target, tile).registers;
}

int TileRegistersNeeded(const RegisterTile& tile) {
  return tile.row_tiles() * tile.columns + tile.row_tiles() + 1;
}

int RegistersNeeded(const RegisterTile& tile, const VectorUnit& unit) {
  return tile.sum_registers() + Operands(tile, unit);
}

int RegistersAtPeak(const RegisterTile& tile, const VectorUnit& unit, const Target& target) {
  const Encoding* const encoding = EncodingOf(tile.arithmetic, unit, target);
  int operands = Operands(tile, unit);
  // Products are there where this CPU's way of the instruction has them.
  if (tile.instruction().has_products() && encoding != nullptr && encoding->form != EncodingForm::kProduct)
    --operands;
  // If an instruction takes an operand from memory for all of a step, it is in no register.
  if (FoldedLoads(tile, unit) == (tile.rows == 1 ? tile.columns : tile.rows)) --operands;
  return KSplit(tile, unit) * tile.sum_registers() + operands;
}

int FoldedLoads(const RegisterTile& tile, const VectorUnit& unit) {
  if (tile.form == LayoutKind::kLanewise || tile.instruction().words > 1) return 0;
  const int of_rhs = tile.rows == 1 && tile.widens_rhs == 0 ? tile.columns - (tile.masked_rhs ? 1 : 0) : 0;
  if (of_rhs > 0) return of_rhs;
  const bool vectors = tile.form == LayoutKind::kPartialSums;
  return tile.columns == 1 && (unit.masks || vectors) && tile.widens_lhs == 0 ? tile.rows : 0;
}

int WholeDigits(const RegisterTile& tile, const VectorUnit& unit, const DigitAxis& reduction) {
  if (tile.form == LayoutKind::kLanewise) {
    int whole = reduction.digits - 1;
    while (whole > 0 && tile.taps % reduction.unit(whole) != 0) --whole;
    return std::max(whole, 0);
  }
  // The most multiply-adds that a trip holds. Few registers: see the code generator.
  constexpr int kManyRegisters = 32, kMostMultiplyAdds = 256;
  if (unit.registers < kManyRegisters) return 0;
  int whole = 0;
  while (whole + 1 < reduction.digits &&
         reduction.unit(whole + 1) * tile.accumulators() <= int64_t{kMostMultiplyAdds} * tile.group())
    ++whole;
  return whole;
}

bool SumsInBlocks(const Spec& spec) { return IsFloating(AccumulatorOf(spec)) && spec.fixed_order == 0; }

int KSplit(const RegisterTile& tile, const VectorUnit& unit) {
  if (tile.form == LayoutKind::kTiles) return 1;
  const ArithmeticRate rate = unit.rate(tile.arithmetic);
  const double wanted = rate.wanted_chains();
  int sets = 1;
  // Twice as many sets, as long as there are too few chains, and registers for as many again.
  while (!tile.one_chain && !tile.one_set && sets < MostSets(tile) && tile.accumulators() * sets < wanted &&
         tile.accumulators() * sets * 2 + Operands(tile, unit) <= unit.registers)
    sets *= 2;
  return sets;
}

int CountedSets(RegisterTile tile, const VectorUnit& unit) {
  tile.masked_rhs = false;
  tile.widens_lhs = tile.widens_rhs = tile.scaling = tile.row_scaling = 0;
  return KSplit(tile, unit);
}

int RunSteps(const RegisterTile& tile, const DigitAxis& reduction, int whole_digits) {
  return whole_digits == 0 ? 1 : static_cast<int>(reduction.unit(whole_digits)) / tile.group();
}

namespace {

// Multiply-adds in a trip, at least: enough that the loop's own instructions disappear beside them. With few
// registers, compilers copy and spill accumulators that are updated more than once in a trip; with none to
// spare, where they are that is more than twice (bench/lab/2026-11-27.md).
int LeastBody(const RegisterTile& tile, int sets, const VectorUnit& unit) {
  constexpr int kBody = 24, kLongBody = 40, kSpare = 2;
  RegisterTile all_sets = tile;
  all_sets.rows = tile.sum_rows() * sets;
  const bool plain = tile.form == LayoutKind::kVectors && tile.instruction().timed == Arithmetic::kFma &&
                     tile.instruction().parts() == 1 && tile.widens_lhs == 0 && tile.widens_rhs == 0;
  return plain && RegistersNeeded(all_sets, unit) + kSpare <= unit.registers ? kLongBody : kBody;
}

}  // namespace

MainLoop MainLoopOf(const RegisterTile& tile, const VectorUnit& unit, const DigitAxis& reduction) {
  constexpr int kMostUnrolled = 8, kManyRegisters = 32;
  MainLoop loop;
  if (tile.form == LayoutKind::kTiles) return loop;
  // Blocks decide how much a trip takes; anything else is unrolled as far as it helps.
  loop.sets = KSplit(tile, unit);
  if (IsOfBlocks(tile.rhs)) {
    loop.unroll = std::max(1, VectorsOfBlock(tile));
    // As many as a vector of bytes has codes, at least.
    if (StandAlone(tile.rhs)) loop.unroll = std::max({loop.unroll, loop.sets, kWordBytes / tile.group()});
    if (tile.instruction().scales && loop.unroll == 1) loop.unroll = loop.sets;
    return loop;
  }
  if (reduction.digits > 0) loop.whole_digits = WholeDigits(tile, unit, reduction);
  // A run is no shorter than what is taken at once.
  const bool loops_around = reduction.digits - 1 > loop.whole_digits;
  const int64_t longest = loops_around ? reduction.unit(loop.whole_digits + 1) / tile.group()
                                       : std::numeric_limits<int64_t>::max();
  const bool lanewise = tile.form == LayoutKind::kLanewise;
  const int parts = tile.instruction().parts();
  loop.unroll = lanewise ? tile.taps : RunSteps(tile, reduction, loop.whole_digits);
  // First so that every set has a step, then so that the trip is long enough.
  while (loop.unroll * parts < loop.sets && loop.unroll * 2 <= longest) loop.unroll *= 2;
  const int body = LeastBody(tile, loop.sets, unit);
  while (unit.registers >= kManyRegisters && !lanewise && loop.unroll < kMostUnrolled &&
         loop.unroll * 2 <= longest && loop.unroll * parts * tile.accumulators() < body)
    loop.unroll *= 2;
  return loop;
}

namespace {

// Rows of lhs that take so long for each tile of rhs that the next one can be on its way meanwhile.
constexpr uint32_t kLeastRows = 4;

}  // namespace

bool RhsHasShortRuns(const Spec& spec) {
  const Layout& rhs = spec.operand[MatmulDims::kRhs].layout;
  return !spec.op_info().lanewise() && spec.size[MatmulDims::kM] >= kLeastRows &&
         rhs.kind == LayoutKind::kStrided && InnerDim(spec, MatmulDims::kRhs) == MatmulDims::kN;
}

namespace {

// True if microkernels read rhs in panels, and a line of them takes several vectors.
bool ReadsPanelsInPieces(const Spec& spec, const Target& target) {
  const Layout& rhs = spec.operand[MatmulDims::kRhs].layout;
  return rhs.kind == LayoutKind::kPacked && rhs.panel != 0 &&
         target.vectors.front().bytes < target.line_bytes;
}

}  // namespace

bool AsksAhead(const Spec& spec, const Decision& decision, const Target& target) {
  constexpr int kRhs = MatmulDims::kRhs;
  constexpr int kShareOfL2 = 4;  // that the next tile may take, at most
  const TensorSpec& rhs = spec.operand[kRhs];
  if (decision.operand != kRhs || decision.level != Level::kL1 || IsRelaxed(spec) ||
      !MayAskAhead(spec, target))
    return false;
  const TileExtent tile = ExtentOf(spec, kRhs);
  if (decision.kind == RewriteKind::kMove)
    return ReadsPanelsInPieces(spec, target) && tile.batch == 1 && tile.inner <= rhs.layout.panel &&
           kShareOfL2 * Bytes(rhs.dtype, tile.elements()) <= target.at(Level::kL2).bytes;
  if (rhs.layout.kind != LayoutKind::kStrided || rhs.layout.order != decision.layout.order ||
      (rhs.level == Level::kRam && spec.size[MatmulDims::kM] < kLeastRows))
    return false;
  if (Bytes(rhs.dtype, int64_t{rhs.layout.ld} - tile.inner) < target.line_bytes) return false;
  return tile.outer <= RowsInHalfOfWays(spec, kRhs, target, Level::kL2);
}

bool IsRelaxed(const Spec& spec) { return spec.out().layout.kind == LayoutKind::kPacked; }

bool MayAskAhead(const Spec& spec, const Target& target) {
  const TensorSpec& rhs = spec.operand[MatmulDims::kRhs];
  if (spec.op_info().lanewise() || rhs.level <= Level::kL2 || IsOfBlocks(rhs.dtype)) return false;
  if (InnerDim(spec, MatmulDims::kRhs) != InnerDim(spec, MatmulDims::kOut)) return false;
  if (IsRelaxed(spec)) return rhs.resident == 0;
  return rhs.layout.kind == LayoutKind::kStrided ? MayBeCopied(rhs) : ReadsPanelsInPieces(spec, target);
}

namespace {

constexpr uint32_t kFewColumns = 8;         // of more, each is cut into pieces that caches hold
constexpr int64_t kShortestColumn = 1024;   // bytes, of columns that are asked for ahead
constexpr int64_t kLeastAhead = 16 * 1024;  // bytes; less is not in time
constexpr int64_t kMostAhead = 128 * 1024;  // and more wait for long, in a smaller L2
constexpr int64_t kWidestGap = 128;         // bytes between columns that are one stream all the same

// Elements from the end of a column of rhs to the next one; below zero where columns overlap.
int64_t ColumnGap(const Spec& spec) {
  return int64_t{spec.operand[MatmulDims::kRhs].layout.ld} - spec.size[MatmulDims::kK];
}

bool IsWideGap(const Spec& spec) {
  return Bytes(spec.operand[MatmulDims::kRhs].dtype, ColumnGap(spec)) > kWidestGap;
}

}  // namespace

bool RhsIsReadInColumns(const Spec& spec) {
  const TensorSpec& rhs = spec.operand[MatmulDims::kRhs];
  const uint32_t steps = spec.size[MatmulDims::kK], columns = spec.size[MatmulDims::kN];
  if (spec.op_info().lanewise() || rhs.layout.kind != LayoutKind::kStrided ||
      InnerDim(spec, MatmulDims::kRhs) != MatmulDims::kK || IsOfBlocks(rhs.dtype) || ColumnGap(spec) < 0 ||
      IsWideGap(spec))
    return false;
  const int64_t column = Bytes(rhs.dtype, steps);
  return columns <= kFewColumns && column >= kShortestColumn && columns * column <= kMostAhead;
}

bool MayReadInColumns(const Spec& spec) {
  const TensorSpec& rhs = spec.operand[MatmulDims::kRhs];
  if (spec.op_info().lanewise() || IsOfBlocks(rhs.dtype)) return false;
  if (rhs.constant != 0) return true;
  // Columns that overlap have narrow gaps between them once the reduction is cut.
  return rhs.layout.kind == LayoutKind::kStrided && InnerDim(spec, MatmulDims::kRhs) == MatmulDims::kK &&
         !IsWideGap(spec);
}

int64_t ColumnsAhead(const Spec& microkernel) {
  const int64_t column = Bytes(microkernel.operand[MatmulDims::kRhs].dtype, microkernel.size[MatmulDims::kK]);
  const int64_t least = (kLeastAhead + column - 1) / column, most = std::max<int64_t>(kMostAhead / column, 1);
  return std::max(least, std::min<int64_t>(kFewColumns, most));
}

bool PrefetchesColumns(const Spec& spec) {
  return spec.operand[MatmulDims::kRhs].resident == kPrefetched &&
         InnerDim(spec, MatmulDims::kRhs) == MatmulDims::kK;
}

bool PrefetchesNextTile(const Spec& microkernel) {
  const TensorSpec& rhs = microkernel.operand[MatmulDims::kRhs];
  if (PrefetchesColumns(microkernel)) return true;
  // Of pieces of rows, there is one beside if a row of rhs is longer than the tile.
  return rhs.resident == kPrefetched && RhsHasShortRuns(microkernel) &&
         microkernel.size[MatmulDims::kN] < rhs.layout.ld && IsOfVectors(microkernel.out().layout.kind);
}

}  // namespace kirsch
