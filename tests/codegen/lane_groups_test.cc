// SPDX-License-Identifier: Apache-2.0
// Convolutions whose groups are lanes of vectors are right in each way that there is, whatever it costs: with
// all sizes of groups, several of a vector and of several vectors, strides, dilations, pads, images.
#include <gtest/gtest.h>

#include <string>

#include "spec/text/cat.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

TEST_P(PlanTest, LanesOfGroupsAreRightInEachWay) {
  int by_lanes = 0, number = 0;
  for (const int group : {2, 4, 8, 16})
    for (const char* options :
         {"kernel=3x3 pad=1", "kernel=3x3", "kernel=1x1", "kernel=3x2 stride=2 pad=0,1,1,0",
          "kernel=2x3 dilation=2 pad=2", "kernel=3x3 pad=2 dilation=1x3", "kernel=2x3 pad=3 dilation=3x1",
          "kernel=1x9 pad=0,4,0,4", "kernel=3x3 pad=1 epilogue=add:n,relu"}) {
      const int groups = ++number % 2 == 0 ? 3 : 5, channels = group * groups;
      const std::string text = Cat("conv2d f32 2x", channels, "x6x9 filters=", channels, " ", options,
                                   " groups=", groups, " layout=nhwc");
      const Graph graph = GraphOf(text);
      for (const char* rewrite : {"lanes", "bands", "parts"})
        for (const Candidate& candidate : FindCandidates(graph, target_, rewrite)) {
          const VerifyReport report = VerifyPlan(PlanBy(graph, candidate, target_), target_);
          EXPECT_TRUE(report.ok) << text << " by " << rewrite << ": " << report.first_mismatch;
          ++by_lanes;
        }
    }
  EXPECT_GE(by_lanes, 40);
}

INSTANTIATE_TEST_SUITE_P(Isa, PlanTest, ::testing::Values(Avx2Target(), Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

// Vectors are whole groups, and groups make no more filters than they have channels.
TEST(LaneGroupsTest, DivideVectors) {
  const auto by_lanes = [](int channels, int filters, const char* layout,
                           const Target& target = Avx2Target()) {
    const Graph graph = GraphOf(Cat("conv2d f32 1x", 4 * channels, "x5x5 filters=", 4 * filters,
                                    " kernel=3x3 groups=4 layout=", layout));
    return !FindCandidates(graph, target, "lanes").empty();
  };
  EXPECT_TRUE(by_lanes(2, 2, "nhwc") && by_lanes(4, 4, "nhwc") && by_lanes(8, 8, "nhwc"));
  for (const int channels : {1, 3, 5, 16}) EXPECT_FALSE(by_lanes(channels, channels, "nhwc"));
  EXPECT_TRUE(by_lanes(16, 16, "nhwc", Avx512Target()));
  EXPECT_FALSE(by_lanes(4, 8, "nhwc"));
  EXPECT_FALSE(by_lanes(4, 4, "nchw"));
}

}  // namespace
}  // namespace kirsch::testing
