// SPDX-License-Identifier: Apache-2.0
// Memory grew with the operands of a kernel that is only written, or with the number of programs asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

class MemoryTest : public testing::CliTest {};

class LittleMemoryTest : public MemoryTest {
 protected:
  void SetUp() override {
    MemoryTest::SetUp();
#ifdef KIRSCH_SANITIZED
    GTEST_SKIP() << "sanitizers want more memory than the limit";
#endif
  }

  // With 2 GB of address space.
  testing::Outcome RunInLittle(const std::string& arguments) const {
    return testing::RunKirsch("ulimit -v 2000000 &&", arguments, directory_.string());
  }
};

TEST_F(LittleMemoryTest, OfAKernelForLargeTensors) {
  const testing::Outcome outcome =
      RunInLittle("synth 'transpose f32 16384x16384' --target haswell --no-db --no-verify -o " + Path("t.h"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

// The largest member takes 33 GB. It is not run, but its bytes had owners, and the self-test had its memory.
TEST_F(LittleMemoryTest, OfTheLargestMemberOfAFamily) {
  const testing::Outcome outcome =
      RunInLittle("synth 'rmsnorm f32 1..100|2000|1000000x4096' --target haswell --no-db -o " + Path("r.h"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

// Of two members the self-test calls the smaller one, as the larger takes 3 GB.
TEST_F(LittleMemoryTest, OfTheSelfTestOfTwoMembers) {
  const testing::Outcome outcome =
      RunInLittle("synth 'rmsnorm f32 2|100000x4096' --target haswell --no-db -o " + Path("r.h"));
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("unverified, in part"));
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("header passed"));
}

TEST_F(MemoryTest, OfVeryManyPrograms) {
  ExpectRefused("explain 'matmul f32 16x16x16' --best 10000 --target haswell --no-db", "--best: ");
}

}  // namespace
}  // namespace kirsch
