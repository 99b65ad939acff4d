// SPDX-License-Identifier: Apache-2.0
// The rewrites: tile sizes, what a decision makes of a spec, and that the space holds no dead ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "rewrites/spec/rewrite.h"
#include "rewrites/spec/tile_sizes.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/microkernel.h"
#include "spec/target/targets.h"
#include "tests/testing/convolutions.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::MatmulShape;

constexpr int kM = MatmulDims::kM, kK = MatmulDims::kK, kN = MatmulDims::kN;

std::vector<uint32_t> TileSizes(const Spec& spec, int dim, const Target& target) {
  std::vector<uint32_t> sizes;
  AppendTileSizes(spec, dim, target, &sizes);
  return sizes;
}

std::vector<Decision> Decisions(const Spec& spec, const Target& target) {
  std::vector<Decision> decisions;
  EnumerateDecisions(spec, target, &decisions);
  return decisions;
}

Spec WithRhs(Spec spec, const Layout& layout) {
  spec.operand[MatmulDims::kRhs].layout = layout;
  return spec;
}

// A spec in every way its rhs may lie.
std::vector<Spec> EveryRhs(uint32_t m, uint32_t k, uint32_t n) {
  const Spec row = testing::MatmulSpec({.m = m, .k = k, .n = n});
  std::vector<Spec> specs = {row, testing::MatmulSpec({.m = m, .k = k, .n = n, .rhs = Order::kCol})};
  for (uint8_t panel : {0, 8, 16, 32, 48})
    specs.push_back(WithRhs(row, {LayoutKind::kPacked, Order::kRow, panel, 1, 0}));
  return specs;
}

// The microkernels of a 1 x k x n tile in registers whose rhs comes from `level`, as text.
std::vector<std::string> Microkernels(uint32_t k, uint32_t n, Order order, uint32_t ld, Level level) {
  Spec spec = testing::MatmulSpec({.m = 1, .k = k, .n = n, .rhs = order});
  spec.operand[MatmulDims::kRhs].level = level;
  spec.operand[MatmulDims::kRhs].layout.ld = ld;
  spec.out().level = Level::kVrf;
  spec.out().layout = {order == Order::kRow ? LayoutKind::kVectors : LayoutKind::kPartialSums, Order::kRow,
                       16, 1, 0};
  std::vector<std::string> text;
  for (const Decision& decision : Decisions(spec, testing::Avx512Target()))
    text.push_back(PrintDecision(spec.op, decision));
  return text;
}

TEST(PrefetchTest, OnlyOfWhatStreamsFromBeyondL2) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(Microkernels(8, 64, Order::kRow, 4096, Level::kRam),
            (Texts{"microkernel", "microkernel n 64", "microkernel n 128", "microkernel n 256",
                   "microkernel n 512"}));
  EXPECT_EQ(Microkernels(9, 64, Order::kRow, 4096, Level::kRam), Texts{"microkernel"})
      << "rows 16 KiB apart lie on one set of L1, which has 8 ways";
  EXPECT_EQ(Microkernels(8, 64, Order::kRow, 4096, Level::kL2), Texts{"microkernel"});
  EXPECT_EQ(Microkernels(8, 64, Order::kRow, 64, Level::kRam), Texts{"microkernel"}) << "rows end here";
  EXPECT_EQ(Microkernels(64, 64, Order::kRow, 4096, Level::kL3), (Texts{"microkernel", "microkernel k 8"}));
  EXPECT_EQ(Microkernels(1000, 4, Order::kCol, 1000, Level::kRam),
            (Texts{"microkernel", "microkernel k 64", "microkernel k 128", "microkernel k 256",
                   "microkernel n 4"}));
  EXPECT_EQ(Microkernels(4000, 4, Order::kCol, 4000, Level::kRam).back(), "microkernel k 512")
      << "the columns beside these do not stay in L1";
}

Expansion MoveOfRhs(const Spec& spec, Level to) {
  Decision decision;
  decision.kind = RewriteKind::kMove;
  decision.operand = MatmulDims::kRhs;
  decision.level = to;
  Expansion expansion;
  Expand(spec, decision, testing::Avx512Target(), &expansion);
  return expansion;
}

// Of what a move brings to L2, and a microkernel reads from there.
TEST(PrefetchTest, PiecesOfRowsAreAskedForTileByTile) {
  const auto by_tiles = [](uint32_t m, Order order, Level to, Level from = Level::kL3) {
    Spec spec = testing::MatmulSpec({.m = m, .k = 64, .n = 256});
    spec.operand[MatmulDims::kRhs].layout.order = order;
    spec.operand[MatmulDims::kRhs].layout.ld = 1024;
    spec.operand[MatmulDims::kRhs].level = from;
    return MoveOfRhs(spec, to).transfers[0].by_tiles;
  };
  EXPECT_TRUE(by_tiles(4, Order::kRow, Level::kL2));
  EXPECT_FALSE(by_tiles(3, Order::kRow, Level::kL2));
  EXPECT_FALSE(by_tiles(4, Order::kCol, Level::kL2));
  EXPECT_TRUE(by_tiles(4, Order::kRow, Level::kL1));
  EXPECT_FALSE(by_tiles(4, Order::kRow, Level::kL1, Level::kL2)) << "it is close";
}

// Where a move said that tiles ask for each other, they do, as far as L2 where L1 has the tile that is read;
// not where rhs was in L2 from the start, as nothing is won and what is asked for drives out what is needed.
TEST(MicrokernelTest, AskForTheNextTileOfRowsWhereAMoveSaidSo) {
  const auto asks = [](Level from, Level to, uint32_t n) {
    Spec spec = testing::MatmulSpec({.m = 8, .k = 64, .n = n});
    spec.operand[MatmulDims::kRhs].layout.ld = 4096;
    spec.operand[MatmulDims::kRhs].level = from;
    if (to != from) spec = MoveOfRhs(spec, to).children[0].spec;
    if (to == Level::kL2 && n == 32) spec = MoveOfRhs(spec, Level::kL1).children[0].spec;
    spec.out().layout.kind = LayoutKind::kVectors;
    return PrefetchesNextTile(spec);
  };
  EXPECT_TRUE(asks(Level::kL3, Level::kL2, 64));
  EXPECT_TRUE(asks(Level::kL3, Level::kL2, 32)) << "moved on into L1";
  EXPECT_FALSE(asks(Level::kL2, Level::kL2, 64)) << "it was there";
  EXPECT_FALSE(asks(Level::kL2, Level::kL1, 64));
  EXPECT_FALSE(asks(Level::kL3, Level::kL2, 4096)) << "there is none";
}

// Whole columns, one behind the other, a few at a time, into either cache.
TEST(PrefetchTest, WholeColumnsAreAskedForATileAhead) {
  const auto moved = [](uint32_t k, uint32_t n, Level from, Level to, uint32_t ld = 2048) {
    Spec spec = testing::MatmulSpec({.m = 1, .k = k, .n = n, .rhs = Order::kCol});
    spec.operand[MatmulDims::kRhs].layout.ld = ld;
    spec.operand[MatmulDims::kRhs].level = from;
    return MoveOfRhs(spec, to);
  };
  const auto ahead = [&](uint32_t k, uint32_t n, Level from, Level to) {
    return moved(k, n, from, to).transfers[0].a_tile_ahead;
  };
  EXPECT_TRUE(ahead(2048, 3, Level::kRam, Level::kL2));
  EXPECT_TRUE(ahead(2048, 8, Level::kL3, Level::kL1));
  EXPECT_FALSE(ahead(2048, 9, Level::kRam, Level::kL2)) << "too many to stay whole";
  EXPECT_FALSE(ahead(2048, 3, Level::kRam, Level::kL3)) << "nobody asks for them there";
  EXPECT_FALSE(ahead(2048, 3, Level::kL2, Level::kL1)) << "close";
  EXPECT_FALSE(ahead(1024, 3, Level::kRam, Level::kL2)) << "halves of columns";
  const auto with_gaps = [&](uint32_t ld) {
    return moved(2048, 3, Level::kRam, Level::kL2, ld).transfers[0].a_tile_ahead;
  };
  EXPECT_TRUE(with_gaps(2048 + 32)) << "two lines between them";
  EXPECT_FALSE(with_gaps(2048 + 33));
  EXPECT_FALSE(with_gaps(2047)) << "they overlap";
  const Transfer columns = moved(2048, 3, Level::kRam, Level::kL2).transfers[0];
  EXPECT_EQ(columns.new_runs, 0) << "one behind the other";
  EXPECT_GT(columns.ahead_lines, 0);

  // They stay whole below, and microkernels ask for what is as far behind whatever they read.
  Spec below = moved(2048, 3, Level::kRam, Level::kL2).children[0].spec;
  for (const Decision& decision : Decisions(below, testing::Avx512Target()))
    EXPECT_FALSE(decision.kind == RewriteKind::kTile && decision.dim == MatmulDims::kK);
  below.out().layout.kind = LayoutKind::kPartialSums;
  EXPECT_TRUE(PrefetchesNextTile(below));
  EXPECT_EQ(ColumnsAhead(below), 8);
  below.size[MatmulDims::kN] = 1;
  EXPECT_EQ(ColumnsAhead(below), 8);
  below.operand[MatmulDims::kRhs].resident = kResident;
  EXPECT_FALSE(PrefetchesNextTile(below)) << "where no move said so";
  const Spec closer = moved(2048, 3, Level::kL2, Level::kL1).children[0].spec;
  EXPECT_EQ(closer.operand[MatmulDims::kRhs].resident, kResident);
}

// Side by side they are several streams; what is close needs none.
TEST(RegisterTilesTest, OfSeveralPanelsWhereTheseComeFromFar) {
  const auto fits = [](Level from, uint8_t panel) {
    Spec spec = testing::MatmulSpec({.m = 1, .k = 64, .n = 64});
    spec.operand[MatmulDims::kRhs].layout = {LayoutKind::kPacked, Order::kRow, panel, 1, 0};
    spec.operand[MatmulDims::kRhs].level = from;
    const std::vector<Decision> decisions = Decisions(spec, testing::Avx512Target());
    return std::any_of(decisions.begin(), decisions.end(), [](const Decision& decision) {
      return decision.kind == RewriteKind::kMove && decision.level == Level::kVrf;
    });
  };
  EXPECT_TRUE(fits(Level::kRam, 16));
  EXPECT_TRUE(fits(Level::kL3, 32));
  EXPECT_FALSE(fits(Level::kL2, 32));
  EXPECT_TRUE(fits(Level::kL2, 64)) << "a single panel";
  EXPECT_FALSE(fits(Level::kRam, 10)) << "no whole vectors";
}

// What a microkernel brings of the only input that is not in L1.
Transfer OfMicrokernel(Spec spec, LayoutKind registers) {
  spec.out().level = Level::kVrf;
  spec.out().layout = {registers, Order::kRow, 16, 1, 0};
  Decision decision;
  decision.kind = RewriteKind::kMicrokernel;
  Expansion expansion;
  Expand(spec, decision, testing::Avx512Target(), &expansion);
  EXPECT_EQ(expansion.num_transfers, 1);
  return expansion.transfers[0];
}

// Rows 4 KiB apart lie on the same sets of L1, of which each has eight lines, and room for the current ones
// of eight rows; rows a line further apart don't.
TEST(MicrokernelTest, RowsThatEvictEachOtherAreCrowded) {
  const auto conflict = [](uint32_t k, uint32_t ld) {
    Spec spec = testing::MatmulSpec({.m = 1, .k = k, .n = 64});
    spec.operand[MatmulDims::kLhs].level = Level::kL1;
    spec.operand[MatmulDims::kRhs].level = Level::kL3;
    spec.operand[MatmulDims::kRhs].layout.ld = ld;
    return OfMicrokernel(spec, LayoutKind::kVectors).rows_conflict;
  };
  EXPECT_TRUE(conflict(9, 1024));
  EXPECT_FALSE(conflict(8, 1024));
  EXPECT_FALSE(conflict(64, 1040));
}

// A whole column is part of one long stream, as the next one follows it; parts of columns, and columns side
// by side, end with the tile. Rows go on in the tile beside it.
TEST(MicrokernelTest, RunsAlongTheReductionEndWithTheTile) {
  struct Runs {
    int64_t ended;
    bool one_stream;
    bool operator==(const Runs&) const = default;
  };
  const auto runs = [](uint32_t k, uint32_t n, Order order, uint32_t ld) {
    Spec spec = testing::MatmulSpec({.m = 1, .k = k, .n = n});
    spec.operand[MatmulDims::kRhs].level = Level::kRam;
    spec.operand[MatmulDims::kRhs].layout.order = order;
    spec.operand[MatmulDims::kRhs].layout.ld = ld;
    spec.operand[MatmulDims::kLhs].level = Level::kL1;
    const Transfer transfer =
        OfMicrokernel(spec, order == Order::kRow ? LayoutKind::kVectors : LayoutKind::kPartialSums);
    return Runs{transfer.new_runs, transfer.one_stream};
  };
  EXPECT_EQ(runs(512, 1, Order::kCol, 512), (Runs{0, true}));
  EXPECT_EQ(runs(512, 1, Order::kCol, 528), (Runs{0, true})) << "a line between them is no end";
  EXPECT_EQ(runs(512, 1, Order::kCol, 1024), (Runs{1, false}));
  EXPECT_EQ(runs(512, 4, Order::kCol, 512), (Runs{4, false}));
  EXPECT_EQ(runs(4, 64, Order::kRow, 1024), (Runs{0, false}));
}

// A copy of what one row uses once only pays if it is in another form.
TEST(PackTest, WhatIsUsedOnceIsNotCopiedAsItIs) {
  const auto copies = [](const testing::MatmulShape& shape, bool as_it_is) {
    const Spec spec = testing::MatmulSpec(shape);
    const TensorSpec& rhs = spec.operand[MatmulDims::kRhs];
    const std::vector<Decision> all = Decisions(spec, testing::Avx512DotTarget());
    return std::count_if(all.begin(), all.end(), [&](const Decision& decision) {
      return decision.kind == RewriteKind::kPack && decision.operand == MatmulDims::kRhs &&
             as_it_is == (decision.dtype == rhs.dtype && decision.layout.group == 1 &&
                          decision.layout.order == rhs.layout.order);
    });
  };
  const MatmulTypes bf16 = {Dtype::kBf16, Dtype::kBf16, Dtype::kF32};
  EXPECT_EQ(copies({.m = 1, .k = 64, .n = 96}, true), 0);
  EXPECT_GT(copies({.m = 2, .k = 64, .n = 96}, true), 0);
  EXPECT_GT(copies({.m = 1, .k = 64, .n = 96, .rhs = Order::kCol}, false), 0) << "turned";
  EXPECT_GT(copies({.m = 1, .k = 64, .n = 96, .types = bf16}, false), 0) << "in pairs";
  EXPECT_GT(copies({.m = 1, .k = 64, .n = 96, .constant = MatmulDims::kRhs}, true), 0) << "made once";
}

// Of panels side by side all but the first begin anew; one after the other they are a single stream.
TEST(MicrokernelTest, PanelsSideBySideBeginAnew) {
  const auto new_runs = [](uint8_t panel, uint32_t n) {
    Spec spec = testing::MatmulSpec({.m = 1, .k = 64, .n = n});
    spec.operand[MatmulDims::kRhs].level = Level::kRam;
    spec.operand[MatmulDims::kRhs].layout = {LayoutKind::kPacked, Order::kRow, panel, 1, 0};
    spec.operand[MatmulDims::kLhs].level = Level::kL1;
    return OfMicrokernel(spec, LayoutKind::kVectors).new_runs;
  };
  EXPECT_EQ(new_runs(16, 16), 0);
  EXPECT_EQ(new_runs(16, 64), 3);
  EXPECT_EQ(new_runs(64, 64), 0);
  EXPECT_EQ(new_runs(0, 64), 0) << "one after the other";
}

// What is said to be in L2 comes there when microkernels ask for it, tile by tile, on the way to L1.
TEST(MoveTest, PiecesWhoseRowsEvictEachOtherAreCrowded) {
  const auto conflict = [](uint32_t m, uint32_t ld, Level level) {
    Spec spec = testing::MatmulSpec({.m = m, .k = 32, .n = 256});
    spec.operand[MatmulDims::kRhs].level = Level::kRam;
    spec.operand[MatmulDims::kRhs].layout.ld = ld;
    return MoveOfRhs(spec, level).transfers[0].rows_conflict;
  };
  EXPECT_TRUE(conflict(4, 1024, Level::kL2));
  EXPECT_FALSE(conflict(4, 1040, Level::kL2));
  EXPECT_FALSE(conflict(3, 1024, Level::kL2));
  EXPECT_FALSE(conflict(4, 1024, Level::kL3));
}

// What is on its way, and the first lines of each run, which nobody asks for.
TEST(PrefetchTest, LooksSoManyLinesAhead) {
  Spec spec = testing::MatmulSpec({.m = 1, .k = 8, .n = 64});
  spec.operand[MatmulDims::kRhs].level = Level::kRam;
  spec.operand[MatmulDims::kRhs].layout.ld = 4096;
  spec.out().level = Level::kVrf;
  spec.out().layout = {LayoutKind::kVectors, Order::kRow, 16, 1, 0};
  const auto rhs = [&](uint32_t ahead) {
    Decision decision;
    decision.kind = RewriteKind::kMicrokernel;
    decision.dim = kN;
    decision.size = ahead;
    Expansion expansion;
    Expand(spec, decision, testing::Avx512Target(), &expansion);
    for (int i = 0; i < expansion.num_transfers; ++i)
      if (expansion.transfers[static_cast<size_t>(i)].from == Level::kRam &&
          expansion.transfers[static_cast<size_t>(i)].read.runs == 8)
        return expansion.transfers[static_cast<size_t>(i)];
    return Transfer{};
  };
  EXPECT_EQ(rhs(0).ahead_lines, 0);
  EXPECT_EQ(rhs(128).ahead_lines, 2 * 8 * 4) << "two tiles of 8 rows of 4 lines";
  EXPECT_EQ(rhs(128).head, 128.0 / 4096);
  EXPECT_EQ(rhs(32).ahead_lines, 2) << "less than a tile: within the same row";
}

class EveryTarget : public ::testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(
    , EveryTarget, ::testing::Values(testing::Avx2Target(), testing::Avx512Target(), testing::TinyTarget()),
    [](const auto& info) { return info.param.name.substr(0, info.param.name.find('-')); });

TEST_P(EveryTarget, TileSizesAscendBelowTheSize) {
  for (uint32_t rows : {1u, 4u, 5u, 70u})
    for (uint32_t size = 1; size <= 300; ++size)
      for (const Spec& spec : EveryRhs(rows, size, size))
        for (int dim : {kM, kK, kN}) {
          const std::vector<uint32_t> sizes = TileSizes(spec, dim, GetParam());
          ASSERT_EQ(std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()), sizes.end())
              << "dim " << dim << " of " << testing::Describe(spec);
          if (sizes.empty()) continue;
          ASSERT_GT(sizes.front(), 0u);
          ASSERT_LT(sizes.back(), spec.size[static_cast<size_t>(dim)]);
        }
}

// Lhs of s8 takes one more row of sums by vpdpbusd. Of many rows, the tallest register tile of two vectors is
// tried all the same.
TEST(TileSizes, TheTallestTileIsThereBesideAnExcess) {
  const Target target = FindTarget("znver4", "")->target;
  Spec spec = testing::MatmulSpec({.m = 97, .k = 64, .n = 64});  // 97 is no multiple of any height
  spec.operand[MatmulDims::kLhs].dtype = spec.operand[MatmulDims::kRhs].dtype = Dtype::kS8;
  spec.operand[MatmulDims::kOut].dtype = Dtype::kS32;
  const VectorUnit& unit = target.vectors.front();
  RegisterTile tile{LayoutKind::kVectors, BestArithmetic(spec, target), unit.lanes(Dtype::kS32), 1, 2};
  ASSERT_TRUE(tile.instruction().has_excess());
  while (RegistersNeeded(tile, unit) <= unit.registers) ++tile.rows;
  const std::vector<uint32_t> sizes = TileSizes(spec, kM, target);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), static_cast<uint32_t>(tile.rows - 1)), 1);
}

// A copy of rows from RAM asks for the next one where the rows of lhs give it time.
TEST(AsksAhead, FewRowsOfLhsGiveNoTime) {
  const Target target = FindTarget("znver4", "")->target;
  for (const Level level : {Level::kL3, Level::kRam})
    for (const uint32_t rows : {1u, 3u, 4u, 32u}) {
      Spec spec = testing::MatmulSpec({.m = rows, .k = 64, .n = 64});
      spec.operand[MatmulDims::kRhs].layout.ld = 4128;
      spec.operand[MatmulDims::kRhs].level = level;
      Decision copy;
      copy.kind = RewriteKind::kPack;
      copy.operand = MatmulDims::kRhs;
      copy.level = Level::kL1;
      copy.layout = {LayoutKind::kPacked, Order::kRow, 64, 1, 0};
      EXPECT_EQ(AsksAhead(spec, copy, target), level == Level::kL3 || rows >= 4) << rows;
    }
}

TEST_P(EveryTarget, TilesOfAPackedRhsAreWholePanels) {
  for (uint32_t n = 1; n <= 300; ++n)
    for (const Spec& spec : EveryRhs(8, 8, n)) {
      const uint32_t panel = spec.operand[MatmulDims::kRhs].layout.panel;
      if (panel == 0) continue;
      for (uint32_t size : TileSizes(spec, kN, GetParam())) ASSERT_EQ(size % panel, 0u);
    }
}

// The children of a tiling, in order, cover the dim once; nothing else changes, but for a reduction's
// accumulation.
TEST_P(EveryTarget, TilesCoverTheDimOnce) {
  for (uint32_t size = 1; size <= 70; ++size)
    for (bool accumulate : {false, true})
      for (int dim : {0, kM, kK, kN}) {
        const uint32_t rows = dim == kK ? 3 : 70;  // of few rows, reductions are tiled finely
        Spec spec = testing::MatmulSpec({.m = rows, .k = 70, .n = 70, .accumulate = accumulate});
        spec.size[static_cast<size_t>(dim)] = size;
        for (uint32_t tile : TileSizes(spec, dim, GetParam())) {
          Expansion expansion;
          Decision decision;
          decision.kind = RewriteKind::kTile;
          decision.dim = static_cast<uint8_t>(dim);
          decision.size = tile;
          Expand(spec, decision, GetParam(), &expansion);
          int64_t covered = 0;
          for (int i = 0; i < expansion.num_children; ++i) {
            const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
            const uint32_t part = child.spec.size[static_cast<size_t>(dim)];
            EXPECT_GT(part, 0u);
            EXPECT_LE(part, tile);
            EXPECT_GT(child.trips, 0);
            EXPECT_EQ(child.weight, child.trips);
            EXPECT_EQ(child.spec.accumulate, accumulate || (dim == kK && covered > 0));
            EXPECT_TRUE(child.spec.accumulate || dim != kK || child.trips == 1);
            Spec otherwise = child.spec;
            otherwise.size = spec.size;
            otherwise.accumulate = spec.accumulate;
            EXPECT_EQ(otherwise, spec);
            covered += child.trips * part;
          }
          ASSERT_EQ(covered, size) << "tile " << tile << " of dim " << dim;
        }
      }
}

TEST_P(EveryTarget, ParallelTilesCoverTheDimOnceAndTakeTheTimeOfOne) {
  for (int threads : {2, 3, 4, 6})
    for (uint32_t size = 1; size <= 70; ++size) {
      Spec spec = testing::MatmulSpec({.b = size % 5 + 1, .m = size, .k = 3, .n = 71 - size});
      spec.threads = static_cast<uint8_t>(threads);
      for (const Decision& decision : Decisions(spec, GetParam())) {
        ASSERT_EQ(decision.kind, RewriteKind::kParallelTile);
        EXPECT_EQ(threads % static_cast<int>(decision.parts), 0);
        Expansion expansion;
        Expand(spec, decision, GetParam(), &expansion);
        int64_t covered = 0, tiles = 0;
        for (int i = 0; i < expansion.num_children; ++i) {
          const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
          EXPECT_EQ(child.weight, i == 0 ? 1 : 0);
          EXPECT_LE(child.spec.size[decision.dim], expansion.children[0].spec.size[decision.dim]);
          EXPECT_EQ(child.spec.active_threads, decision.parts);
          EXPECT_EQ(
              child.spec.threads * (decision.parts == 1 ? static_cast<unsigned>(threads) : decision.parts),
              static_cast<unsigned>(threads));
          covered += child.trips * child.spec.size[decision.dim];
          tiles += child.trips;
        }
        EXPECT_EQ(covered, spec.size[decision.dim]);
        EXPECT_LE(tiles, decision.parts);
      }
    }
}

// What every spec in the space is like.
void ExpectCanonical(const Spec& spec) {
  for (int dim = 0; dim < kMaxDims; ++dim)
    EXPECT_EQ(spec.size[static_cast<size_t>(dim)] != 0, dim < spec.op_info().num_dims);
  EXPECT_GE(spec.threads, 1);
  EXPECT_GE(spec.active_threads, 1);
  EXPECT_EQ(spec.zero, 0);
  for (int operand = 0; operand < kMaxOperands; ++operand) {
    const TensorSpec& tensor = spec.tensor(operand);
    EXPECT_EQ(tensor.constant, 0);
    if (operand >= spec.op_info().num_operands) continue;
    const Layout& layout = tensor.layout;
    const bool registers = IsOfVectors(layout.kind) || layout.kind == LayoutKind::kPartialSums ||
                           layout.kind == LayoutKind::kLanewise;
    EXPECT_EQ(registers, tensor.level == Level::kVrf);
    EXPECT_TRUE(!registers || operand == spec.op_info().output());
    EXPECT_EQ(layout.ld == 0, layout.kind != LayoutKind::kStrided);
    if (layout.kind == LayoutKind::kStrided) {
      EXPECT_EQ(layout.panel, 0);
      EXPECT_TRUE(layout.ld >= ExtentOf(spec, operand).inner || operand != spec.op_info().output());
    }
    EXPECT_EQ(layout.kind == LayoutKind::kWindow, spec.op_info().window.operand == operand);
  }
}

void ExpectSoundExpansion(const Spec& spec, const Decision& decision, const Expansion& expansion) {
  EXPECT_EQ(expansion.num_children == 0, decision.kind == RewriteKind::kMicrokernel);
  for (int i = 0; i < expansion.num_children; ++i) {
    const Spec& child = expansion.children[static_cast<size_t>(i)].spec;
    ExpectCanonical(child);
    EXPECT_FALSE(child == spec);
    if (decision.level == Level::kVrf && decision.kind == RewriteKind::kMove)
      continue;  // nothing left to fill
    EXPECT_LE(FillingLevel(child), FillingLevel(spec)) << "a closed level was filled";
    if (expansion.filled != Level::kVrf) {
      EXPECT_EQ(FillingLevel(child), expansion.filled);
    } else {
      EXPECT_EQ(FillingLevel(child), FillingLevel(spec));
    }
  }
  EXPECT_GE(expansion.filled_lines, 0);
}

// All specs that can be reached from the root.
class Space {
 public:
  Space(const Spec& root, const Target& target) : target_(target) { Visit(root); }
  const std::vector<Spec>& specs() const { return specs_; }

  // True if some program computes the spec, however much room it takes.
  bool HasProgram(const Spec& spec) {
    const auto known = has_program_.find(spec.words());
    if (known != has_program_.end()) return known->second;
    bool found = false;
    for (const Decision& decision : Decisions(spec, target_)) {
      Expansion expansion;
      Expand(spec, decision, target_, &expansion);
      bool all = true;
      for (int i = 0; i < expansion.num_children && all; ++i)
        all = HasProgram(expansion.children[static_cast<size_t>(i)].spec);
      if ((found = all)) break;
    }
    return has_program_[spec.words()] = found;
  }

 private:
  void Visit(const Spec& spec) {
    if (!seen_.insert(spec.words()).second) return;
    specs_.push_back(spec);
    for (const Decision& decision : Decisions(spec, target_)) {
      Expansion expansion;
      Expand(spec, decision, target_, &expansion);
      for (int i = 0; i < expansion.num_children; ++i) Visit(expansion.children[static_cast<size_t>(i)].spec);
    }
  }

  const Target& target_;
  absl::flat_hash_set<Spec::Words> seen_;
  std::vector<Spec> specs_;
  absl::flat_hash_map<Spec::Words, bool> has_program_;
};

// Every decision of the space's specs is sound, and every spec has a program.
void ExpectSoundSpace(Space& space, const Target& target) {
  for (const Spec& spec : space.specs()) {
    for (const Decision& decision : Decisions(spec, target)) {
      Expansion expansion;
      Expand(spec, decision, target, &expansion);
      ExpectSoundExpansion(spec, decision, expansion);
      ASSERT_FALSE(::testing::Test::HasFailure())
          << target.name << ": " << PrintDecision(spec.op, decision) << " for " << PrintSpec(spec);
    }
    ASSERT_TRUE(space.HasProgram(spec)) << target.name << ": " << PrintSpec(spec);
  }
}

class EverySpace : public ::testing::TestWithParam<std::pair<Target, MatmulShape>> {
 protected:
  EverySpace() : root_(Root()), space_(root_, target()) {}
  const Target& target() const { return GetParam().first; }
  static Spec Root() {
    Spec root = testing::MatmulSpec(GetParam().second);
    for (int operand = 0; operand < root.op_info().num_operands; ++operand)
      root.tensor(operand).level = Level::kL3;
    return root;
  }
  const Spec root_;
  Space space_;
};
INSTANTIATE_TEST_SUITE_P(
    , EverySpace,
    ::testing::Values(
        std::pair(testing::Avx2Target(), MatmulShape{.m = 5, .k = 9, .n = 21}),
        std::pair(testing::Avx2Target(), MatmulShape{.m = 3, .k = 9, .n = 7, .rhs = Order::kCol}),
        std::pair(testing::Avx512Target(), MatmulShape{.m = 30, .k = 3, .n = 70, .lhs = Order::kCol}),
        std::pair(testing::Avx512Target(), MatmulShape{.b = 2, .m = 4, .k = 130, .n = 33, .out_gap = 3}),
        std::pair(testing::TinyTarget(),
                  MatmulShape{.m = 6, .k = 6, .n = 13, .lhs = Order::kCol, .rhs = Order::kCol})),
    [](const auto& info) { return "Space" + std::to_string(info.index); });

TEST_P(EverySpace, DecisionsAreDistinctAndLegalAndTheirSpecsCanonical) {
  for (const Spec& spec : space_.specs()) {
    const std::vector<Decision> decisions = Decisions(spec, target());
    for (const Decision& decision : decisions) {
      ASSERT_EQ(std::count(decisions.begin(), decisions.end(), decision), 1)
          << PrintDecision(spec.op, decision) << " for " << testing::Describe(spec);
      Expansion expansion;
      Expand(spec, decision, target(), &expansion);
      ExpectSoundExpansion(spec, decision, expansion);
      ASSERT_FALSE(HasFailure()) << PrintDecision(spec.op, decision) << " for " << testing::Describe(spec);
    }
    ASSERT_FALSE(decisions.empty()) << testing::Describe(spec);
    EXPECT_TRUE(IsLegal(spec, decisions.front(), target()));
    EXPECT_TRUE(IsLegal(spec, decisions.back(), target()));
    Decision wrong = decisions.back();
    wrong.size += 1000;
    EXPECT_FALSE(IsLegal(spec, wrong, target()));
  }
}

// The spaces of small problems of all types, with operands in any order, on targets with one arithmetic or
// another for them: everything is legal and canonical, and has a program.
class TypedSpaces : public ::testing::TestWithParam<MatmulTypes> {
 protected:
  static Spec Root(MatmulShape shape) {
    shape.types = GetParam();
    Spec root = testing::MatmulSpec(shape);
    for (int operand = 0; operand < root.op_info().num_operands; ++operand)
      root.tensor(operand).level = Level::kL2;
    return root;
  }
};
INSTANTIATE_TEST_SUITE_P(, TypedSpaces, ::testing::ValuesIn(testing::EveryTypes()),
                         [](const auto& info) { return testing::NameOf(info.param); });

// The same for convolutions, whose windows are read, or copied, or become plain matrices.
TEST_P(TypedSpaces, OfConvolutionsAreSoundAndHaveNoDeadEnds) {
  for (const Target& target : {testing::Avx2Target(), testing::Avx512Target(), testing::Avx512DotTarget()})
    for (ConvShape shape : {ConvShape{.layout = ImageLayout::kNhwc, .channels = 3, .filters = 9},
                            ConvShape{.layout = ImageLayout::kNchw, .channels = 3, .filters = 9},
                            ConvShape{.group = 1, .channels = 19, .filters = 19}})
      for (int64_t stride : {1, 2}) {
        shape.axes[ImageAxes::kHeight] = {.size = 6, .kernel = 2, .stride = stride};
        shape.axes[ImageAxes::kWidth] = {.size = 7, .kernel = 3, .stride = stride};
        Spec root = testing::SpecOf(shape, GetParam());
        for (int operand = 0; operand < root.op_info().num_operands; ++operand)
          root.tensor(operand).level = Level::kL2;
        Space space(root, target);
        ASSERT_NO_FATAL_FAILURE(ExpectSoundSpace(space, target));
      }
}

TEST_P(TypedSpaces, AreSoundAndHaveNoDeadEnds) {
  for (const Target& target :
       {testing::Avx2Target(), testing::Avx512Target(), testing::Avx512DotTarget(), testing::MatrixTarget()})
    for (Order lhs : {Order::kRow, Order::kCol})
      for (Order rhs : {Order::kRow, Order::kCol}) {
        Space space(Root({.m = 5, .k = 9, .n = 37, .lhs = lhs, .rhs = rhs}), target);
        ASSERT_NO_FATAL_FAILURE(ExpectSoundSpace(space, target));
      }
}

// Every spec of the space is a relaxation's harder one: what bounds ask about has a program, too.
TEST_P(TypedSpaces, IdealSpecsHaveNoDeadEnds) {
  for (const Target& target : {testing::Avx2Target(), testing::Avx512DotTarget(), testing::MatrixTarget()})
    for (Order lhs : {Order::kRow, Order::kCol}) {
      Spec root = Root({.m = 5, .k = 9, .n = 37, .lhs = lhs});
      root.ideal = IsPlain(root) ? 0 : 1;
      for (int operand = 0; operand < root.op_info().num_operands; ++operand)
        root.tensor(operand).layout = {LayoutKind::kPacked, Order::kRow, 0, 1, 0};
      Space space(root, target);
      for (const Spec& spec : space.specs())
        ASSERT_TRUE(space.HasProgram(spec)) << target.name << ": " << PrintSpec(spec);
    }
}

// Dead ends would not make the search wrong, but they look cheap and make it slow.
TEST_P(EverySpace, HasNoDeadEnds) {
  for (const Spec& spec : space_.specs())
    ASSERT_TRUE(space_.HasProgram(spec))
        << testing::Describe(spec) << " panel " << spec.operand[MatmulDims::kRhs].layout.panel;
}

}  // namespace
}  // namespace kirsch
