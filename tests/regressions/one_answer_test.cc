// SPDX-License-Identifier: Apache-2.0
// The same question, written as a shorthand and in the kernel language: a family of matmuls had other regions
// as a kernel, and then a self-test that took the kernel's sizes for those of a matmul; a convolution was a
// plan.
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

TEST_F(OneAnswer, AConvolutionIsThatOfTheShorthand) {
  struct Pair {
    std::string shorthand, kernel;
  };
  const Pair kPairs[] = {
      {"conv2d f32 2x3x9x8 filters=5 kernel=3x2 stride=2 layout=nhwc",
       "kernel c(x: f32[2,9,8,3], w: f32[3,2,3,5]): return conv2d(x, w, stride=2, layout=nhwc)"},
      {"conv2d f32 1x3x9x8 filters=5 kernel=3x2 dilation=2 layout=nchw const-filters",
       "kernel c(x: f32[1,3,9,8], w: const f32[5,3,3,2]): return conv2d(x, w, dilation=2)"},
      {"conv2d f32 2x3x9x8 filters=5 kernel=3x3 layout=nhwc epilogue=add:n,relu",
       "kernel c(x: f32[2,9,8,3], w: f32[3,3,3,5], b: f32[5]): return relu(add(conv2d(x, w, layout=nhwc), "
       "b))"},
      {"conv2d f32 2x3x9x8 filters=5 kernel=3x3 layout=nhwc epilogue=mul:m,add:mn",
       "kernel c(x: f32[2,9,8,3], w: f32[3,3,3,5], p: f32[2,7,6,1], r: f32[2,7,6,5]): "
       "y = conv2d(x, w, layout=nhwc); return add(mul(y, p), r)"},
      {"conv2d f32 1x3x9x8 filters=5 kernel=3x3 layout=nchw epilogue=add:m,mul:n,max:scalar",
       "kernel c(x: f32[1,3,9,8], w: f32[5,3,3,3], b: f32[5,1,1], p: f32[1,7,6], s: f32[1]): "
       "return max(mul(add(conv2d(x, w), b), p), s)"},
      {"conv2d f32*f32->bf16 2x3x9x8 filters=5 kernel=1x1 layout=nhwc epilogue=mul:1",
       "kernel c(x: f32[2,9,8,3], w: f32[1,1,3,5]): return cast(conv2d(x, w, layout=nhwc), bf16)"},
  };
  for (const auto& [shorthand, text] : kPairs) {
    const auto kernel = ParseKernelLine(text, "k");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    ASSERT_NE(kernel->family.specs(), nullptr) << text;
    const ParsedSpec asked = kernel->family.specs()->member(0);
    const auto same = ParseSpec(shorthand);
    ASSERT_TRUE(same.ok()) << same.status();
    EXPECT_EQ(asked.spec, same->spec) << text;
    EXPECT_EQ(asked.swapped, same->swapped) << text;
    EXPECT_EQ(asked.text, same->text) << text;
    ASSERT_EQ(asked.parameters.size(), same->parameters.size());
    for (size_t i = 0; i < asked.parameters.size(); ++i)
      EXPECT_EQ(asked.parameters[i].operand, same->parameters[i].operand) << text << i;
    EXPECT_EQ(asked.parameters[0].name, "x");
    EXPECT_EQ(asked.parameters[1].name, "w");
  }
  for (const char* text :
       {"kernel c(x: f32[2,3,9,8], w: f32[5,3,3,3]): return conv2d(x, w)",
        "kernel c(x: f32[1,3,9,8], w: f32[5,3,3,3]): return conv2d(x, w, pad=1)",
        "kernel c(x: const f32[1,3,9,8], w: f32[5,3,3,3]): return conv2d(x, w)",
        "kernel c(x: f32[1,3,9,8], w: f32[5,3,3,3], v: f32[4,5,1,1]): return conv2d(conv2d(x, w), v)"})
    EXPECT_EQ(ParseKernelLine(text, "k")->family.specs(), nullptr) << text;
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
