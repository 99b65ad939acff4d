// SPDX-License-Identifier: Apache-2.0
// Lists that a solver keeps say what they said when they were made, and nothing that is not proven.
#include "search/solver/ranked_decisions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "search/solver/placement.h"
#include "search/solver/recent_specs.h"
#include "spec/language/parser.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

Spec SpecOf(const char* text) {
  return PlaceOperands(ParseSpec(text)->spec, Residency::kCold, testing::Avx2Target());
}

// A spec for each number of rows.
Spec WithRows(uint32_t rows) {
  Spec spec = SpecOf("matmul f32 7x16x32");
  spec.size[MatmulDims::kM] = rows;
  return spec;
}

TEST(RecentSpecs, HaveTheirOwnValueOrNone) {
  RecentSpecs<uint32_t> recent(256);
  EXPECT_EQ(recent.Find(WithRows(1)), nullptr);
  for (uint32_t rows = 1; rows <= 2000; ++rows) {
    recent.Keep(WithRows(rows)) = rows;
    ASSERT_NE(recent.Find(WithRows(rows)), nullptr) << rows;
  }
  size_t kept = 0;
  for (uint32_t rows = 1; rows <= 2000; ++rows)
    if (const uint32_t* value = recent.Find(WithRows(rows))) {
      EXPECT_EQ(*value, rows);
      ++kept;
    }
  EXPECT_GT(kept, size_t{128});
  EXPECT_LE(kept, size_t{256});
}

TEST(LinesNeeded, AreTheFewestThatDo) {
  const Target target = testing::Avx2Target();
  std::vector<Decision> decisions;
  Expansion expansion;
  for (const char* text : {"matmul f32 64x300x512", "matmul bf16*bf16->f32 2000x2000x2000 rhs=col"}) {
    const Spec spec = SpecOf(text);
    EnumerateDecisions(spec, target, &decisions);
    for (const Decision& decision : decisions) {
      Expand(spec, decision, target, &expansion);
      const Lines needs = LinesNeeded(spec, expansion, target);
      for (const Lines available :
           {0, 1, 100, std::max(0, needs - 1), std::min(needs, kUnlimited), 5000, kUnlimited})
        EXPECT_EQ(available >= needs, AvailableBelow(spec, expansion, available, target) >= 0) << text;
    }
  }
}

TEST(DecisionRanking, KeepsWhatIsProvenForNoMoreLines) {
  const CostModel model(testing::Avx2Target());
  DecisionRanking ranking(model);
  const Spec spec = SpecOf("matmul f32 64x300x512");
  RankedList& list = ranking.Of(spec, 100);
  ASSERT_GT(list.decisions.size(), size_t{1});
  EXPECT_TRUE(std::is_sorted(list.decisions.begin(), list.decisions.end(),
                             [](const auto& a, const auto& b) { return a.bound < b.bound; }));
  const Cost closed = list.decisions[0].bound;
  EXPECT_EQ(list.decisions[0].proven, closed);
  list.decisions[0].proven = closed + 7;
  EXPECT_NE(ranking.Kept(spec, 100), nullptr);
  EXPECT_EQ(ranking.Kept(spec, 101), nullptr);
  EXPECT_EQ(ranking.Of(spec, 50).decisions[0].proven, closed + 7);
  EXPECT_EQ(ranking.Of(spec, 101).decisions[0].proven, closed);
  EXPECT_EQ(ranking.LowerBound(spec), model.LowerBound(spec));
  EXPECT_EQ(ranking.LowerBound(spec), model.LowerBound(spec));
}

}  // namespace
}  // namespace kirsch
