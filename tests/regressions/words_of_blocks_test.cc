// SPDX-License-Identifier: Apache-2.0
// Floats of 8 bits that are constant, beside bf16: copies made of them ahead are words of bf16, which are
// multiplied by pairs. The bound was above such programs, so there was none.
#include <gtest/gtest.h>

#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/language/parser.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

TEST(WordsOfBlocks, BoundsAreBounds) {
  const Target target = FindTarget("znver4", "")->target;
  const CostModel model(target);
  for (int columns : {1, 14, 15, 16, 31, 63, 64})
    for (const char* options : {"const-rhs", "const-rhs accumulate", ""}) {
      const auto parsed = ParseSpec(Cat("matmul bf16*sfp8->f32 1x32x", columns, " rhs=col ", options));
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      HashMemo memo;
      const SearchResult best =
          Search(PlaceOperands(parsed->spec, Residency::kWarm, target), model, memo, {});
      EXPECT_EQ(best.stop, StopReason::kOptimal) << columns << " " << options;
    }
}

}  // namespace
}  // namespace kirsch
