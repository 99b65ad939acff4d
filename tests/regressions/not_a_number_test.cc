// SPDX-License-Identifier: Apache-2.0
// Operations that lost a NaN, or the sign of a zero, on the way.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "spec/operation.h"
#include "spec/text/cat.h"
#include "tests/testing/called_kernel.h"

namespace kirsch::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
const Elements kSpecial = {kNan, kInf, -kInf, 0.0f, -0.0f, 1.5f, -1.5f, 1e-38f, -3e38f, 200, -200};

std::string Vector(size_t count) { return Cat("f32[", count, "]"); }

// On their own, and as a step of an epilogue: the matmul by a matrix of one element, a one, is what it was.
std::vector<Elements> Both(const std::string& call, const Elements& x) {
  const std::string n = Cat(x.size());
  std::vector<Elements> results;
  for (const char* host : kHosts) {
    results.push_back(Called(Cat("kernel a(x: f32[1,", n, "]):\n  return ", call, "\n"), {x}, host));
    results.push_back(
        Called(Cat("kernel a(y: f32[", n, ",1], w: f32[1,1]):\n  x = matmul(y, w)\n  return ", call, "\n"),
               {x, {1}}, host));
  }
  return results;
}

void ExpectMeaning(const Elements& results, const Elements& x, double y, Operation op) {
  ASSERT_EQ(results.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const auto expected = static_cast<float>(Info(op).meaning(x[i], y));
    if (std::isnan(expected) || std::isinf(expected) || expected == 0) {
      EXPECT_EQ(std::isnan(results[i]), std::isnan(expected)) << Name(op) << " of " << x[i];
      // A sum of -0 is 0, so a matmul loses the sign that rsqrt makes that of an infinity.
      const bool has_sign = !(x[i] == 0 && std::isinf(expected));
      if (!std::isnan(expected)) {
        EXPECT_EQ(has_sign ? results[i] : std::abs(results[i]), has_sign ? expected : std::abs(expected))
            << Name(op) << " of " << x[i];
      }
    } else {
      EXPECT_NEAR(results[i], expected, 1e-5 * std::abs(expected)) << Name(op) << " of " << x[i];
    }
    if (x[i] == 0 && !std::signbit(x[i]) && op == Operation::kLeakyRelu) {
      EXPECT_FALSE(std::signbit(results[i])) << x[i];
    }
  }
}

TEST(NotANumber, ComesOutOfEveryFunctionThatItGoesInto) {
  for (const OperationInfo& info : kOperations) {
    if (info.kind != OperationKind::kElementwise || info.arguments != 1) continue;
    for (const Elements& results : Both(Cat(info.name, "(x)"), kSpecial))
      ExpectMeaning(results, kSpecial, static_cast<double>(info.option.usual), info.op);
  }
}

TEST(NotANumber, ComesOutOfChoicesBesideANumber) {
  for (const Operation op : {Operation::kMax, Operation::kMin, Operation::kMaxNum, Operation::kMinNum})
    for (const Elements& results : Both(Cat(Name(op), "(x, 1)"), kSpecial))
      ExpectMeaning(results, kSpecial, 1, op);
}

TEST(NotANumber, ComesOutOfChoicesBesideAnInfinity) {
  for (const auto& [number, value] : {std::pair("inf", kInf), std::pair("-inf", -kInf)})
    for (const Operation op : {Operation::kMax, Operation::kMin, Operation::kAdd, Operation::kMul})
      for (const Elements& results : Both(Cat(Name(op), "(x, ", number, ")"), kSpecial))
        ExpectMeaning(results, kSpecial, value, op);
}

// Each special value with each.
struct Pairs {
  Pairs() {
    for (float a : kSpecial)
      for (float b : kSpecial) {
        x.push_back(a);
        y.push_back(b);
      }
  }
  Elements x, y;
};

TEST(NotANumber, ComesOutOfChoicesOnEitherSideAndMakesComparisonsFalse) {
  const auto& [x, y] = Pairs();
  const std::string n = Vector(x.size());
  for (const char* host : kHosts)
    for (const Operation op : {Operation::kMax, Operation::kMin, Operation::kMaxNum, Operation::kMinNum,
                               Operation::kLess, Operation::kLessEqual, Operation::kEqual}) {
      const Elements results =
          Called(Cat("kernel a(x: ", n, ", y: ", n, "):\n  return ", Name(op), "(x, y)\n"), {x, y}, host);
      for (size_t i = 0; i < x.size(); ++i) {
        const auto expected = static_cast<float>(Info(op).meaning(x[i], y[i]));
        EXPECT_EQ(std::isnan(results[i]), std::isnan(expected)) << Name(op) << " of " << x[i] << ", " << y[i];
        if (!std::isnan(expected)) {
          EXPECT_EQ(results[i], expected) << Name(op) << " of " << x[i] << ", " << y[i];
        }
      }
    }
}

// As C has them: also the sign of zeros and infinities.
TEST(NotANumber, IsPowersOfNegativeNumbersAndNotThoseOfOne) {
  auto [x, y] = Pairs();
  for (float base : {1.0f, -1.0f, -2.0f, -kInf, -0.0f, kNan})
    for (float exponent : {0.0f, -0.0f, 1.0f, -1.0f, 3.0f, -2.0f, 0.5f, 16777216.0f, kInf, -kInf, kNan}) {
      x.push_back(base);
      y.push_back(exponent);
    }
  const std::string n = Vector(x.size());
  for (const char* host : kHosts) {
    const Elements results =
        Called(Cat("kernel a(x: ", n, ", y: ", n, "):\n  return pow(x, y)\n"), {x, y}, host);
    for (size_t i = 0; i < x.size(); ++i) {
      const auto expected = static_cast<float>(std::pow(double{x[i]}, double{y[i]}));
      const auto what = Cat(x[i], "^", y[i], " on ", host);
      EXPECT_EQ(std::isnan(results[i]), std::isnan(expected)) << what;
      if (std::isnan(expected)) continue;
      EXPECT_EQ(std::signbit(results[i]), std::signbit(expected)) << what;
      if (std::isinf(expected) || expected == 0 || std::abs(expected) == 1) {
        EXPECT_EQ(results[i], expected) << what;
      } else {
        EXPECT_NEAR(results[i], expected, 1e-6 * std::abs(expected)) << what;
      }
    }
  }
}

// Bit by bit: also the sign of zeros.
TEST(NotANumber, IsSelectedAndSelectsTheFirst) {
  const auto& [x, y] = Pairs();
  const std::string n = Vector(x.size());
  for (const char* host : kHosts)
    for (float condition : kSpecial) {
      const Elements results =
          Called(Cat("kernel a(c: f32[], x: ", n, ", y: ", n, "):\n  return select(c, x, y)\n"),
                 {{condition}, x, y}, host);
      for (size_t i = 0; i < x.size(); ++i) {
        const float expected = condition == 0 ? y[i] : x[i];
        EXPECT_EQ(std::bit_cast<uint32_t>(results[i]), std::bit_cast<uint32_t>(expected))
            << condition << " ? " << x[i] << " : " << y[i];
      }
    }
}

// Wherever in the row, and the column, it is.
TEST(NotANumber, ComesOutOfReductions) {
  for (const char* reduction : {"reduce_max", "reduce_sum", "reduce_mean"})
    for (int axis : {0, 1})
      for (size_t place : {size_t{0}, size_t{20}, size_t{36}}) {
        Elements x(37 * 37, -3);
        x[place * 37 + place] = kNan;
        x[(place + 1) % 37 * 38] = reduction == std::string("reduce_max") ? -kInf : -3;
        const Elements results =
            Called(Cat("kernel a(x: f32[37,37]):\n  return ", reduction, "(x, axis=", axis, ")\n"), {x});
        for (size_t i = 0; i < results.size(); ++i)
          EXPECT_EQ(std::isnan(results[i]), i == place) << reduction << " " << axis << " " << i;
      }
  Elements infinite(64, -kInf);
  EXPECT_EQ(Called("kernel a(x: f32[1,64]):\n  return reduce_max(x, axis=1)\n", {infinite})[0], -kInf);
}

TEST(NotANumber, RowsWithoutKeysAreZeros) {
  constexpr size_t kQueries = 5;
  for (size_t keys : {size_t{8}, size_t{300}}) {
    const std::string text =
        Cat("kernel a(q: f32[5,16], k: f32[", keys, ",16], v: f32[", keys, ",16], mask: f32[5,", keys,
            "]):\n  return matmul(softmax(add(matmul(q, transpose(k)), mask)), v)\n");
    Elements mask(kQueries * keys, 0);
    for (size_t i = 0; i < keys; ++i) mask[2 * keys + i] = -kInf;
    mask[3 * keys] = -kInf;
    Elements queries(kQueries * 16, 0.1f);
    queries[4 * 16] = kNan;
    const Elements results = Called(text, {queries, Elements(keys * 16, 0.2f), Elements(keys * 16, 2), mask});
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(results[2 * 16 + i], 0) << keys;
      EXPECT_NEAR(results[3 * 16 + i], 2, 1e-5) << keys;
      EXPECT_TRUE(std::isnan(results[4 * 16 + i])) << keys;
    }
  }
  // A softmax by itself has no zeros to give.
  EXPECT_TRUE(std::isnan(Called("softmax f32 1x40", {Elements(40, -kInf)})[7]));
}

}  // namespace
}  // namespace kirsch::testing
