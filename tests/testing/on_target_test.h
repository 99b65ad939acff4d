// SPDX-License-Identifier: Apache-2.0
// Tests of machine code for the target that is their parameter; skipped where the host can't run it.
#ifndef KIRSCH_TESTS_TESTING_ON_TARGET_TEST_H_
#define KIRSCH_TESTS_TESTING_ON_TARGET_TEST_H_

#include <gtest/gtest.h>

#include <string>

#include "codegen/llvm/host_cpu.h"
#include "spec/target.h"

namespace kirsch::testing {

class OnTargetTest : public ::testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    const std::string missing = MissingOnHost(GetParam().features);
    if (!missing.empty()) GTEST_SKIP() << "this host lacks " << missing;
  }

  const Target target_ = GetParam();
};

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_ON_TARGET_TEST_H_
