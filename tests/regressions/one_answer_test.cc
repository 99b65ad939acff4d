// SPDX-License-Identifier: Apache-2.0
// The same question, written as a shorthand and in the kernel language: a family of matmuls had other regions
// as a kernel, and then a self-test that took the kernel's sizes for those of a matmul.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "spec/language/kernel_file.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using OneAnswer = testing::CliTest;
using ::testing::HasSubstr;
using testing::Outcome;

TEST_F(OneAnswer, AFamilyOfMatmulsIsThatOfTheShorthand) {
  const auto kernel =
      ParseKernelFile("kernel mm[m = 1..9](x: f32[m,20], w: f32[20,30]):\n  return matmul(x, w)\n", "k");
  ASSERT_TRUE(kernel.ok());
  const KernelRequest& request = kernel->front();
  ASSERT_NE(request.family.specs(), nullptr);
  EXPECT_EQ(request.family.text(), "matmul f32 1..9x20x30");
  EXPECT_EQ(request.family.specs()->member(3).spec, ParseFamily("matmul f32 1..9x20x30")->member(3).spec);
  EXPECT_EQ(request.family.specs()->member(3).parameters.front().name, "x");
}

// A size may be called as any other dim of a matmul is.
TEST_F(OneAnswer, SizesHaveTheirOwnNames) {
  const char* const kKernels[] = {
      "kernel a[t = 1..6](x: f32[t,24], w: f32[24,40]):\n  return matmul(x, w)\n",
      "kernel b[n = 1..6](x: f32[n,24], w: f32[24,40]):\n  return matmul(x, w)\n",
      "kernel c[b = 4..9](x: f32[7,b], w: f32[b,40]):\n  return matmul(x, w)\n",
      "kernel d[out = 3..5](x: f32[7,24], w: f32[24,out]):\n  return matmul(x, w)\n",
      "kernel e[k = 2..4, m = 3..4](x: f32[k,24], w: f32[24,m]):\n  return matmul(x, w)\n",
  };
  for (const char* kernel : kKernels) {
    ASSERT_TRUE(WriteFile(Path("k.kirsch"), kernel).ok());
    const Outcome outcome =
        Run(Cat("synth -f ", Path("k.kirsch"), " --target haswell --no-db -o ", Path("k.h")));
    EXPECT_NE(outcome.code, 1) << kernel << outcome.err;
    EXPECT_NE(outcome.code, 2) << kernel << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("header passed")) << kernel << outcome.err;
  }
}

// A program whose operands wait further away than they might.
TEST_F(OneAnswer, AScheduleIsFollowedWhereItIsFrom) {
  const std::string spec =
      "'matmul bf16*bf16->f32 32x128x48 rhs=col' --target haswell --no-db --no-verify --emit schedule";
  const Outcome searched = Run(Cat("synth ", spec, " -o ", Path("s.txt")));
  ASSERT_EQ(searched.code, 0) << searched.err;
  const Outcome followed = Run(Cat("synth ", spec, " --schedule ", Path("s.txt")));
  ASSERT_EQ(followed.code, 0) << followed.err;
  EXPECT_EQ(followed.out, *ReadFile(Path("s.txt")));
}

}  // namespace
}  // namespace kirsch
