// SPDX-License-Identifier: Apache-2.0
// Footprints against counting: the addresses of every element of a tile, the lines and pages they fall on.
#include "spec/footprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

constexpr int kLhs = MatmulDims::kLhs;

// A tile of `rows` x `columns` whose rows are `ld` apart.
Spec Tile(uint32_t rows, uint32_t columns, uint32_t ld) {
  return testing::MatmulSpec({.m = rows, .k = columns, .n = 1, .lhs_gap = ld - columns});
}

// Units of `unit` bytes that the tile touches, its first byte being at `base`.
std::set<int64_t> Touched(uint32_t rows, uint32_t columns, uint32_t ld, int64_t base, int unit) {
  std::set<int64_t> units;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      units.insert((base + 4 * (row * ld + column)) / unit);
  return units;
}

int64_t Runs(const std::set<int64_t>& units) {
  int64_t runs = 0, before = -2;
  for (int64_t unit : units) {
    runs += unit != before + 1;
    before = unit;
  }
  return runs;
}

class FootprintTest : public ::testing::Test {
 protected:
  static Target SmallPages() {
    Target target = testing::Avx2Target();
    target.page_bytes = 256;
    return target;
  }
  const Target target_ = SmallPages();
};

// Rows that begin with a line: every number is exact.
TEST_F(FootprintTest, OfAlignedRowsIsWhatCountingGives) {
  for (uint32_t rows = 1; rows <= 20; ++rows)
    for (uint32_t ld : {16u, 32u, 48u, 64u, 128u, 192u})
      for (uint32_t columns = 1; columns <= ld; columns += columns < 20 ? 1 : 7) {
        const Footprint footprint = FootprintOf(Tile(rows, columns, ld), kLhs, target_);
        const auto lines = Touched(rows, columns, ld, 0, target_.line_bytes);
        EXPECT_EQ(footprint.lines, static_cast<int64_t>(lines.size()));
        EXPECT_EQ(footprint.pages, static_cast<int64_t>(Touched(rows, columns, ld, 0, 256).size()))
            << rows << "x" << columns << " ld " << ld;
        if (ld - columns >= 16) {
          EXPECT_EQ(footprint.runs, Runs(lines));
        }
      }
}

// Rows anywhere: between the fewest lines and pages that any place gives and twice the most.
TEST_F(FootprintTest, OfAnyRowsIsCloseToWhatCountingGives) {
  for (uint32_t rows = 1; rows <= 20; ++rows)
    for (uint32_t ld = 1; ld <= 70; ++ld)
      for (uint32_t columns = 1; columns <= ld; columns += 3) {
        const Footprint footprint = FootprintOf(Tile(rows, columns, ld), kLhs, target_);
        int64_t fewest = 1 << 30, most = 0;
        for (int64_t base = 0; base < 64; base += 4) {
          const auto lines = static_cast<int64_t>(Touched(rows, columns, ld, base, 64).size());
          fewest = std::min(fewest, lines);
          most = std::max(most, lines);
        }
        EXPECT_GE(2 * footprint.lines, fewest) << rows << "x" << columns << " ld " << ld;
        EXPECT_LE(footprint.lines, 2 * most) << rows << "x" << columns << " ld " << ld;
      }
}

// Tiling never saves lines: the lower bounds of the cost model rest on it.
TEST_F(FootprintTest, OfTilesAddUpToAtLeastThatOfTheWhole) {
  for (uint32_t rows = 1; rows <= 33; ++rows)
    for (uint32_t ld = 1; ld <= 40; ++ld)
      for (uint32_t columns = 1; columns <= ld; ++columns) {
        const int64_t whole = FootprintOf(Tile(rows, columns, ld), kLhs, target_).lines;
        for (uint32_t tile = 1; tile < rows; ++tile) {
          int64_t sum = rows / tile * FootprintOf(Tile(tile, columns, ld), kLhs, target_).lines;
          if (rows % tile != 0) sum += FootprintOf(Tile(rows % tile, columns, ld), kLhs, target_).lines;
          ASSERT_GE(sum, whole) << rows << "x" << columns << " ld " << ld << " by " << tile << " rows";
        }
        for (uint32_t tile = 1; tile < columns; ++tile) {
          int64_t sum = columns / tile * FootprintOf(Tile(rows, tile, ld), kLhs, target_).lines;
          if (columns % tile != 0) sum += FootprintOf(Tile(rows, columns % tile, ld), kLhs, target_).lines;
          ASSERT_GE(sum, whole) << rows << "x" << columns << " ld " << ld << " by " << tile << " columns";
        }
      }
}

// Lines of the tile on each set of L1.
std::vector<int> LinesOnSets(uint32_t rows, uint32_t columns, uint32_t ld, const Target& target) {
  const MemoryLevel& cache = target.at(Level::kL1);
  std::vector<int> on_set(static_cast<size_t>(cache.bytes / (cache.ways * target.line_bytes)));
  for (int64_t line : Touched(rows, columns, ld, 0, target.line_bytes))
    ++on_set[static_cast<size_t>(line) % on_set.size()];
  std::erase(on_set, 0);
  return on_set;
}

// Strides about powers of two, and any.
uint32_t DrawStride(std::mt19937& random) {
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  const uint32_t any = 16 + below(2000);
  const uint32_t near = (512u << below(3)) / (1 + below(3)) + below(7) - 3;
  return below(2) == 0 ? any : near;
}

// What may stay in L1 against counting lines on each of its sets: no tile is said to fit whose lines on the
// sets that it uses are more than there are ways, nor to be too large where no set has many. (One in a
// hundred may be misjudged.)
TEST_F(FootprintTest, WhatStaysFitsTheSetsThatItFallsOn) {
  std::mt19937 random(7);
  const MemoryLevel& cache = target_.at(Level::kL1);
  int many = 0, few = 0, misjudged_many = 0, misjudged_few = 0;
  for (int i = 0; i < 3000; ++i) {
    const uint32_t rows = 2 + static_cast<uint32_t>(random() % 600), ld = DrawStride(random);
    const uint32_t columns = std::min(ld, 1 + static_cast<uint32_t>(random() % 96));
    const Spec spec = Tile(rows, columns, ld);
    const bool fits = ResidentLines(spec, kLhs, FootprintOf(spec, kLhs, target_), target_, Level::kL1) <=
                      cache.bytes / target_.line_bytes;
    const std::vector<int> lines = LinesOnSets(rows, columns, ld, target_);
    const double mean = std::accumulate(lines.begin(), lines.end(), 0.0) / static_cast<double>(lines.size());
    if (mean > 1.25 * cache.ways) {
      ++many;
      misjudged_many += fits ? 1 : 0;
    } else if (*std::max_element(lines.begin(), lines.end()) <= 0.75 * cache.ways) {
      ++few;
      misjudged_few += fits ? 0 : 1;
    }
  }
  EXPECT_GT(few, 300);
  EXPECT_GT(many, 1000);
  EXPECT_LE(misjudged_few, few / 100);
  EXPECT_LE(misjudged_many, many / 100);
}

// 513 rows of a line: 4100 bytes apart they are on 33 sets of 64, and on twice as many lines.
TEST_F(FootprintTest, OfRowsNearlyAPowerOfTwoApart) {
  const auto stay = [&](uint32_t ld) {
    const Spec spec = Tile(513, 16, ld);
    return ResidentLines(spec, kLhs, FootprintOf(spec, kLhs, target_), target_, Level::kL1);
  };
  EXPECT_EQ(stay(16), 513);
  EXPECT_EQ(stay(1040), 513);
  EXPECT_NEAR(static_cast<double>(stay(1025)), 513 * 1.94 * 64 / 33, 10);
  EXPECT_GT(stay(1024), 512 * 64);
}

// A dense copy never takes more lines, runs or pages than the strided original.
TEST_F(FootprintTest, OfADenseTileIsTheLeast) {
  for (uint32_t rows = 1; rows <= 33; ++rows)
    for (uint32_t ld = 1; ld <= 80; ++ld)
      for (uint32_t columns = 1; columns <= ld; ++columns) {
        Spec spec = Tile(rows, columns, ld);
        const Footprint strided = FootprintOf(spec, kLhs, target_);
        spec.operand[kLhs].layout = {LayoutKind::kPacked, Order::kRow, 0, 1, 0};
        const Footprint dense = FootprintOf(spec, kLhs, target_);
        ASSERT_LE(dense.lines, strided.lines);
        ASSERT_LE(dense.runs, strided.runs);
        ASSERT_LE(dense.pages, strided.pages);
        ASSERT_EQ(dense.lines, (rows * columns * 4 + 63) / 64);
      }
}

}  // namespace
}  // namespace kirsch
