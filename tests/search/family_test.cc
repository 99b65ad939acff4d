// SPDX-License-Identifier: Apache-2.0
// Families of sizes: their text, their members, the regions of equal decisions.
#include "spec/language/family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "search/families/regions.h"
#include "search/solver/search.h"
#include "spec/text/cat.h"
#include "tests/testing/table_words.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

SpecFamily Family(const std::string& text) {
  absl::StatusOr<SpecFamily> family = ParseFamily(text);
  EXPECT_TRUE(family.ok()) << text << ": " << family.status();
  return family.value_or(SpecFamily());
}

std::vector<std::string> Texts(const SpecFamily& family, FamilySizes which = FamilySizes::kEverySize) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < family.count(which); ++i) texts.push_back(family.member(i, which).text);
  return texts;
}

TEST(FamilyTest, MembersVaryTheLastSizeFastest) {
  const SpecFamily family = Family("matmul f32 2..3x4x5..7 out=col");
  EXPECT_EQ(family.text(), "matmul f32 2..3x4x5..7 out=col");
  EXPECT_EQ(family.ranges(), (UserRanges{{{1, 1}, {2, 3}, {4, 4}, {5, 7}}}));
  EXPECT_THAT(family.varying(), ElementsAre(1, 3));
  EXPECT_THAT(Texts(family), ElementsAre("matmul f32 2x4x5 out=col", "matmul f32 2x4x6 out=col",
                                         "matmul f32 2x4x7 out=col", "matmul f32 3x4x5 out=col",
                                         "matmul f32 3x4x6 out=col", "matmul f32 3x4x7 out=col"));
  EXPECT_EQ(family.sizes(4), (UserSizes{1, 3, 4, 6}));
}

TEST(FamilyTest, BatchesVaryToo) {
  EXPECT_THAT(Texts(Family("matmul f32 1..3:4x4x4")),
              ElementsAre("matmul f32 4x4x4", "matmul f32 2:4x4x4", "matmul f32 3:4x4x4"));
}

TEST(FamilyTest, ASpecIsAFamilyOfOne) {
  for (const char* text :
       {"matmul f32 4x5x6 rhs=col ldc=9 accumulate", "matmul f32 3:4x5x6", "matmul f32 1:4..4x5x6"}) {
    const SpecFamily family = Family(text);
    EXPECT_EQ(family.count(), 1);
    EXPECT_EQ(family.member(0).text, family.text());
    EXPECT_TRUE(ParseSpec(family.text()).ok()) << family.text();
  }
}

// Every member means what its sizes with the options of the family mean, whatever the canonical text drops.
TEST(FamilyTest, OptionsAreEveryMembers) {
  const std::string options[] = {"",       " lhs=col",     " rhs=col accumulate",          " out=col",
                                 " lda=9", " ldb=7 ldc=8", " lhs=col lda=5 rhs=col ldb=7", " out=col ldc=5"};
  for (const std::string& option : options) {
    const SpecFamily family = Family(Cat("matmul f32  1..2:1..5x1..5x3..7 ", option));
    EXPECT_EQ(Family(family.text()).text(), family.text());
    EXPECT_EQ(Family(family.text()).ranges(), family.ranges());
    for (int64_t i = 0; i < family.count(); ++i) {
      const UserSizes size = family.sizes(i);
      const auto expected =
          ParseSpec(Cat("matmul f32 ", size[0], ":", size[1], "x", size[2], "x", size[3], option));
      ASSERT_TRUE(expected.ok()) << expected.status();
      EXPECT_EQ(family.member(i), *expected) << family.text() << " member " << i;
    }
  }
}

TEST(FamilyTest, UsualSizesHaveTheirEnds) {
  EXPECT_THAT(UsualSizesBetween(5, 5), ElementsAre(5));
  EXPECT_THAT(UsualSizesBetween(13, 17), ElementsAre(13, 14, 16, 17));
  EXPECT_THAT(UsualSizesBetween(90, 600), ElementsAre(90, 96, 128, 256, 512, 600));
  EXPECT_THAT(UsualSizesBetween(1, 24), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 24));
  EXPECT_THAT(Texts(Family("matmul f32 15..30x1x500..512"), FamilySizes::kUsual),
              ElementsAre("matmul f32 15x1x500", "matmul f32 15x1x512", "matmul f32 16x1x500",
                          "matmul f32 16x1x512", "matmul f32 24x1x500", "matmul f32 24x1x512",
                          "matmul f32 30x1x500", "matmul f32 30x1x512"));
}

TEST(FamilyTest, HugeFamiliesAreCounted) {
  const SpecFamily family = Family("matmul f32 1..1048576x1..4096x1..4096");
  EXPECT_EQ(family.count(FamilySizes::kEverySize), int64_t{1} << 44);
  EXPECT_EQ(family.member((int64_t{1} << 44) - 1, FamilySizes::kEverySize).text,
            "matmul f32 1048576x4096x4096");
  EXPECT_LE(family.count(), kMostMembers);
  EXPECT_EQ(family.member(family.count() - 1).text, "matmul f32 1048576x4096x4096");
}

TEST(FamilyTest, RangesWithoutAnEndGoUpToTheLargestSize) {
  const SpecFamily open = Family("matmul f32 3..x4x5..9");
  const SpecFamily closed = Family("matmul f32 3..1048576x4x5..9");
  EXPECT_EQ(open.count(FamilySizes::kEverySize), closed.count(FamilySizes::kEverySize));
  EXPECT_EQ(open.member(open.count() - 1).text, closed.member(closed.count() - 1).text);
}

TEST(FamilyTest, ErrorsHaveTheirPlace) {
  const std::string types = testing::TypeWords("|");
  const std::pair<const char*, std::string> cases[] = {
      {"matmul f32 4..3x4x4", "spec:1:15: expected the last size of a range from 4 to 1048576, got '3'"},
      {"matmul f32 1..ax4x4", "spec:1:15: expected the last size of a range from 1 to 1048576, got 'a'"},
      {"matmul f32 4x..5x4", "spec:1:14: expected a size from 1 to 1048576, got nothing"},
      {"matmul f32 0..5x4x4", "spec:1:12: expected a size from 1 to 1048576, got '0'"},
      {"matmul f32 1...5x4x4", "spec:1:15: expected the last size of a range from 1 to 1048576, got '.5'"},
      {"matmul f32 1..2..5x4x4",
       "spec:1:15: expected the last size of a range from 1 to 1048576, got '2..5'"},
      {"matmul\nf32 4x4x1..1048577",
       "spec:2:12: expected the last size of a range from 1 to 1048576, got '1048577'"},
      {"matmul f32 1..4x4",
       "spec:1:12: expected sizes as MxKxN or BATCH:MxKxN, each a size or a range a..b, got '1..4x4'"},
      {"matmul f32 4x4", "spec:1:12: expected sizes as MxKxN or BATCH:MxKxN, got '4x4'"},
      {"matmul f128 1..4x4x4", Cat("spec:1:8: expected an element type (", types, "), got 'f128'")},
      {"matmul f32", "spec:1:11: expected sizes as MxKxN or BATCH:MxKxN, got nothing"},
      {"", "spec:1:1: expected an operation (matmul|conv1d|conv2d|conv3d), got nothing"},
      {"matmul f32 1..4x4x4 lda=4..5",
       "spec:1:25: expected a leading dimension of lhs from 4 to 4294967295, got '4..5'"},
      {"matmul f32 1..4x1..64x4 lda=32",
       "spec:1:29: expected a leading dimension of lhs from 64 to 1073741824, got '32' (for the member "
       "4x64x4)"},
      {"matmul f32*q8_0->f32 4x32..64x16 rhs=col",
       "spec:1:22: expected K that is a multiple of 32, as q8_0 has blocks of so many, got '4x32..64x16' "
       "(for the member 4x33x16)"},
      {"matmul f32 1..1048576x1..4097x1",
       "spec:1:12: expected at most 4294967296 elements in lhs, got '1..1048576x1..4097x1' (for the member "
       "1048576x4097x1)"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(ParseFamily(text).status().message(), message) << text;
}

TEST(FamilyTest, AMixtureSaysHowOftenSizesAreAskedFor) {
  const SpecFamily family = Family("matmul f32 1..512x8x9 mixture=512:0.30,1:0.7 const-rhs");
  EXPECT_THAT(family.mixture(), ElementsAre(SizeShare{512, 0.3}, SizeShare{1, 0.7}));
  EXPECT_EQ(family.text(), "matmul f32 1..512x8x9 const-rhs mixture=512:0.3,1:0.7");
  EXPECT_EQ(Family(family.text()).mixture(), family.mixture());
  EXPECT_EQ(family.member(511), *ParseSpec("matmul f32 512x8x9 const-rhs"));
  EXPECT_TRUE(family.SharesConstant());
  EXPECT_TRUE(Family("matmul f32 4x8x1..9 const-lhs mixture=3:1e3").SharesConstant());
  for (const char* own :
       {"matmul f32 4x8x1..9 const-rhs", "matmul f32 1..4x8x1..9 const-rhs",
        "matmul f32 1..4x1..8x9 const-lhs", "matmul f32 4x8x9 const-rhs", "matmul f32 1..4x8x9"})
    EXPECT_FALSE(Family(own).SharesConstant()) << own;
}

TEST(FamilyTest, MalformedMixturesAreRefused) {
  constexpr char kOnly[] =
      "expected a mixture only where an operand is constant, and one size varies that it lacks, got ";
  const std::string start = "matmul f32 1..8x8x8 const-rhs ";
  const std::pair<std::string, std::string> cases[] = {
      {start + "mixture=9:1", "spec:1:39: expected one of the sizes that m may be, got '9'"},
      {start + "mixture=1", "spec:1:39: expected SIZE:SHARE, got '1'"},
      {start + "mixture=", "spec:1:39: expected SIZE:SHARE, got nothing"},
      {start + "mixture=1:1,", "spec:1:43: expected SIZE:SHARE, got nothing"},
      {start + "mixture=:1", "spec:1:39: expected a size from 1 to 1048576, got nothing"},
      {start + "mixture=1:", "spec:1:41: expected a share of the calls from 1e-9 to 1e9, got nothing"},
      {start + "mixture=1:0", "spec:1:41: expected a share of the calls from 1e-9 to 1e9, got '0'"},
      {start + "mixture=1:-1", "spec:1:41: expected a share of the calls from 1e-9 to 1e9, got '-1'"},
      {start + "mixture=1:nan", "spec:1:41: expected a share of the calls from 1e-9 to 1e9, got 'nan'"},
      {start + "mixture=1:inf", "spec:1:41: expected a share of the calls from 1e-9 to 1e9, got 'inf'"},
      {start + "mixture=2:1e", "spec:1:41: expected a share of the calls from 1e-9 to 1e9, got '1e'"},
      {start + "mixture=1:1,1:2", "spec:1:43: expected each size once, got '1'"},
      {start + "mixture=1:1 mixture=2:1", "spec:1:43: expected each option once, got 'mixture=2:1'"},
      {"matmul f32 1..8x8x8 mixture=1:1", Cat("spec:1:21: ", kOnly, "'mixture=1:1'")},
      {"matmul f32 8x8x8 const-rhs mixture=8:1", Cat("spec:1:28: ", kOnly, "'mixture=8:1'")},
      {"matmul f32 8x8x1..4 const-rhs mixture=1:1", Cat("spec:1:31: ", kOnly, "'mixture=1:1'")},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(ParseFamily(text).status().message(), message) << text;
}

TEST(FamilyTest, ASpecRefusesARange) {
  EXPECT_THAT(std::string(ParseSpec("matmul f32 4x1..4x4").status().message()),
              HasSubstr("spec:1:14: expected a single size (a range stands for many specs"));
}

// Regions are disjoint boxes that cover the family, each of one decision.
void ExpectPartition(const std::vector<VaryingSize>& sizes, const std::vector<std::string>& decisions,
                     const std::vector<Region>& regions) {
  for (int64_t i = 0; i < CountMembers(sizes); ++i) {
    const std::vector<uint32_t> values = ValuesOf(sizes, i);
    int holding = 0;
    for (const Region& region : regions) {
      ASSERT_EQ(region.box.size(), values.size());
      bool inside = true;
      for (size_t dim = 0; dim < values.size(); ++dim)
        inside &= region.box[dim].low <= values[dim] && values[dim] <= region.box[dim].high;
      EXPECT_EQ(inside, std::count(region.members.begin(), region.members.end(), i) == 1);
      if (!inside) continue;
      ++holding;
      EXPECT_EQ(region.decision, decisions[static_cast<size_t>(i)]);
    }
    EXPECT_EQ(holding, 1) << "member " << i;
  }
}

TEST(RegionsTest, PartitionEveryRandomFamily) {
  std::mt19937 random(20260611);
  const char* const families[] = {"matmul f32 1..20x4x4", "matmul f32 3..9x4x2..8",
                                  "matmul f32 2..4:1..5x2..3x1..4", "matmul f32 5x5x5"};
  for (int round = 0; round < 400; ++round) {
    const SpecFamily family = Family(families[round % 4]);
    const FamilySizes which = round % 3 == 0 ? FamilySizes::kUsual : FamilySizes::kEverySize;
    std::vector<std::string> decisions;
    for (int64_t i = 0; i < family.count(which); ++i)
      decisions.push_back(Cat("decision ", random() % (1 + static_cast<unsigned>(round) % 4)));
    const std::vector<VaryingSize> sizes = family.varying_sizes(which);
    ASSERT_EQ(CountMembers(sizes), family.count(which));
    const std::vector<Region> regions = FindRegions(sizes, decisions);
    ExpectPartition(sizes, decisions, regions);
    for (const Region& region : regions) {
      const std::vector<uint32_t> largest = ValuesOf(sizes, region.last());
      for (size_t dim = 0; dim < largest.size(); ++dim) EXPECT_EQ(largest[dim], region.box[dim].high);
    }
    if (round % 4 == 0) {  // as few intervals as there are
      for (size_t i = 1; i < regions.size(); ++i) EXPECT_NE(regions[i].decision, regions[i - 1].decision);
    }
  }
}

TEST(RegionsTest, EqualDecisionsAreOneRegion) {
  const SpecFamily family = Family("matmul f32 1..5:1..5x1..5x1..5");
  const std::vector<std::string> decisions(static_cast<size_t>(family.count()), "same");
  const std::vector<Region> regions = FindRegions(family.varying_sizes(), decisions);
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_THAT(regions[0].box, ElementsAreArray(family.ranges()));
  EXPECT_EQ(regions[0].members.size(), 625u);
}

// Rows that fit a register tile are one decision, whatever their number and remainder.
TEST(RegionsTest, TripCountsAndRemaindersDoNotCount) {
  const Target target = testing::Avx512Target();
  const CostModel model(target);
  HashMemo memo;
  const auto spine = [&](const std::string& text) {
    const absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
    EXPECT_TRUE(parsed.ok());
    const Spec root = PlaceOperands(parsed->spec, Residency::kWarm, target);
    return DecisionSpine(Search(root, model, memo, {}).impl, parsed->swapped);
  };
  EXPECT_EQ(spine("matmul f32 2x32x32"), spine("matmul f32 3x32x32"));
  EXPECT_EQ(spine("matmul f32 28x32x32"), spine("matmul f32 42x32x32"));
  EXPECT_EQ(spine("matmul f32 28x32x32"), spine("matmul f32 35x32x32"));
  EXPECT_NE(spine("matmul f32 28x32x32"), spine("matmul f32 30x32x32"));  // tiles of 10 rows
  EXPECT_NE(spine("matmul f32 2x32x32"), spine("matmul f32 28x32x32"));
  EXPECT_NE(spine("matmul f32 28x32x32"), spine("matmul f32 32x32x28 out=col"));  // the same, transposed
}

// The program of these decisions, each inside the one before it, for a spec that does not matter.
Impl Chain(std::vector<Decision> decisions) {
  Decision leaf;
  leaf.kind = RewriteKind::kMicrokernel;
  decisions.push_back(leaf);
  Impl impl;
  for (size_t i = decisions.size(); i-- > 0;) {
    Impl outer{ParseSpec("matmul f32 64x64x64")->spec, decisions[i], {}};
    if (i + 1 < decisions.size()) outer.children.push_back({1, std::move(impl)});
    impl = std::move(outer);
  }
  return impl;
}

Decision Move(int operand, Level level) {
  Decision decision;
  decision.kind = RewriteKind::kMove;
  decision.operand = static_cast<uint8_t>(operand);
  decision.level = level;
  return decision;
}

Decision Tile(int dim, uint32_t size) {
  Decision decision;
  decision.kind = RewriteKind::kTile;
  decision.dim = static_cast<uint8_t>(dim);
  decision.size = size;
  return decision;
}

TEST(RegionsTest, WhatMakesNoDifferenceIsLeftOut) {
  const auto spine = [](const std::vector<Decision>& decisions) {
    return DecisionSpine(Chain(decisions), false);
  };
  const Decision lhs = Move(0, Level::kL1), rhs = Move(1, Level::kL1), out = Move(2, Level::kL2);
  EXPECT_EQ(spine({rhs, lhs, out, Tile(1, 8)}), "move out L2; move lhs L1; move rhs L1; tile m 8");
  EXPECT_EQ(spine({rhs, Tile(1, 8), lhs, out}), "move rhs L1; tile m 8; move out L2; move lhs L1");
  EXPECT_EQ(spine({Tile(1, 32), Tile(1, 8)}), "tile m 8");
  EXPECT_EQ(spine({Tile(1, 32), Tile(3, 16), Tile(1, 8)}), "tile m 32; tile n 16; tile m 8");
  EXPECT_EQ(spine({Tile(1, 32), rhs, Tile(1, 8)}), "tile m 32; move rhs L1; tile m 8");
  EXPECT_EQ(DecisionSpine(Chain({lhs}), true), "transposed; move lhs L1");
}

// Down the child with the most work, not the first and not the last.
TEST(RegionsTest, TheMainChildIsFollowed) {
  Impl impl{ParseSpec("matmul f32 9x70x8")->spec, Tile(MatmulDims::kK, 32), {}};
  impl.children.push_back({1, Chain({Tile(1, 1)})});
  impl.children.push_back({2, Chain({Tile(1, 2)})});
  impl.children.push_back({1, Chain({Tile(1, 3)})});
  EXPECT_EQ(DecisionSpine(impl, false), "tile k 32; tile m 2");
  impl.children[1].trips = 1;
  EXPECT_EQ(DecisionSpine(impl, false), "tile k 32; tile m 1");
}

TEST(RegionsTest, AParallelTileThatSharesEvenlyHasNoSize) {
  const auto spine = [](const std::string& text, uint32_t size) {
    Impl impl{ParseSpec(text)->spec, {}, {}};
    impl.decision.kind = RewriteKind::kParallelTile;
    impl.decision.dim = MatmulDims::kM;
    impl.decision.size = size;
    impl.decision.parts = 2;
    Impl::Child leaf{1, impl};
    leaf.impl.decision = {};
    leaf.impl.decision.kind = RewriteKind::kMicrokernel;
    impl.children.push_back(leaf);
    return DecisionSpine(impl, false);
  };
  EXPECT_EQ(spine("matmul f32 64x4x4", 32), "parallel m even 2");
  EXPECT_EQ(spine("matmul f32 63x4x4", 32), "parallel m even 2");
  EXPECT_EQ(spine("matmul f32 64x4x4", 16), "parallel m 16 2");
}

}  // namespace
}  // namespace kirsch
