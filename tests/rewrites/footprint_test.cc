// SPDX-License-Identifier: Apache-2.0
// Footprints against counting: the addresses of every element of a tile, the lines and pages they fall on.
#include "spec/footprint.h"

#include <gtest/gtest.h>

#include <set>

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
