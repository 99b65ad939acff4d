// SPDX-License-Identifier: Apache-2.0
// A kernel on one line, as Python has it, was refused: "expected the end of the line".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "spec/language/kernel_file.h"

namespace kirsch {
namespace {

std::string TextOf(const std::string& text) {
  auto requests = ParseKernelFile(text, "k");
  if (!requests.ok()) return std::string(requests.status().message());
  std::string all;
  for (KernelRequest& request : *requests) {
    request.UseGraph();
    all += request.text();
  }
  return all;
}

TEST(OneLineKernel, IsTheKernelOfSeveralLines) {
  EXPECT_EQ(TextOf("kernel r(x: f32[8]): return relu(x)"), TextOf("kernel r(x: f32[8]):\n  return relu(x)"));
  const std::string lines = TextOf(
      "kernel mlp(x: f32[4,8], w: f32[8,6]) -> f32[4,6]:\n  y = matmul(x, w)\n  z = relu(y)\n  return "
      "exp(z)");
  EXPECT_EQ(TextOf("kernel mlp(x: f32[4,8], w: f32[8,6]) -> f32[4,6]: y = matmul(x, w); z = relu(y); return "
                   "exp(z);  # all of it"),
            lines);
  EXPECT_EQ(TextOf("kernel mlp(x: f32[4,8], w: f32[8,6]) -> f32[4,6]: y = matmul(x, w)\nz = relu(y);return "
                   "exp(z)"),
            lines);
}

TEST(OneLineKernel, MayBeFollowedByOthers) {
  EXPECT_EQ(
      TextOf("kernel r(x: f32[8]): return relu(x)\nkernel e(x: f32[8]): return exp(x)\nsoftmax f32 2x8"),
      TextOf("kernel r(x: f32[8]):\n return relu(x)\nkernel e(x: f32[8]):\n return exp(x)\nsoftmax f32 "
             "2x8"));
}

TEST(OneLineKernel, MayBeAFamilyOrASpec) {
  const std::string head =
      "kernel f[m = 1..8 mixture=1:0.7,8:0.3](x: f32[m,4], w: const f32[4,4]) -> f32[m,4]:";
  EXPECT_EQ(TextOf(head + " return matmul(x, w)"), TextOf(head + "\nreturn matmul(x, w)"));
  const auto spec = ParseKernelLine("kernel f(x: f32[3,4], w: f32[4,5]): return matmul(x, w)", "spec");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->name, "f");
  EXPECT_EQ(spec->text(), "matmul f32 3x4x5");
}

TEST(OneLineKernel, ErrorsHaveTheirPlace) {
  EXPECT_EQ(TextOf("kernel r(x: f32[8]): return relu(y)").substr(0, 37),
            "k:1:34: expected a value that is know");
  EXPECT_EQ(TextOf("kernel r(x: f32[8]): return relu(x); y = x"),
            "k:1:38: expected nothing after the return, got 'y = x'");
  EXPECT_EQ(TextOf("kernel r(x: f32[8]: return relu(x)"), "k:1:19: expected ')', got ':'");
  EXPECT_EQ(TextOf("kernel r(x: f32[8]) y = relu(x)"), "k:1:21: expected ':', got 'y'");
  EXPECT_EQ(TextOf("kernel r(x: f32[8]): y = relu(x)"), "k:1:22: expected a line 'return ...' in r");
}

}  // namespace
}  // namespace kirsch
