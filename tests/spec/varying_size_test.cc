// SPDX-License-Identifier: Apache-2.0
// Samples of the sizes of a family that has too many for all to be looked at.
#include "spec/language/varying_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "spec/language/family.h"
#include "spec/language/graph_family.h"
#include "spec/language/kernel_file.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

VaryingSize Range(uint32_t low, uint32_t high) {
  VaryingSize size{"m", std::vector<uint32_t>(high - low + 1)};
  std::iota(size.values.begin(), size.values.end(), low);
  return size;
}

TEST(SampleSizes, AllIsLookedAtWhereItIsNotTooMuch) {
  std::vector<VaryingSize> sizes = {Range(1, 64), Range(3, 66)};
  const std::vector<VaryingSize> before = sizes;
  SampleSizes(&sizes, {{}, {}});
  EXPECT_EQ(sizes, before);
  EXPECT_TRUE(CheckEachLookedAt(sizes).ok());
  EXPECT_EQ(CountServed(sizes), CountMembers(sizes));
}

// Ends, the least sizes and what is kept are in it; sizes that are no range stay.
TEST(SampleSizes, IsOfAllSizes) {
  std::mt19937_64 random(5);
  for (int time = 0; time < 200; ++time) {
    std::vector<VaryingSize> sizes;
    for (size_t i = 0; i < 1 + random() % 3; ++i) {
      const uint32_t low = 1 + static_cast<uint32_t>(random() % 200);
      sizes.push_back(Range(low, low + static_cast<uint32_t>(random() % 6000)));
    }
    sizes.push_back({"n", {2, 4, 8}});
    std::vector<std::vector<uint32_t>> kept(sizes.size());
    kept[0] = {sizes[0].values[random() % sizes[0].values.size()]};
    const std::vector<VaryingSize> before = sizes;
    SampleSizes(&sizes, kept);
    EXPECT_LE(CountMembers(sizes), kMostMembers);
    EXPECT_EQ(CountServed(sizes), CountServed(before));
    EXPECT_EQ(sizes.back(), before.back());
    EXPECT_THAT(sizes[0].values, IsSupersetOf(kept[0]));
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::vector<uint32_t>&values = sizes[i].values, &all = before[i].values;
      EXPECT_TRUE(std::is_sorted(values.begin(), values.end(), std::less_equal<uint32_t>()));
      EXPECT_EQ(values.front(), all.front());
      EXPECT_EQ(values.back(), all.back());
      EXPECT_EQ(sizes[i].sampled, values != all);
      if (!sizes[i].sampled) continue;
      EXPECT_GE(values.size(), 8);
      for (size_t j = 0; j < values.size() / 2; ++j) EXPECT_EQ(values[j], all[j]);
      for (size_t j = 1; j < values.size(); ++j) {
        EXPECT_EQ(sizes[i].LeastServedAs(values[j]), values[j - 1] + 1);
        if (values.size() < 64) continue;
        EXPECT_LE(values[j], 1.5 * values[j - 1] + 2);  // no gap is much wider than others
      }
    }
  }
}

TEST(SampleSizes, AFamilySaysHowManyThereAre) {
  const absl::StatusOr<SpecFamily> family = ParseFamily("matmul f32 1..512x1..512x256");
  ASSERT_TRUE(family.ok());
  EXPECT_EQ(family->text(), "matmul f32 1..512x1..512x256");
  EXPECT_EQ(family->count(), 64 * 64);
  EXPECT_EQ(CountServed(family->varying_sizes()), 512 * 512);
  EXPECT_THAT(std::string(CheckEachLookedAt(family->varying_sizes()).message()), HasSubstr("got 262144"));
  EXPECT_FALSE(CheckEachLookedAt(family->varying_sizes(), {0}).ok());
  EXPECT_TRUE(CheckEachLookedAt(family->varying_sizes(), {0, 1}).ok());
  EXPECT_EQ(family->MemberOf(std::vector<uint32_t>{333, 77}).text, "matmul f32 333x77x256");
}

// However it is written; and what is not looked at is what it is alone.
TEST(SampleSizes, OfGraphsToo) {
  for (const char* text :
       {"kernel f[m = 1..9000, k = 5](x: f32[m,k]): return relu(x)", "softmax f32 1..9000x5"}) {
    const absl::StatusOr<std::vector<KernelRequest>> requests = ParseKernelFile(text, "f");
    ASSERT_TRUE(requests.ok()) << requests.status();
    const GraphFamily* const family = requests->front().family.graphs();
    ASSERT_NE(family, nullptr) << text;
    ASSERT_EQ(family->sizes().size(), 1);
    EXPECT_TRUE(family->sizes().front().sampled);
    EXPECT_EQ(family->count(), std::ssize(family->sizes().front().values));
    for (uint32_t rows : {8999, 4711})
      EXPECT_EQ(family->MemberOf({rows})->at(0).type.dims, (std::vector<uint32_t>{rows, 5})) << text;
  }
}

TEST(SampleSizes, AMixtureStays) {
  const absl::StatusOr<SpecFamily> family =
      ParseFamily("matmul f32 1..9000x16x16 const-rhs mixture=1:0.5,8191:0.5");
  ASSERT_TRUE(family.ok()) << family.status();
  EXPECT_THAT(family->varying_sizes().front().values, ::testing::Contains(8191));
}

}  // namespace
}  // namespace kirsch
