// SPDX-License-Identifier: Apache-2.0
// Which program is the fastest, of made-up timings.
#include "bench/harness/fastest.h"

#include <gtest/gtest.h>

namespace kirsch {
namespace {

// Nine samples around `cycles`, `noise` (a fraction) apart from the first to the last.
Trial Around(double cycles, double noise) {
  Trial trial;
  for (int i = -4; i <= 4; ++i) {
    trial.cycles.push_back(cycles * (1 + noise * i / 8));
    trial.seconds.push_back(trial.cycles.back() / 3e9);
  }
  return trial;
}

TEST(FastestTest, FasterBeyondNoiseWins) {
  const Fastest fastest =
      FindFastest({Around(1000, 0.02), Around(900, 0.02), Around(850, 0.02), Around(1200, 0)});
  EXPECT_EQ(fastest.program, 2u);
  EXPECT_FALSE(fastest.noise_decides);
}

TEST(FastestTest, WithinNoiseTheFirstStays) {
  const Fastest fastest = FindFastest({Around(1000, 0.2), Around(970, 0.2)});
  EXPECT_EQ(fastest.program, 0u);
  EXPECT_TRUE(fastest.noise_decides);
  EXPECT_EQ(FindFastest({Around(1000, 0), Around(997, 0)}).program, 0u) << "less than half a percent";
}

TEST(FastestTest, TheFirstMayBeTheFastest) {
  const Fastest fastest = FindFastest({Around(1000, 0.02), Around(1010, 0.02)});
  EXPECT_EQ(fastest.program, 0u);
  EXPECT_FALSE(fastest.noise_decides);
}

TEST(FastestTest, WhatIsWrongOrUnmeasuredDoesNotCount) {
  Trial wrong = Around(500, 0);
  wrong.correct = false;
  EXPECT_EQ(FindFastest({Around(1000, 0), wrong, Trial()}).program, 0u);
  EXPECT_EQ(FindFastest({Trial(), Around(1000, 0)}).program, 0u);
  EXPECT_EQ(FindFastest({}).program, 0u);
}

TEST(FastestTest, AWrongResultIsABug) {
  Trial wrong = Around(500, 0);
  wrong.correct = false;
  EXPECT_TRUE(CheckResults("m", {"one", "two"}, {Around(1000, 0), Trial()}).ok());
  const absl::Status status = CheckResults("m", {"one", "two", "three"}, {Around(1000, 0), wrong, wrong});
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_EQ(
      status.message(),
      "bug: 2 of 3 programs of 'm' compute a wrong result; nothing is kept; the schedule of the first:\ntwo");
}

}  // namespace
}  // namespace kirsch
