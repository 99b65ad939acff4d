// SPDX-License-Identifier: Apache-2.0
// Members of a family shared a program that sums down columns of as many rows as the largest one has. It read
// beyond the others' parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/text/cat.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using SummedColumns = testing::CliTest;

TEST_F(SummedColumns, HaveAnyNumberOfRows) {
  const auto outcome = Run(Cat(
      "synth 'kernel a[t = 1..64](q: f32[12,1,64], k: f32[1,t,64]): return add(q, reduce_sum(k, axis=1))' "
      "--target haswell --no-db -o ",
      Path("sums.h")));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("verified: interpreter passed"));
}

}  // namespace
}  // namespace kirsch
