// SPDX-License-Identifier: Apache-2.0
// How often sizes count for the packing that a family's members share, if nobody says how often they come.
#include "synthesis/shared_packing.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "spec/language/varying_size.h"

namespace kirsch {
namespace {

TEST(WeightsWithoutMixture, SpreadOverTheSolvedSizes) {
  const VaryingSize size{"m", {1, 2, 3, 4}};
  const std::vector<double> weights = WeightsWithoutMixture(size, {true, false, true, false});
  EXPECT_DOUBLE_EQ(weights[0], 1 + 0.5 / 2);
  EXPECT_DOUBLE_EQ(weights[2], 0.5 / 2 + 1.0 / 3 + 1.0 / 4);
  EXPECT_EQ(weights[1] + weights[3], 0);
}

// Together the values of a sample count as all sizes do that they stand for.
TEST(WeightsWithoutMixture, OfASampleAreThoseOfAllItsSizes) {
  std::vector<VaryingSize> sizes(1);
  constexpr uint32_t kMost = 1'000'000;
  for (uint32_t value = 1; value <= kMost; ++value) sizes[0].values.push_back(value);
  double all = 0, large = 0;
  for (const uint32_t value : sizes[0].values) (value > 1000 ? large : all) += 1.0 / value;
  SampleSizes(&sizes, {{}});
  ASSERT_TRUE(sizes[0].sampled);
  const std::vector<double> weights =
      WeightsWithoutMixture(sizes[0], std::vector<bool>(sizes[0].values.size(), true));
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), all + large, 1e-3 * all);
  double of_large = 0;
  for (size_t i = 0; i < weights.size(); ++i)
    if (sizes[0].values[i] > 1000) of_large += weights[i];
  EXPECT_NEAR(of_large, large, 0.02 * large);
}

}  // namespace
}  // namespace kirsch
