// SPDX-License-Identifier: Apache-2.0
// Plans for any number of keys: each computes what its members' graphs mean, for every number, and takes what
// it is said to take; which families there are such plans for.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "search/families/differ_in_keys.h"
#include "search/families/rule_costs.h"
#include "spec/target/targets.h"
#include "tests/testing/plan_family_testing.h"

namespace kirsch::testing {
namespace {

Family MakeFamilyOfKeys(const std::string& text) { return MakeFamily(text, {SizeSymbol::kKeys}); }

// Heads of several layouts, grouped heads, several queries with a mask, casts, and operations behind.
const std::vector<std::string>& Kernels() {
  static const std::vector<std::string> kKernels = {
      "kernel one[t = 1..90](q: f32[1,8], k: f32[t,8], v: f32[t,5]) -> f32[1,5]:\n"
      " return matmul(softmax(matmul(q, transpose(k))), v)",
      "kernel heads[t = 1..70](q: f32[3,1,8], k: f32[3,t,8] strides=[8,24,1], v: f32[3,t,16] "
      "strides=[1200,16,1])"
      " -> f32[3,1,16]:\n return matmul(softmax(mul(matmul(q, transpose(k)), 0.25)), v)",
      "kernel grouped[t = 2..40](q: f32[4,2,8], k: f32[2,t,8] strides=[512,9,1], v: f32[2,t,8] "
      "strides=[480,12,1]) -> f32[4,2,8]:\n return relu(matmul(softmax(matmul(q, transpose(k))), v))",
      "kernel masked[t = 5..77](q: f32[2,5,8], k: f32[2,t,8] strides=[8,16,1], mask: f32[5,t] "
      "strides=[80,1], v: "
      "f32[2,t,8] strides=[640,8,1]) -> f32[2,5,8] strides=[8,16,1]:\n"
      " return matmul(softmax(add(mul(matmul(q, transpose(k)), 0.3), mask)), v)",
      "kernel turned[t = 1..33](q: f32[9,8], k: f32[8,t] strides=[40,1], v: f32[t,3]) -> f32[9,3]:\n"
      " return matmul(softmax(matmul(q, k)), v)",
      "kernel narrow[t = 1..50](q: bf16[2,1,16], k: bf16[2,t,16] strides=[16,32,1], v: bf16[2,t,16] "
      "strides=[16,32,1]) -> bf16[2,1,16]:\n"
      " return cast(matmul(cast(softmax(matmul(q, transpose(k))), bf16), v), bf16)",
      "kernel behind[t = 1..40](x: f32[1,8], w: f32[8,8], k: f32[t,8], v: f32[t,8]) -> f32[1,8]:\n"
      " return exp(matmul(softmax(matmul(matmul(x, w), transpose(k))), v))",
      // A mask whose rows are as far apart as the most keys; scores that are the sum of two products.
      "kernel mask[t = 5..40](q: f32[5,8], k: f32[t,8], mask: f32[5,t] strides=[40,1], v: f32[t,8]) -> "
      "f32[5,8]:\n return matmul(softmax(add(matmul(q, transpose(k)), mask)), v)",
      "kernel sums[t = 3..40](q: f32[5,8], p: f32[5,8], k: f32[t,8], w: f32[t,8], v: f32[t,8]) -> f32[5,8]:\n"
      " return matmul(softmax(add(matmul(q, transpose(k)), matmul(p, transpose(w)))), v)",
      "kernel linear[t = 2..60](q: f32[3,8], k: f32[t,8], v: f32[t,8]) -> f32[3,8]:\n"
      " return matmul(relu(matmul(q, transpose(k))), v)",
      // A token whose own key is apart from the cache, so the softmax is over both.
      "kernel own[t = 1..60](q: f32[3,1,8], k: f32[3,t,8] strides=[8,24,1], mask: f32[1,t], v: f32[3,t,8] "
      "strides=[8,24,1], own: f32[3,1,1], value: f32[3,1,8]) -> f32[3,1,8]:\n"
      " past = add(matmul(q, transpose(k)), mask)\n"
      " most = max(reduce_max(past, axis=2), own)\n"
      " p = exp(sub(past, most))\n p1 = exp(sub(own, most))\n"
      " return div(add(matmul(p, v), mul(p1, value)), add(reduce_sum(p, axis=2), p1))"};
  return kKernels;
}

class KeyRegionsTest : public ::testing::TestWithParam<Target> {};

TEST_P(KeyRegionsTest, EveryNumberOfKeysIsRight) {
  for (const std::string& text : Kernels()) {
    SCOPED_TRACE(text);
    const Family family = MakeFamilyOfKeys(text);
    ASSERT_TRUE(DifferInKeys(family.members));
    const auto regions = RegionsOf(family, GetParam());
    ASSERT_TRUE(regions.has_value());
    ExpectEveryMemberIsRight(family, *regions, GetParam());
  }
}

TEST_P(KeyRegionsTest, NumbersThatAreNotLookedAtAreRight) {
  for (const std::string& text : Kernels()) {
    SCOPED_TRACE(text);
    const Family family = Sampled(MakeFamilyOfKeys(text), /*one_in=*/7);
    const auto regions = RegionsOf(family, GetParam());
    if (regions) ExpectEveryMemberIsRight(family, *regions, GetParam());
  }
}

// A plan that is searched for one number of keys is as long as the region's says of that number, or longer.
TEST_P(KeyRegionsTest, CyclesAreThoseOfTheBlocksThereAre) {
  const Family family = MakeFamilyOfKeys(Kernels()[1]);
  const auto regions = RegionsOf(family, GetParam());
  ASSERT_TRUE(regions.has_value());
  const CostModel model(GetParam());
  for (size_t i = 1; i < family.members.size(); ++i) {
    HashMemo memo;
    PlanOptions options;
    options.other_keys = &family.members[0];
    SearchStages(model, memo, &options);
    const auto own = Require(SearchPlan(family.members[i], "test", model, options));
    ASSERT_TRUE(own.ok()) << own.status();
    // The search prices a block of every smaller size; with as many keys there is none that is left out.
    const int64_t keys = family.size(i);
    if ((keys & (keys + 1)) != 0) continue;
    EXPECT_GE(own->plan.cycles * (1 + kMostLoss), regions->cycles[i]) << keys;
  }
}

// Attentions of any number of queries against any number of keys: one head and several, whose rows are apart
// or lie one behind the other, heads that share keys, a mask, narrow types, operations before and behind.
const std::vector<std::string>& KernelsOfBoth() {
  static const std::vector<std::string> kKernels = {
      "kernel one[q = 1..13, t = 1..40](x: f32[q,8], k: f32[t,8], v: f32[t,5]) -> f32[q,5]:\n"
      " return matmul(softmax(mul(matmul(x, transpose(k)), 0.3)), v)",
      "kernel heads[t = 1..40, q = 2..9](x: f32[3,q,8] strides=[8,24,1], k: f32[3,t,8] strides=[8,24,1], v: "
      "f32[3,t,16] strides=[1200,16,1]) -> f32[3,q,16]:\n return matmul(softmax(matmul(x, transpose(k))), v)",
      "kernel grouped[q = 1..7, t = 2..24](x: f32[4,q,8], k: f32[2,t,8] strides=[512,9,1], v: f32[2,t,8] "
      "strides=[480,12,1]) -> f32[4,q,8]:\n return relu(matmul(softmax(matmul(x, transpose(k))), v))",
      "kernel masked[q = 3..14, t = 5..40](x: f32[2,q,8], k: f32[2,t,8] strides=[8,16,1], mask: f32[q,t] "
      "strides=[80,1], v: f32[2,t,8] strides=[640,8,1]) -> f32[2,q,8]:\n"
      " return matmul(softmax(add(mul(matmul(x, transpose(k)), 0.3), mask)), v)",
      "kernel narrow[q = 1..10, t = 1..35](x: bf16[q,16], k: bf16[t,16], v: bf16[t,16]) -> bf16[q,16]:\n"
      " return cast(matmul(cast(softmax(matmul(x, transpose(k))), bf16), v), bf16)",
      "kernel behind[q = 1..9, t = 1..24](x: f32[q,8], w: f32[8,8], k: f32[t,8], v: f32[t,8]) -> f32[q,8]:\n"
      " return exp(matmul(softmax(matmul(matmul(x, w), transpose(k))), v))"};
  return kKernels;
}

std::vector<SizeSymbol> KindsOf(const std::string& text) {
  const bool keys_first = text.find("[t = ") != std::string::npos;
  return keys_first ? std::vector{SizeSymbol::kKeys, SizeSymbol::kRows}
                    : std::vector{SizeSymbol::kRows, SizeSymbol::kKeys};
}

TEST_P(KeyRegionsTest, EveryNumberOfRowsAndKeysIsRight) {
  for (const std::string& text : KernelsOfBoth())
    for (const size_t one_in : {1, 6}) {
      SCOPED_TRACE(text);
      const Family family = Sampled(MakeFamily(text, KindsOf(text)), one_in);
      const auto regions = RegionsOf(family, GetParam());
      ASSERT_TRUE(regions.has_value() || one_in > 1);
      if (!regions) continue;
      ExpectEveryMemberIsRight(family, *regions, GetParam());
      EXPECT_LT((one_in == 1 ? 3 : 1) * regions->regions.size(), family.members.size());
    }
}

INSTANTIATE_TEST_SUITE_P(Isa, KeyRegionsTest, ::testing::Values(Avx2Target(), Avx512Target()),
                         [](const auto& info) { return info.index == 0 ? "Avx2" : "Avx512"; });

// Operands are in L1 where q + t <= 16, so these members are in no box. Plans are searched for its corners as
// if operands were there, too.
TEST(KeyRegions, MembersOfAPlacementThatAreInNoBoxAreRight) {
  const Target haswell = FindTarget("haswell", "")->target;
  const Family family = MakeFamily(
      "kernel heads[q = 1..20, t = 1..20](x: f32[4,q,64], k: f32[4,t,64] strides=[1280,64,1], v: f32[4,t,64] "
      "strides=[1280,64,1]) -> f32[4,q,64]:\n return matmul(softmax(matmul(x, transpose(k))), v)",
      {SizeSymbol::kRows, SizeSymbol::kKeys});
  const auto regions = RegionsOf(family, haswell);
  ASSERT_TRUE(regions.has_value());
  ExpectEveryMemberIsRight(family, *regions, haswell);
}

// A row kernel had as many elements as 2000 keys leave of blocks of 32.
TEST(KeyRegions, MoreMayBeLeftOfBlocksThanOfTheSearchedNumber) {
  const Target haswell = FindTarget("haswell", "")->target;
  const Family family = MakeFamilyOfKeys(
      "kernel one[t = 1930..2000](q: f32[1,64], k: f32[t,64], v: f32[t,64]) -> f32[1,64]:\n"
      " return matmul(softmax(matmul(q, transpose(k))), v)");
  const auto regions = RegionsOf(family, haswell);
  ASSERT_TRUE(regions.has_value());
  ExpectEveryMemberIsRight(family, *regions, haswell);
}

TEST(KeyRegions, OtherFamiliesAreTold) {
  const std::vector<std::string> others = {
      // Where keys lie hangs on how many there are.
      "kernel f[t = 2..9](q: f32[3,1,8], k: f32[3,t,8], v: f32[3,t,8] strides=[80,8,1]):\n"
      " return matmul(softmax(matmul(q, transpose(k))), v)",
      // More than the keys vary, or something else.
      "kernel f[t = 2..9](q: f32[t,8], k: f32[t,8], v: f32[t,8]):\n"
      " return matmul(softmax(matmul(q, transpose(k))), v)",
      "kernel f[t = 2..9](q: f32[2,t], k: f32[4,t], v: f32[4,8]):\n"
      " return matmul(softmax(matmul(q, transpose(k))), v)",
      "kernel f[t = 2..9](q: f32[2,8], k: f32[4,8], v: f32[4,t]):\n"
      " return matmul(softmax(matmul(q, transpose(k))), v)",
      "kernel f[t = 2..9](q: f32[t,8], w: f32[8,4]):\n return matmul(q, w)",
      // Means are divided by the number of keys.
      "kernel f[t = 2..9](q: f32[3,8], k: f32[t,8], w: f32[t], v: f32[t,8]):\n"
      " return matmul(rmsnorm(matmul(q, transpose(k)), w), v)",
      "kernel f[t = 2..9](q: f32[3,8], k: f32[t,8], v: f32[t,8]):\n"
      " s = matmul(q, transpose(k))\n return matmul(sub(s, reduce_mean(s, axis=1)), v)",
      "kernel f[t = 2..9](q: f32[2,t], w: f32[t,4]):\n return matmul(q, w)",
      // A sum over keys of what nothing computes.
      "kernel f[t = 2..9](q: f32[3,8], k: f32[t,8], v: f32[t,8], m: f32[1,t]):\n"
      " p = exp(add(matmul(q, transpose(k)), m))\n return div(matmul(p, v), reduce_sum(m, axis=1))"};
  for (const std::string& text : others) EXPECT_FALSE(DifferInKeys(MakeFamilyOfKeys(text).members)) << text;
  // These do, but there is no such plan.
  for (const char* text :
       {"kernel f[t = 2..9](x: f32[3,t] strides=[16,1]):\n return reduce_sum(x, axis=1)"}) {
    const Family family = MakeFamilyOfKeys(text);
    const bool regions = DifferInKeys(family.members) && RegionsOf(family, Avx2Target()).has_value();
    EXPECT_FALSE(regions) << text;
  }
}

}  // namespace
}  // namespace kirsch::testing
