// SPDX-License-Identifier: Apache-2.0
// The cost model: what is more work never costs less, and what register tiles cost is what can be worked out
// by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "cost/microkernel_cost.h"
#include "cost/vector_math_cost.h"
#include "rewrites/spec/rewrite.h"
#include "spec/language/parser.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

Target Named(const char* name) { return FindTarget(name, "")->target; }

RegisterTile OuterProduct(int lanes, int rows, int columns) {
  return {LayoutKind::kVectors, Arithmetic::kFma, lanes, rows, columns};
}

TEST(CostTest, FixedPointRoundsDown) {
  EXPECT_EQ(BoundFromCycles(1), kCostUnit);
  EXPECT_EQ(BoundFromCycles(1.0 / 256), 1);
  EXPECT_EQ(BoundFromCycles(0.999 / 256), 0);
  EXPECT_EQ(BoundFromCycles(2.999 / 256), 2);
  EXPECT_EQ(CostFromCycles(1), kCostUnit);
  EXPECT_EQ(CostFromCycles(1.0 / 256), 1);
  EXPECT_EQ(CostFromCycles(0.001 / 256), 1);
  EXPECT_EQ(CostFromCycles(2.001 / 256), 3);
  EXPECT_EQ(CostFromCycles(0), 0);
  EXPECT_EQ(ToCycles(CostFromCycles(1234.5)), 1234.5);
  EXPECT_GT(CostFromCycles(1e13), 0) << "a petaflop's worth of cycles fits";
  EXPECT_LT(CostFromCycles(1e13), kInfiniteCost);
}

// 14 x 32 floats, znver4: 28 FMAs at one a cycle; 14 + 2 loads at one a cycle.
TEST(MicrokernelCostTest, TallTileIsBoundByArithmetic) {
  const Target target = Named("znver4");
  const TripCycles trip = TripCyclesOf(OuterProduct(16, 14, 2), target.vectors[0], target);
  EXPECT_EQ(trip.arithmetic, 28);
  EXPECT_EQ(trip.load, 2 + 14 / 2.0);  // vectors one a cycle, broadcasts two
  EXPECT_EQ(trip.bottleneck(), "arithmetic");
  EXPECT_EQ(trip.total(), 28);
}

// 5 x 64 bf16 on a CPU that widens on the ports of its FMAs: 20 FMAs at two a cycle, 5 + 4 to widen.
TEST(MicrokernelCostTest, WideningTakesMultiplyAddUnits) {
  const Target target = Named("sapphirerapids");
  RegisterTile tile = OuterProduct(16, 5, 4);
  tile.widens_lhs = tile.widens_rhs = true;
  EXPECT_EQ(TripCyclesOf(tile, target.vectors[0], target).arithmetic, 10 + 9);
  tile.widens_lhs = false;
  EXPECT_EQ(TripCyclesOf(tile, target.vectors[0], target).arithmetic, 10 + 4);
}

// 4 columns of bf16 along the reduction, haswell: 8 FMAs at two a cycle, 4 words to part; two vectors of lhs,
// parted by shuffles.
TEST(MicrokernelCostTest, PairsTakeTwoMultiplyAdds) {
  const Target target = Named("haswell");
  RegisterTile tile{LayoutKind::kPartialSums, Arithmetic::kFmaPairs, 8, 1, 4};
  tile.widens_rhs = true;
  const TripCycles trip = TripCyclesOf(tile, target.vectors[0], target);
  EXPECT_EQ(trip.arithmetic, 4 + 4 * 0.5);
  EXPECT_EQ(trip.widening, 2);
  EXPECT_EQ(trip.load, (4 + 2) / 2.0);
  EXPECT_EQ(trip.latency, 2 * 5.0 / KSplit(tile, target.vectors[0]));
  EXPECT_EQ(TripsOf(tile, 33), 3);
  // Row by row, lhs is broadcast twice.
  tile.form = LayoutKind::kVectors;
  EXPECT_EQ(TripCyclesOf(tile, target.vectors[0], target).widening, 0);
  EXPECT_EQ(TripCyclesOf(tile, target.vectors[0], target).load, (4 + 2) / 2.0);
}

// Pairs are as fast as FMAs and need not widen; dot products are taken where they are faster still.
TEST(MicrokernelCostTest, TheBestArithmeticOfBf16) {
  for (const char* name : {"haswell", "sapphirerapids"}) {
    EXPECT_EQ(BestArithmetic(Dtype::kBf16, Dtype::kBf16, Named(name)), Arithmetic::kFmaPairs) << name;
    EXPECT_EQ(BestArithmetic(Dtype::kF32, Dtype::kBf16, Named(name)), Arithmetic::kFmaPairs) << name;
    EXPECT_EQ(BestArithmetic(Dtype::kBf16, Dtype::kF32, Named(name)), Arithmetic::kFma) << name;
  }
  EXPECT_EQ(BestArithmetic(Dtype::kBf16, Dtype::kBf16, Named("znver4")), Arithmetic::kDotBf16);
  EXPECT_EQ(BestArithmetic(Dtype::kF32, Dtype::kBf16, Named("znver4")), Arithmetic::kFmaPairs);
}

// 6 x 16 floats, haswell: 12 FMAs and 8 loads at two a cycle.
TEST(MicrokernelCostTest, ClassicAvx2TileIsBoundByArithmetic) {
  const Target target = Named("haswell");
  const TripCycles trip = TripCyclesOf(OuterProduct(8, 6, 2), target.vectors[0], target);
  EXPECT_EQ(trip.arithmetic, 6);
  EXPECT_EQ(trip.load, 4);
  EXPECT_EQ(trip.bottleneck(), "arithmetic");
}

TEST(MicrokernelCostTest, SmallTilesWaitForLoadsOrLatency) {
  const Target target = Named("znver4");
  EXPECT_EQ(TripCyclesOf(OuterProduct(8, 1, 4), target.vectors[1], target).bottleneck(), "load");
  Target slow = target;
  slow.vectors[0].fma_latency = 40;
  EXPECT_EQ(TripCyclesOf(OuterProduct(16, 4, 1), slow.vectors[0], slow).bottleneck(), "latency");
  Target narrow = target;
  narrow.issue_width = 1;
  EXPECT_EQ(TripCyclesOf(OuterProduct(16, 14, 2), narrow.vectors[0], narrow).bottleneck(), "front end");
}

// What loads take of the multiply-add units: each key that of its own, and nothing where it is 0.
TEST(MicrokernelCostTest, LoadsTakeMultiplyAddUnits) {
  const Target none = Named("znver3");
  Target some = none;
  VectorUnit& unit = some.vectors.front();
  unit.masked_load_cycles = 3;
  unit.piece_cycles = 5;
  unit.widening[static_cast<size_t>(Dtype::kU8)] = {.broadcast_fma = 7};
  unit.widening[static_cast<size_t>(Dtype::kS8)] = {.vector_fma = 11};
  const auto more = [&](const std::string& text) {
    const Spec spec = ParseSpec("matmul " + text)->spec;
    const Layout registers{LayoutKind::kVectors, Order::kRow, 8, 1, 0};
    const RegisterTile tile = RegisterTileOf(spec, registers, some);
    return TripCyclesOf(tile, unit, some).arithmetic -
           TripCyclesOf(tile, none.vectors.front(), none).arithmetic;
  };
  EXPECT_EQ(more("f32 2x64x16"), 0);
  EXPECT_EQ(more("f32 2x64x15"), 3);
  EXPECT_EQ(more("s8*s8->s32 2x64x16"), 2 * 11);
  EXPECT_EQ(more("u8*s8->s32 3x64x16"), 3 * 7 + 2 * 11);
  EXPECT_EQ(more("u8*s8->s32 3x64x15"), 3 * 7 + 2 * 11 + 3 * 5);  // pieces of 4, 2 and 1
}

// Vectors of 32 bytes in the rows of a matrix, those that lie across two lines counted one by one.
int SplitsOf(int64_t ld, int rows, int columns) {
  constexpr int64_t kVector = 32, kLine = 64;
  int splits = 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t first = row * ld * 4 + column * kVector;
      splits += first / kLine != (first + kVector - 1) / kLine ? 1 : 0;
    }
  return splits;
}

// What a part of a trip takes more if `key` of the widest vectors is one more.
double More(double VectorUnit::* key, double TripCycles::* part, const std::string& text, LayoutKind form) {
  const Target none = Named("znver3");
  Target some = none;
  some.vectors.front().*key += 1;
  const Spec spec = ParseSpec("matmul f32 " + text)->spec;
  const RegisterTile tile = RegisterTileOf(spec, {form, Order::kRow, 8, 1, 0}, some);
  return TripCyclesOf(tile, some.vectors.front(), some).*part -
         TripCyclesOf(tile, none.vectors.front(), none).*part;
}

constexpr int kAllOffsets = 64;  // after so many rows, they begin within a line as before

TEST(MicrokernelCostTest, LoadsAcrossLines) {
  const auto more = [](const std::string& text, LayoutKind form) {
    return More(&VectorUnit::split_load_cycles, &TripCycles::load, text, form);
  };
  for (int ld = 16; ld < 96; ++ld) {
    EXPECT_DOUBLE_EQ(kAllOffsets * more(Cat("2x64x16 ldb=", ld), LayoutKind::kVectors),
                     SplitsOf(ld, kAllOffsets, 2));
    EXPECT_EQ(more(Cat("2x64x16 lda=", ld + 64), LayoutKind::kVectors), 0) << "broadcasts";
  }
  // Along the reduction each of 2 rows of lhs and 3 columns of rhs is loaded as vectors.
  EXPECT_DOUBLE_EQ(more("2x64x3 rhs=col lda=65 ldb=68", LayoutKind::kPartialSums),
                   2 * SplitsOf(65, 64, 1) / 64. + 3 * SplitsOf(68, 64, 1) / 64.);
}

// Vectors of 32 bytes in the rows of a matrix that begin at no multiple of 8 bytes, counted one by one.
int UnalignedOf(int64_t ld, int rows, int columns) {
  int unaligned = 0;
  for (int64_t row = 0; row < rows; ++row) unaligned += row * ld * 4 % 8 != 0 ? columns : 0;
  return unaligned;
}

TEST(MicrokernelCostTest, LoadsOffTheGrainTakeMultiplyAddUnits) {
  const auto more = [](const std::string& text, LayoutKind form) {
    return More(&VectorUnit::unaligned_load_cycles, &TripCycles::arithmetic, text, form);
  };
  for (int ld = 16; ld < 96; ++ld)
    EXPECT_DOUBLE_EQ(kAllOffsets * more(Cat("2x64x16 ldb=", ld), LayoutKind::kVectors),
                     UnalignedOf(ld, kAllOffsets, 2));
  EXPECT_EQ(more("2x64x16 lda=65", LayoutKind::kVectors), 0) << "broadcasts";
  EXPECT_DOUBLE_EQ(more("2x64x3 rhs=col lda=65 ldb=68", LayoutKind::kPartialSums), 2 / 2.) << "rows of lhs";
}

TEST(MicrokernelCostTest, TripsCoverTheReduction) {
  EXPECT_EQ(TripsOf(OuterProduct(16, 1, 1), 100), 100);
  const RegisterTile sums{LayoutKind::kPartialSums, Arithmetic::kFma, 16, 1, 1};
  EXPECT_EQ(TripsOf(sums, 96), 6);
  EXPECT_EQ(TripsOf(sums, 97), 7);
}

TEST(MicrokernelCostTest, GrowsWithEveryInput) {
  for (const Target& target : {testing::Avx2Target(), testing::Avx512Target()})
    for (const VectorUnit& unit : target.vectors)
      for (LayoutKind form : {LayoutKind::kVectors, LayoutKind::kPartialSums})
        for (int rows = 1; rows <= 14; ++rows)
          for (int columns = 1; columns <= 4; ++columns) {
            RegisterTile tile{form, Arithmetic::kFma, unit.lanes(Dtype::kF32), rows, columns};
            if (RegistersNeeded(tile, unit) >= unit.registers) continue;
            for (int k : {1, 7, 64, 1000}) {
              const double cycles = MicrokernelCycles(tile, k, unit, target);
              EXPECT_GT(cycles, target.microkernel_cycles);
              EXPECT_LE(cycles, MicrokernelCycles(tile, k + 1, unit, target));
              RegisterTile masked = tile;
              masked.masked_rhs = true;
              EXPECT_LE(cycles, MicrokernelCycles(masked, k, unit, target)) << rows << "x" << columns;
            }
            for (bool masked : {false, true})
              EXPECT_LE(OutputTileCycles(tile, false, masked, unit),
                        OutputTileCycles(tile, true, masked, unit));
            EXPECT_LE(OutputTileCycles(tile, true, false, unit), OutputTileCycles(tile, true, true, unit));
          }
}

// Functions cost what they do in a row program, beside storing and loading the sums.
TEST(MicrokernelCostTest, FunctionsOfEpiloguesCostTheirInstructions) {
  const auto cycles = [](const Target& target, const std::string& epilogue) {
    const VectorUnit& unit = target.vectors.front();
    const Spec spec = ParseSpec("matmul f32 6x64x32" + epilogue)->spec;
    return EpilogueCycles(spec, {LayoutKind::kVectors, Arithmetic::kFma, unit.lanes(Dtype::kF32), 6, 2},
                          unit);
  };
  Target faster = testing::Avx512Target();
  for (VectorUnit& unit : faster.vectors) unit.elementwise_per_fma = 1.5;
  for (const Target& target : {testing::Avx2Target(), testing::Avx512Target(), faster}) {
    const VectorUnit& unit = target.vectors.front();
    EXPECT_EQ(cycles(target, ""), 0);
    const double step = 12 / (unit.fma_per_cycle * unit.elementwise_per_fma),
                 waiting = 12 / unit.stores_per_cycle + 12 / unit.loads_per_cycle;
    const auto functions = [&](std::initializer_list<Operation> all) {
      double instructions = 0, divisions = 0;
      for (Operation op : all) {
        instructions += InstructionsOf(op, unit);
        divisions += DivisionCycles(WorkOf(op, Dtype::kF32, unit), Dtype::kF32, unit);
      }
      return std::max(step * instructions, 12 * divisions) + waiting;
    };
    EXPECT_DOUBLE_EQ(cycles(target, " epilogue=relu"), step);
    EXPECT_DOUBLE_EQ(cycles(target, " epilogue=erf"), functions({Operation::kErf}));
    EXPECT_DOUBLE_EQ(cycles(target, " epilogue=gelu"), functions({Operation::kGelu}));
    EXPECT_DOUBLE_EQ(cycles(target, " epilogue=relu,silu,exp"),
                     functions({Operation::kRelu, Operation::kSilu, Operation::kExp}));
  }
}

class CostModelTest : public ::testing::TestWithParam<Target> {
 protected:
  const CostModel model_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(, CostModelTest,
                         ::testing::Values(testing::Avx2Target(), testing::Avx512Target(),
                                           testing::TinyTarget(), Named("znver4"), Named("haswell")),
                         [](const auto& info) {
                           return info.param.name.substr(0, info.param.name.find('-'));
                         });

TEST_P(CostModelTest, TransfersGrowWithLinesRunsPagesAndSharers) {
  for (Level level : {Level::kL2, Level::kL3, Level::kRam}) {
    const Transfer transfer{level, Level::kVrf, {10, 3, 2}, {4, 1, 1}};
    const double cycles = model_.TransferCycles(transfer, 1);
    EXPECT_GT(cycles, 0);
    EXPECT_LE(cycles, model_.TransferCycles(transfer, 2));
    EXPECT_LT(cycles, model_.TransferCycles({level, Level::kVrf, {11, 3, 2}, {4, 1, 1}}, 1));
    EXPECT_LE(cycles, model_.TransferCycles({level, Level::kVrf, {10, 4, 2}, {4, 1, 1}}, 1));
    EXPECT_LE(cycles, model_.TransferCycles({level, Level::kVrf, {10, 3, 3}, {4, 1, 1}}, 1));
    // Lines that are written are read first, so these are more of the ten, or all and dearer.
    EXPECT_LE(cycles, model_.TransferCycles({level, Level::kVrf, {10, 3, 2}, {5, 1, 1}}, 1));
    EXPECT_LT(model_.TransferCycles({level, Level::kVrf, {10, 3, 2}, {10, 3, 2}}, 1),
              model_.TransferCycles({level, Level::kVrf, {11, 3, 2}, {11, 3, 2}}, 1));
  }
  EXPECT_EQ(model_.TransferCycles({Level::kL1, Level::kVrf, {10, 3, 2}, {}}, 1), 0);
}

// 100 lines from RAM at 10 cycles each, and what they cost in addition.
TEST(StreamingTest, FewRunsAndLateLinesCostMore) {
  Target target = testing::Avx512Target();
  MemoryLevel& ram = target.memory[Index(Level::kRam)];
  ram.cycles_per_line = 10;
  ram.single_stream_cycles_per_line = 4;
  ram.unprefetched_cycles_per_line = 3;
  ram.set_conflict_cycles_per_line = 7;
  ram.prefetched_cycles_per_line = 0;
  ram.unstreamed_cycles_per_line = 5;
  ram.ramp_lines = 4;
  ram.prefetch_lines = 16;
  ram.prefetch_streams = 8;
  const CostModel model(target);
  const auto cycles = [&](int64_t runs, int64_t ahead_lines, double head) {
    Transfer transfer{Level::kRam, Level::kVrf, {100, runs, 1}, {}};
    transfer.ahead_lines = ahead_lines;
    transfer.head = head;
    return model.TransferCycles(transfer, 1);
  };
  EXPECT_EQ(cycles(0, 0, 0), 1000) << "dense: what bounds are made of";
  EXPECT_EQ(cycles(1, 0, 0), 1000 + 4 * 5 + 100 * (4 + 3));
  EXPECT_EQ(cycles(2, 0, 0), 1000 + 8 * 5 + 100 * (1 + 3)) << "a quarter of what one alone takes";
  EXPECT_EQ(cycles(2, 16, 0), 1000 + 100) << "all on time";
  EXPECT_EQ(cycles(1, 16, 0), 1000 + 100 * 4) << "still alone";
  EXPECT_EQ(cycles(2, 8, 0), 1100 + 0.5 * (8 * 5 + 100 * 3)) << "half as far ahead as it takes";
  EXPECT_EQ(cycles(2, 16, 0.25), 1100 + 0.25 * (8 * 5 + 100 * 3)) << "not the first quarter of each run";
  EXPECT_EQ(cycles(9, 16, 0), cycles(9, 0, 0)) << "too many runs";
  ram.prefetched_cycles_per_line = 2;
  const CostModel slowed(target);
  Transfer asked_for{Level::kRam, Level::kVrf, {100, 2, 1}, {}};
  asked_for.ahead_lines = 16;
  EXPECT_EQ(slowed.TransferCycles(asked_for, 1), 1000 + 100 * (1 + 2)) << "hardware alone is faster";
  Transfer by_tiles{Level::kRam, Level::kL2, {100, 10, 1}, {}};
  by_tiles.by_tiles = true;
  EXPECT_EQ(model.TransferCycles(by_tiles, 1), 1000 + 4) << "asked for tile by tile";
  Transfer conflict{Level::kRam, Level::kVrf, {100, 2, 1}, {}};
  conflict.ahead_lines = 16;
  conflict.rows_conflict = true;
  EXPECT_EQ(model.TransferCycles(conflict, 1), 1000 + 100 * (1 + 7)) << "evicted before they are read";
  Transfer one_by_one{Level::kRam, Level::kL2, {100, 2, 1}, {}};
  one_by_one.one_by_one = true;
  EXPECT_EQ(model.TransferCycles(one_by_one, 1), cycles(1, 0, 0) + 4 * 5)
      << "each with a beginning of its own";
  Transfer out{Level::kRam, Level::kVrf, {100, 1, 1}, {100, 1, 1}};
  EXPECT_EQ(model.TransferCycles(out, 1), 1000 + 4 * 5) << "outputs do not stream";
  ram.write_factor = 2.5;
  EXPECT_EQ(CostModel(target).TransferCycles(out, 1), 2500 + 4 * 5) << "with bringing them";
}

// Short rows side by side begin anew in each tile, whoever asks for them; one after the other they are one
// long stream.
TEST(StreamingTest, RunsThatEndWithTheTileCostABeginning) {
  Target target = testing::Avx512Target();
  MemoryLevel& ram = target.memory[Index(Level::kRam)];
  ram.cycles_per_line = 10;
  ram.unstreamed_cycles_per_line = 5;
  ram.ramp_lines = 4;
  ram.run_cycles = 300;
  const CostModel model(target);
  Transfer rows{Level::kRam, Level::kVrf, {100, 4, 1}, {}};
  rows.new_runs = 4;
  EXPECT_EQ(model.TransferCycles(rows, 1), 1000 + 4 * (4 * 5 + 300));
  rows.ahead_lines = 1000;
  EXPECT_EQ(model.TransferCycles(rows, 1), 1000 + 4 * 300) << "no prefetch instruction saves that";
  Transfer stream{Level::kRam, Level::kVrf, {25, 1, 1}, {}};
  stream.one_stream = true;
  EXPECT_EQ(model.TransferCycles(stream, 1), 250) << "begun long ago";
}

// Columns that are asked for while the ones before them are worked on hide behind all that those take, if
// that is enough; those that are not hide behind a part of it, and wait for each column's first lines.
TEST(StreamingTest, WhatIsAskedForATileAheadHidesWhole) {
  const auto waited = [](uint32_t rows, uint32_t ldb, double cycles_per_line) {
    Target target = Named("znver4");
    target.memory[Index(Level::kRam)].cycles_per_line = cycles_per_line;
    target.memory[Index(Level::kRam)].overlap = 0.5;
    Spec spec = testing::MatmulSpec({.m = rows, .k = 2048, .n = 4, .rhs = Order::kCol});
    spec.tensor(MatmulDims::kRhs).layout.ld = ldb;
    for (int operand = 0; operand <= MatmulDims::kOut; ++operand)
      spec.tensor(operand).level = operand == MatmulDims::kRhs ? Level::kRam : Level::kL1;
    Decision move;
    move.kind = RewriteKind::kMove;
    move.operand = MatmulDims::kRhs;
    move.level = Level::kL2;
    Expansion expansion;
    Expand(spec, move, target, &expansion);
    return ToCycles(CostModel(target).Base(spec, move, expansion));
  };
  EXPECT_EQ(waited(12, 2048, 4), 0);
  EXPECT_GT(waited(12, 4096, 4), 0) << "columns with gaps are not asked for ahead";
  EXPECT_GT(waited(1, 2048, 40), 0) << "a row takes less than its columns do";
  EXPECT_LT(waited(1, 2048, 40), waited(1, 4096, 40));
}

// The cycles of a microkernel by itself, with these costs; `of` decides what it moves.
double MicrokernelCyclesBy(const Target& costs, const Spec& spec, const Target& of) {
  Decision decision;
  decision.kind = RewriteKind::kMicrokernel;
  Expansion expansion;
  Expand(spec, decision, of, &expansion);
  return ToCycles(CostModel(costs).Base(spec, decision, expansion));
}

// What a microkernel takes more where `target` says so than where it doesn't: of one row, whose operands are
// where they are said to be, by vectors of so many lanes.
double MoreThanOf(const Target& target, Level lhs, Level rhs, int lanes) {
  Spec spec = testing::MatmulSpec({.m = 1, .k = 4096, .n = 1, .rhs = Order::kCol});
  spec.tensor(MatmulDims::kLhs).level = lhs;
  spec.tensor(MatmulDims::kRhs).level = rhs;
  spec.out().level = Level::kVrf;
  spec.out().layout = {LayoutKind::kPartialSums, Order::kRow, static_cast<uint8_t>(lanes), 1, 0};
  spec.accumulate = true;
  Target without = target;
  for (MemoryLevel& level : without.memory) level.lhs_contention_cycles_per_line = 0;
  for (VectorUnit& unit : without.vectors) unit.wide_load_cycles_per_line = 0;
  return MicrokernelCyclesBy(target, spec, target) - MicrokernelCyclesBy(without, spec, target);
}

// A row of 256 lines by a column of as many: lines of lhs from beyond L1 beside those from RAM, and those
// from RAM by wide vectors.
TEST(StreamingTest, LinesFromRamSlowDownWhatIsBesideThem) {
  Target target = Named("znver4");
  target.memory[Index(Level::kRam)].lhs_contention_cycles_per_line = 3;
  target.vectors[0].wide_load_cycles_per_line = 2;
  EXPECT_EQ(MoreThanOf(target, Level::kL1, Level::kRam, 8), 0);
  EXPECT_EQ(MoreThanOf(target, Level::kL2, Level::kRam, 8), 256 * 3);
  EXPECT_EQ(MoreThanOf(target, Level::kL3, Level::kRam, 8), 256 * 3);
  EXPECT_EQ(MoreThanOf(target, Level::kL1, Level::kRam, 16), 256 * 2);
  EXPECT_EQ(MoreThanOf(target, Level::kL2, Level::kRam, 16), 256 * (3 + 2));
  EXPECT_EQ(MoreThanOf(target, Level::kL2, Level::kL3, 16), 0);
}

// Columns in L1 that rows from L2 pass by: what L1 doesn't hold beside them comes from L2 again, which two
// rows wait for and four don't, as they have twice as much to do.
TEST(StreamingTest, WhatPassingRowsPushOutComesAgain) {
  const Target small = Named("znver4");
  Target large = small;
  large.memory[Index(Level::kL1)].bytes = 1 << 20;
  const auto more = [&](uint32_t rows, uint32_t k, Level lhs) {
    Spec spec = testing::MatmulSpec({.m = rows, .k = k, .n = 6, .rhs = Order::kCol});
    spec.tensor(MatmulDims::kLhs).level = lhs;
    spec.tensor(MatmulDims::kRhs).level = Level::kL1;
    spec.out().level = Level::kVrf;
    spec.out().layout = {LayoutKind::kPartialSums, Order::kRow, 8, 1, 0};
    spec.accumulate = true;
    return MicrokernelCyclesBy(small, spec, small) - MicrokernelCyclesBy(large, spec, small);
  };
  EXPECT_GT(more(2, 1152, Level::kL2), 0) << "27 and 9 KiB";
  EXPECT_EQ(more(2, 896, Level::kL2), 0) << "21 and 7 KiB";
  EXPECT_EQ(more(2, 1152, Level::kL1), 0);
  EXPECT_LT(more(4, 1152, Level::kL2), more(2, 1152, Level::kL2));
}

// One row by pieces of rows of rhs, in L1: each of 8 steps loads a piece, whose fifth line and those behind
// it cost more. Rows that follow each other are one stream.
TEST(StreamingTest, StepsThatLoadManyLinesOfARowCostMore) {
  Target target = Named("znver4");
  const auto more = [&](uint32_t columns, uint32_t ld) {
    Spec spec = testing::MatmulSpec({.m = 1, .k = 8, .n = columns});
    for (TensorSpec& operand : spec.operand) operand.level = Level::kL1;
    spec.operand[MatmulDims::kRhs].layout.ld = ld;
    spec.out().level = Level::kVrf;
    spec.out().layout = {LayoutKind::kVectors, Order::kRow, 16, 1, 0};
    spec.accumulate = true;
    const auto cycles = [&](double per_line) {
      target.vectors[0].wide_step_cycles_per_line = per_line;
      return MicrokernelCyclesBy(target, spec, target);
    };
    return cycles(2) - cycles(0);
  };
  EXPECT_EQ(more(64, 4096), 0);
  EXPECT_EQ(more(128, 4096), 8 * 4 * 2);
  EXPECT_EQ(more(256, 4096), 8 * 12 * 2);
  EXPECT_EQ(more(256, 256), 0);
}

// Prefetches take their share of the load ports and of the front end.
TEST(StreamingTest, PrefetchesAreInstructions) {
  const Target target = Named("znver4");
  RegisterTile tile = OuterProduct(16, 1, 4);
  const TripCycles without = TripCyclesOf(tile, target.vectors[0], target);
  tile.prefetches = 4;
  const TripCycles with = TripCyclesOf(tile, target.vectors[0], target);
  EXPECT_EQ(with.load, without.load + 4);
  EXPECT_DOUBLE_EQ(with.front_end, without.front_end + 4 / target.issue_width);
}

// What tiles of the reduction take of a spec by themselves, beside their loop.
double CyclesOfReductionTiles(const Spec& spec, uint32_t size, const Target& target) {
  Decision tile;
  tile.kind = RewriteKind::kTile;
  tile.dim = MatmulDims::kK;
  tile.size = size;
  Expansion expansion;
  Expand(spec, tile, target, &expansion);
  return ToCycles(CostModel(target).Base(spec, tile, expansion)) -
         spec.size[MatmulDims::kK] / static_cast<double>(size) * target.loop_cycles;
}

// Rows that go on behind the tile, or columns in pieces.
TEST(StreamingTest, RunsThatEndEarlyCostTheLinesBehindThem) {
  Target target = testing::Avx512Target();
  target.memory[Index(Level::kRam)].cycles_per_line = 10;
  target.memory[Index(Level::kRam)].overrun_lines = 20;
  target.memory[Index(Level::kRam)].streams = 12;
  const auto cycles = [&](Order order, uint32_t n, uint32_t ld, uint32_t size) {
    Spec spec = testing::MatmulSpec({.m = 1, .k = 1024, .n = n, .rhs = order});
    for (int operand = 0; operand < 3; ++operand) spec.tensor(operand).level = Level::kRam;
    spec.operand[MatmulDims::kRhs].layout.ld = ld;
    return CyclesOfReductionTiles(spec, size, target);
  };
  EXPECT_EQ(cycles(Order::kRow, 4096, 4096, 8), 0);
  EXPECT_EQ(cycles(Order::kRow, 2048, 4096, 8), 1024 * 20 * 10);
  EXPECT_EQ(cycles(Order::kRow, 4000, 4096, 8), 0) << "less than 20 lines behind";
  EXPECT_EQ(cycles(Order::kRow, 2048, 4096, 16), 0) << "too many rows to be walked along";
  EXPECT_EQ(cycles(Order::kCol, 64, 1024, 512), 64 * 2 * 20 * 10);
}

// A panel that is read whole goes on in the next one. Tiles of the reduction read a piece of each instead,
// and all of these begin anew; of a single panel the next piece follows.
TEST(StreamingTest, PanelsThatTilesOfTheReductionCutBeginAnew) {
  Target target = testing::Avx512Target();
  MemoryLevel& ram = target.memory[Index(Level::kRam)];
  ram.unstreamed_cycles_per_line = 10;
  ram.ramp_lines = 32;
  ram.run_cycles = 500;
  const auto cycles = [&](Level level, uint32_t n, uint32_t size) {
    Spec spec = testing::MatmulSpec({.m = 1, .k = 1024, .n = n});
    spec.operand[MatmulDims::kRhs].level = level;
    spec.operand[MatmulDims::kRhs].layout = {LayoutKind::kPacked, Order::kRow, 32, 1, 0};
    return CyclesOfReductionTiles(spec, size, target);
  };
  EXPECT_EQ(cycles(Level::kRam, 256, 512), 8 * 2 * (32 * 10 + 500));
  EXPECT_EQ(cycles(Level::kRam, 256, 8), 8 * 128 * (16 * 10 + 500))
      << "pieces of 16 lines have no more to ramp up";
  EXPECT_EQ(cycles(Level::kRam, 32, 512), 0);
  EXPECT_EQ(cycles(Level::kL2, 256, 512), 0);
}

// The search's bound of a larger problem is no lower.
TEST_P(CostModelTest, LowerBoundGrowsWithEveryInput) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    Spec spec = testing::RandomMatmulSpec({.max_side = 100}, &random);
    const Level level = static_cast<Level>(1 + random() % 4);
    for (int operand = 0; operand < 3; ++operand) {
      spec.tensor(operand).level = level;
      spec.tensor(operand).layout.ld = 256;  // never dense: that would be less work
    }
    const Cost bound = model_.LowerBound(spec);
    EXPECT_GE(bound, 0);
    for (int dim = 0; dim < 4; ++dim) {
      Spec larger = spec;
      ++larger.size[static_cast<size_t>(dim)];
      EXPECT_LE(bound, model_.LowerBound(larger)) << testing::Describe(spec) << ", dim " << dim;
    }
    Spec harder = spec;
    harder.accumulate = true;
    EXPECT_LE(bound, model_.LowerBound(harder));
    harder.active_threads = 2;
    EXPECT_LE(bound, model_.LowerBound(harder));
    if (level == Level::kRam) continue;
    harder.operand[random() % 3].level = static_cast<Level>(Index(level) + 1);
    EXPECT_LE(bound, model_.LowerBound(harder)) << testing::Describe(spec);
  }
}

void ExpectCostsOfNodes(const Impl& impl, const CostModel& model) {
  Expansion expansion;
  Expand(impl.spec, impl.decision, model.target(), &expansion);
  const Cost base = model.Base(impl.spec, impl.decision, expansion);
  EXPECT_GE(base, 0);
  EXPECT_LT(base, kInfiniteCost);
  Cost bounds = base;
  for (const Impl::Child& child : impl.children) ExpectCostsOfNodes(child.impl, model);
  for (int i = 0; i < expansion.num_children; ++i) {
    const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
    bounds += child.weight * model.LowerBound(child.spec);
  }
  // One step down, the bound only rises: it is consistent, not only below the optimum.
  EXPECT_LE(model.LowerBound(impl.spec), bounds + 1) << testing::Describe(impl.spec);
}

TEST_P(CostModelTest, BasesAreNeverNegativeAndBoundsRiseAlongAProgram) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    Spec spec = testing::RandomMatmulSpec({.max_side = 200, .max_flops = 1e6}, &random);
    const Level level = static_cast<Level>(1 + random() % 4);
    for (int operand = 0; operand < 3; ++operand) spec.tensor(operand).level = level;
    ExpectCostsOfNodes(testing::RandomImpl(spec, GetParam(), &random), model_);
  }
}

}  // namespace
}  // namespace kirsch
