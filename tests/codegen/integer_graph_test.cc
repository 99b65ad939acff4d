// SPDX-License-Identifier: Apache-2.0
// Elementwise operations on integers, outside of matmuls: what they mean, in every engine, and how they are
// fused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "spec/meaning/interpreter.h"
#include "spec/program/plan_program.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int32_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();

class IntegerGraphTest : public ::testing::TestWithParam<Target> {
 protected:
  // Of parameters and a result of s32, interpreted.
  std::vector<int32_t> Run(const std::string& text, std::vector<std::vector<int32_t>> parameters) {
    const auto result = PlanOf(GraphOf(text), GetParam(), 1);
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return {};
    const Program program = WriteProgram(result->plan, GetParam());
    std::vector<void*> callers(program.buffers.size());
    for (size_t i = 0; i < parameters.size(); ++i) callers[i] = parameters[i].data();
    const Graph& graph = result->plan.graph;
    std::vector<int32_t> out(static_cast<size_t>(graph.TypeOf(graph.results.front()).elements()));
    callers[parameters.size()] = out.data();
    EXPECT_EQ(Interpret(program, callers, 1), absl::OkStatus());
    EXPECT_TRUE(VerifyPlan(result->plan, GetParam(), true).ok);
    return out;
  }
};

TEST_P(IntegerGraphTest, ArithmeticIsModuloTwoToTheThirtyTwo) {
  const auto binary = [&](const std::string& op, std::vector<int32_t> a, std::vector<int32_t> b) {
    return Run("kernel sums(a: s32[3], b: s32[3]):\n return " + op + "(a, b)", {std::move(a), std::move(b)});
  };
  EXPECT_THAT(binary("add", {kMost, kLeast, 5}, {1, -1, -7}), ElementsAre(kLeast, kMost, -2));
  EXPECT_THAT(binary("sub", {kMost, kLeast, 5}, {-1, 1, -7}), ElementsAre(kLeast, kMost, 12));
  EXPECT_THAT(binary("mul", {65536, 123456789, -3}, {65536, 10, 7}), ElementsAre(0, 1234567890, -21));
  EXPECT_THAT(binary("max", {16777217, kLeast, -1}, {16777216, 0, 1}), ElementsAre(16777217, 0, 1));
  EXPECT_THAT(binary("min", {16777217, kLeast, -1}, {16777216, 0, 1}), ElementsAre(16777216, kLeast, -1));
  EXPECT_THAT(Run("kernel sums(a: s32[3]):\n return neg(a)", {{kLeast, kMost, 16777217}}),
              ElementsAre(kLeast, -kMost, -16777217));
  EXPECT_THAT(Run("kernel sums(a: s32[3]):\n return relu(sub(a, 16777217))", {{kMost, 16777218, kLeast}}),
              ElementsAre(kMost - 16777217, 1, kMost - 16777216));
}

TEST_P(IntegerGraphTest, AreRightInEveryEngine) {
  for (const char* text :
       {"kernel sums(a: s32[64,100], b: s32[64,100]) -> s32[64,100]:\n return relu(add(a, b))",
        "kernel sums(a: u8[33,65], b: s8[33,65], c: s32[65]) -> s8[33,65]:\n"
        " return cast(max(add(neg(mul(sub(a, 3), b)), c), -100), s8)",
        "kernel sums(a: s16[2,5,17], b: s32[5,1], c: s32[2,1,17]) -> s16[2,5,17]:\n"
        " return cast(min(mul(add(a, b), c), 1000), s16)",
        "kernel sums(a: s32[7,5]) -> u8[7,5]:\n return cast(a, u8)",
        "kernel sums(a: s8[7,5]) -> bf16[7,5]:\n return cast(mul(a, a), bf16)",
        "kernel sums(a: f32[33,65], s: f32[65]) -> s32[33,65]:\n q = cast(mul(a, s), s8)\n"
        " return add(mul(q, q), cast(a, s32))",
        "kernel sums(a: s32[33,40]) -> f32[33,40]:\n"
        " return softmax(mul(cast(max(min(a, 100), -100), f32), 0.1))",
        "kernel sums(a: s8[32,64], w: s8[64,48], v: s8[64,48], b: s32[48]) -> s32[32,48]:\n"
        " return add(add(matmul(a, w), matmul(a, v)), b)",
        "kernel sums(a: u8[32,64], c: u8[32,64], w: s8[64,48], s: f32[48]) -> u8[32,48]:\n"
        " x = relu(sub(matmul(a, w), matmul(c, w)))\n return cast(mul(cast(x, f32), s), u8)",
        "kernel sums(a: s32[16,24], b: s32[24], w: s32[24,40]) -> s32[16,40]:\n"
        " return matmul(max(add(a, b), 3), w)",
        "kernel sums(a: s32[16,24], w: s8[24,40], z: s8[40]) -> s32[16,40]:\n"
        " return matmul(a, sub(w, z))",
        "kernel sums(a: s32[40,24]) -> s32[24,40]:\n return mul(transpose(a), 3)"})
    for (int threads : {1, 2}) Verified(text, WithFreeThreads(GetParam()), threads, threads == 1);
}

// A chain is one pass; a value that is wanted as an integer and as a float is read once.
TEST_P(IntegerGraphTest, ChainsAreFused) {
  const Plan plan = VerifiedPlan(
      "kernel sums(a: s32[64,100], b: s32[100]) -> f32[64,100]:\n"
      " x = add(a, b)\n return mul(cast(relu(mul(x, a)), f32), cast(a, f32))",
      GetParam());
  ASSERT_EQ(plan.nests.size(), 1u);
  ASSERT_EQ(plan.nests[0].stages.size(), 1u);
  EXPECT_EQ(plan.nests[0].stages[0].program.inputs.size(), 2u);
}

// Products of s32 cost what the target says of their instruction.
TEST_P(IntegerGraphTest, ProductsCostMoreThanSums) {
  const auto cycles = [&](const std::string& op, const Target& target) {
    const std::string text = "kernel chain(a: s32[64,64]):\n x = " + op + "(a, a)\n y = " + op +
                             "(x, a)\n return " + op + "(y, x)";
    const auto result = PlanOf(GraphOf(text), target, 1);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->plan.cycles : 0;
  };
  Target slow = GetParam();
  for (VectorUnit& unit : slow.vectors)
    unit.rates[static_cast<size_t>(Arithmetic::kMultiplyAdd)] = {.per_cycle = 0.05, .latency = 10};
  EXPECT_GT(cycles("mul", slow), cycles("add", slow));
  EXPECT_GT(cycles("mul", slow), cycles("mul", GetParam()));
  EXPECT_EQ(cycles("add", slow), cycles("add", GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Isa, IntegerGraphTest, ::testing::Values(Avx2Target(), Avx512Target()),
                         [](const auto& info) { return info.index == 0 ? "Avx2" : "Avx512"; });

TEST(IntegerGraph, WhatHasNoMeaningIsRefused) {
  const auto refused = [](const std::string& value) {
    const std::string text = "kernel sums(a: s32[3,4], b: f32[3,4]):\n return " + value;
    return std::string(ParseGraph(Split({text, {}}, '\n'), "test").status().message());
  };
  EXPECT_EQ(refused("exp(a)"), "test:1:48: expected floats, got s32[3,4]");
  EXPECT_EQ(refused("div(a, a)"),
            "test:1:48: expected tensors of floats whose shapes go together, got s32[3,4] and s32[3,4]");
  EXPECT_EQ(refused("add(a, b)"),
            "test:1:48: expected tensors of one type whose shapes go together, got s32[3,4] and f32[3,4]");
  for (const char* number : {"0.5", "1e3", "2147483648", "-2147483649"})
    EXPECT_EQ(refused(std::string("mul(") + number + ", a)"),
              std::string("test:1:48: expected an s32 beside integers, got ") + number + " and s32[3,4]");
}

}  // namespace
}  // namespace kirsch::testing
