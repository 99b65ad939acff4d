// SPDX-License-Identifier: Apache-2.0
// Plans for any number of rows: each computes what its members' graphs mean, for every number, and takes
// about what its members' own plans do; which families there are such plans for.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "memo/hash_memo.h"
#include "tests/testing/plan_family_testing.h"

namespace kirsch::testing {
namespace {

Family MakeFamilyOfRows(const std::string& text) { return MakeFamily(text, {SizeSymbol::kRows}); }

// Rows of one matrix and of several, items that are as many, or further apart as there are more; row programs
// by rows and by elements; epilogues, casts and constants; tiles, with something left and without; heads that
// are added up.
const std::vector<std::string>& Kernels() {
  static const std::vector<std::string> kKernels = {
      "kernel mlp[m = 1..70](x: f32[m,24], w1: f32[24,40], w2: f32[40,9]) -> f32[m,9]:\n"
      " return matmul(gelu(matmul(x, w1)), w2)",
      "kernel gated[m = 1..40](x: bf16[m,32], w1: bf16[32,48], w3: bf16[32,48], w2: bf16[48,32]) -> "
      "bf16[m,32]:\n"
      " return cast(matmul(cast(mul(silu(matmul(x, w1)), matmul(x, w3)), bf16), w2), bf16)",
      "kernel normed[m = 1..50](x: f32[m,20], g: f32[20], w: f32[20,30], b: f32[30]) -> f32[m,30]:\n"
      " return add(matmul(mul(sub(x, reduce_mean(x, axis=1)), g), w), b)",
      "kernel queries[m = 1..40](q: f32[3,m,8], k: f32[3,21,8], v: f32[3,21,6]) -> f32[3,m,6]:\n"
      " return matmul(softmax(mul(matmul(q, transpose(k)), 0.3)), v)",
      "kernel apart[m = 2..40](q: f32[3,m,8] strides=[8,24,1], k: f32[3,21,8] strides=[8,24,1], v: "
      "f32[3,21,8] "
      "strides=[8,24,1]) -> f32[3,m,8] strides=[8,24,1]:\n"
      " return matmul(softmax(matmul(q, transpose(k))), v)",
      "kernel grouped[m = 1..40](q: f32[4,m,8], k: f32[2,21,8], v: f32[2,21,8]) -> f32[4,m,8]:\n"
      " return matmul(softmax(matmul(q, transpose(k))), v)",
      "kernel heads[m = 1..40](x: f32[1,m,20], w: f32[3,20,12], o: f32[3,12,20]) -> f32[1,m,20]:\n"
      " return reduce_sum(matmul(matmul(x, w), o), axis=0)",
      "kernel items[m = 1..45](x: f32[m,3,16], y: f32[m,16,5]) -> f32[m,3,5]:\n return relu(matmul(x, y))",
      "kernel elements[m = 1..90](x: f32[m,3,5], y: f32[m,3,5]) -> f32[m,3,5]:\n return mul(exp(x), y)",
      "kernel rows[m = 3..80](x: f32[m,33]) -> f32[m,33]:\n return softmax(x)",
      "kernel weights[m = 1..50](x: f32[m,24], w1: const f32[24,40], w2: const f32[40,9]) -> f32[m,9]:\n"
      " return matmul(relu(matmul(x, w1)), w2)",
      "kernel bytes[m = 1..40](x: u8[m,24], w: s8[24,40], b: s32[40]) -> s32[m,40]:\n"
      " return add(matmul(x, w), b)"};
  return kKernels;
}

// The number of rows counts columns: of rows without gaps, of a single row, in several kernels, of a result
// with one element for each row, of rows that are columns as well, and down the columns.
const std::vector<std::string>& KernelsOfColumns() {
  static const std::vector<std::string> kKernels = {
      "kernel soft[n = 1..90](x: f32[5,n]) -> f32[5,n]:\n return softmax(x)",
      "kernel gaps[n = 1..60](x: f32[5,n] strides=[64,1]) -> f32[5,n]:\n return softmax(x)",
      "kernel row[n = 1..300](x: f32[1,n]) -> f32[1,n]:\n return softmax(x)",
      "kernel several[n = 2..40](x: f32[3,4,n], y: f32[3,4,n]) -> f32[3,4,n]:\n return softmax(add(x, y))",
      "kernel most[n = 1..80](x: f32[7,n]) -> f32[7,1]:\n return reduce_max(x, axis=1)",
      "kernel scaled[n = 1..70](x: f32[6,n], y: f32[n], z: f32[6,1]) -> f32[6,n]:\n"
      " return div(mul(x, y), add(exp(z), reduce_max(x, axis=1)))",
      "kernel twice[n = 1..60](x: f32[4,n]) -> f32[4,n]:\n return softmax(mul(softmax(x), 2))",
      "kernel square[n = 1..50](x: f32[n,n]) -> f32[n,n]:\n return softmax(x)",
      "kernel down[n = 1..150](x: f32[6,n]) -> f32[6,n]:\n return exp(sub(x, reduce_max(x, axis=0)))",
      "kernel tall[n = 1..40](x: f32[300,n], y: f32[1,n]) -> f32[1,n]:\n"
      " return add(y, reduce_sum(mul(x, x), axis=0))",
      "kernel where[n = 1..50](x: f32[6,n]) -> s32[1,n]:\n return argmax(x, axis=0)"};
  return kKernels;
}

// Element by element, of a type of which vectors of AVX-512 alone may have any number of elements.
constexpr char kNarrow[] =
    "kernel narrow[m = 1..60](x: bf16[m,7]) -> bf16[m,7]:\n return cast(mul(cast(x, f32), 2), bf16)";

class RowRegionsTest : public ::testing::TestWithParam<Target> {};

TEST_P(RowRegionsTest, EveryNumberOfRowsIsRight) {
  std::vector<std::string> kernels = Kernels();
  if (GetParam().HasFeature("avx512f")) kernels.emplace_back(kNarrow);
  for (const std::string& text : kernels) {
    SCOPED_TRACE(text);
    const Family family = MakeFamilyOfRows(text);
    const auto regions = RegionsOf(family, GetParam());
    ASSERT_TRUE(regions.has_value());
    EXPECT_LT(2 * regions->regions.size(), family.members.size());
    ExpectEveryMemberIsRight(family, *regions, GetParam());
  }
}

// Rows and columns at once; the last is of sizes in the other order.
TEST_P(RowRegionsTest, EveryNumberOfRowsAndColumnsIsRight) {
  using enum SizeSymbol;
  for (const auto& [text, kinds] : std::vector<std::pair<std::string, std::vector<SizeSymbol>>>{
           {"kernel soft[m = 1..9, n = 1..40](x: f32[m,n]) -> f32[m,n]:\n return softmax(x)",
            {kRows, kColumns}},
           {"kernel most[m = 1..12, n = 1..30](x: f32[m,n], y: f32[n]) -> f32[m,1]:\n"
            " return reduce_max(mul(x, y), axis=1)",
            {kRows, kColumns}},
           {"kernel heads[m = 1..9, n = 1..40](x: f32[2,m,n]) -> f32[2,m,n]:\n return softmax(x)",
            {kRows, kColumns}},
           {"kernel soft[n = 1..40, m = 1..9](x: f32[m,n]) -> f32[m,n]:\n return softmax(x)",
            {kColumns, kRows}}}) {
    SCOPED_TRACE(text);
    const Family family = MakeFamily(text, kinds);
    const auto regions = RegionsOf(family, GetParam());
    ASSERT_TRUE(regions.has_value());
    EXPECT_LE(16 * regions->regions.size(), family.members.size());
    ExpectEveryMemberIsRight(family, *regions, GetParam());
  }
}

TEST_P(RowRegionsTest, EveryNumberOfColumnsIsRight) {
  for (const std::string& text : KernelsOfColumns()) {
    SCOPED_TRACE(text);
    const Family family = MakeFamilyOfRows(text);
    const auto regions = RegionsOf(family, GetParam());
    ASSERT_TRUE(regions.has_value());
    EXPECT_LT(8 * regions->regions.size(), family.members.size());
    ExpectEveryMemberIsRight(family, *regions, GetParam());
  }
}

// Among them multiples of a tile only, of which nothing is left.
TEST_P(RowRegionsTest, NumbersThatAreNotLookedAtAreRight) {
  int served = 0;
  for (const std::string& text : Kernels())
    for (const size_t one_in : {6, 16}) {
      SCOPED_TRACE(text);
      const Family family = Sampled(MakeFamilyOfRows(text), one_in);
      const auto regions = RegionsOf(family, GetParam());
      if (!regions) continue;
      ExpectEveryMemberIsRight(family, *regions, GetParam());
      ++served;
    }
  EXPECT_GT(served, 10);
}

// As predicted: no member loses much, and none wins much either, which would be a wrong price.
TEST_P(RowRegionsTest, PlansTakeAboutWhatMembersOwnDo) {
  for (size_t number : {0, 2, 3}) {
    SCOPED_TRACE(Kernels()[number]);
    const Family family = MakeFamilyOfRows(Kernels()[number]);
    const auto regions = RegionsOf(family, GetParam());
    ASSERT_TRUE(regions.has_value());
    const CostModel model(GetParam());
    HashMemo memo;
    PlanOptions options;
    SearchStages(model, memo, &options);
    for (size_t i = 0; i < family.members.size(); i += 3) {
      const auto own = Require(SearchPlan(family.members[i], "test", model, options));
      ASSERT_TRUE(own.ok()) << own.status();
      const double loss = regions->cycles[i] / own->plan.cycles - 1;
      EXPECT_LE(loss, 0.07) << family.size(i);
      EXPECT_GE(loss, -0.07) << family.size(i);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, RowRegionsTest, ::testing::Values(Avx2Target(), Avx512Target()),
                         [](const auto& info) { return info.index == 0 ? "Avx2" : "Avx512"; });

// A result beyond the caches is best stored past them, which takes a length that is known.
Target StreamingTarget() {
  Target target = Avx2Target();
  for (Level level : {Level::kL1, Level::kL2, Level::kL3}) target.memory[Index(level)].bytes = 4096;
  target.memory[Index(Level::kRam)].stream_factor = 0.1;
  return target;
}

TEST(RowRegions, ResultsBeyondTheCachesHaveAnyNumberOfColumns) {
  const Target target = StreamingTarget();
  const Family family =
      MakeFamily("kernel soft[m = 2..20, n = 40..70](x: f32[m,n]) -> f32[m,n]:\n return softmax(x)",
                 {SizeSymbol::kRows, SizeSymbol::kColumns});
  const auto regions = RegionsOf(family, target);
  ASSERT_TRUE(regions.has_value());
  ExpectEveryMemberIsRight(family, *regions, target);
}

// Plans do without such stores if these are little of the work; else each number of rows keeps them.
TEST(RowRegions, ResultsBeyondTheCachesHaveAnyNumberOfRowsIfTheyAreLittle) {
  const Target target = StreamingTarget();
  const Family family = MakeFamilyOfRows(
      "kernel both[m = 40..60](x: f32[m,8], a: f32[m,96], b: f32[96,96]):\n"
      " y = relu(x)\n c = matmul(a, b)\n return y, c");
  const auto regions = RegionsOf(family, target);
  ASSERT_TRUE(regions.has_value());
  EXPECT_LT(2 * regions->regions.size(), family.members.size());
  ExpectEveryMemberIsRight(family, *regions, target);
  const Family alone = MakeFamilyOfRows("kernel one[m = 200..220](x: f32[m,8]):\n return relu(x)");
  EXPECT_FALSE(RegionsOf(alone, target).has_value());
}

TEST(RowRegions, OtherFamiliesAreTold) {
  for (const char* text :
       {// Queries that are keys, too.
        "kernel f[t = 2..40](q: f32[t,8], k: f32[t,8], v: f32[t,8]):\n"
        " return matmul(softmax(matmul(q, transpose(k))), v)",
        // Columns, and steps of a reduction.
        "kernel f[t = 2..40](x: f32[6,8], w: f32[8,t]):\n return matmul(x, w)",
        "kernel f[t = 2..40](x: f32[6,t], w: f32[t,8]):\n return matmul(x, w)",
        // Means, which divide by the number of columns.
        "kernel f[t = 2..40](x: f32[6,t]):\n return sub(x, reduce_mean(x, axis=1))", kNarrow,
        // Rows that are further apart as there are more.
        "kernel f[t = 2..40](x: f32[t,8]):\n return transpose(x)"}) {
    const auto regions = RegionsOf(MakeFamilyOfRows(text), Avx2Target());
    EXPECT_FALSE(regions.has_value()) << text;
  }
}

// When the time is over, one plan serves all members that it can.
TEST(RowRegions, WithoutTimeFewPlansAreMade) {
  const Target target = Avx2Target();
  const Family family = MakeFamilyOfRows(Kernels()[0]);
  int in_time = 0, without = 0;
  RegionsOf(family, target, {}, &in_time);
  const auto regions = RegionsOf(family, target, [] { return true; }, &without);
  ASSERT_TRUE(regions.has_value());
  EXPECT_LT(without, in_time / 2);
  EXPECT_EQ(regions->regions.size(), 1u);
  ExpectEveryMemberIsRight(family, *regions, target);
}

}  // namespace
}  // namespace kirsch::testing
