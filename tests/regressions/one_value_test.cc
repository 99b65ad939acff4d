// SPDX-License-Identifier: Apache-2.0
// A value that was used twice was two: one use of a product was contracted into a multiply-add, the other was
// not.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "spec/text/cat.h"
#include "tests/testing/called_kernel.h"

namespace kirsch::testing {
namespace {

constexpr size_t kRows = 7, kColumns = 37;

Elements Wave(size_t count, float scale) {
  Elements elements;
  for (size_t i = 0; i < count; ++i) elements.push_back(scale * std::sin(1.7f * static_cast<float>(i + 1)));
  return elements;
}

// The statements make v of x, w and s.
Elements With(const std::string& statements, const std::string& result) {
  const std::string text =
      Cat("kernel a(x: f32[7,37], w: f32[7,37], s: f32[37,37]):\n", statements, "  return ", result, "\n");
  return Called(text,
                {Wave(kRows * kColumns, 3), Wave(kRows * kColumns, 0.7f), Wave(kColumns * kColumns, 1)});
}

const std::vector<std::string> kValues = {
    "  v = reduce_mean(x, axis=0)\n",
    "  v = reduce_mean(x, axis=1)\n",
    "  v = mul(x, w)\n",
    "  v = mul(matmul(x, s), 0.3)\n",
    "  v = mul(mul(x, w), sigmoid(x))\n",
    "  v = softmax(x)\n",
    "  v = leaky_relu(x, slope=0.3)\n",
    "  u = mul(x, w)\n  v = add(u, mul(u, x))\n",
};

TEST(OneValue, IsItselfWhereverItIsUsed) {
  for (const std::string& v : kValues) {
    for (float x : With(v, "sub(v, v)")) ASSERT_EQ(x, 0) << v;
    for (float x : With(v, "div(v, v)")) ASSERT_EQ(x, 1) << v;
    EXPECT_EQ(With(v, "max(v, v)"), With(v, "add(v, 0)")) << v;
  }
}

// By way of another value that has it in it.
TEST(OneValue, IsItselfInASumOfItself) {
  for (float x : With("  v = mul(x, w)\n  u = add(v, v)\n", "sub(u, mul(v, 2))")) ASSERT_EQ(x, 0);
  for (float x : With("  v = mul(x, w)\n  u = max(v, -100)\n", "sub(v, u)")) ASSERT_EQ(x, 0);
}

}  // namespace
}  // namespace kirsch::testing
