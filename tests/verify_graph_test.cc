// The ladder of graphs' kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan_testing.h"

namespace kirsch {
namespace {

constexpr char kLayer[] =
    "kernel layer(x: f32[5,24], w: f32[24,9], b: f32[9]):\n"
    "  return relu(add(matmul(x, w), b))";

VerifyReport Verified(const Plan& plan, const Target& target, const VerifyOptions& options) {
  return VerifyPlan(plan, target, testing::HeaderOf(plan, target), options);
}

TEST(VerifyPlanTest, WhatNothingHasRunIsUnverified) {
  const Target target = testing::Avx2Target();
  const auto found = testing::PlanOf(testing::GraphOf(kLayer), target, 1);
  ASSERT_TRUE(found.ok()) << found.status();
  VerifyOptions options;
  options.host_features = {};
  const VerifyReport report = Verified(found->plan, target, options);
  EXPECT_EQ(report.verdict, Verdict::kUnverified);
  EXPECT_FALSE(report.ok);
}

// A target may have more than a kernel's code needs.
TEST(VerifyPlanTest, TheCodeDecidesWhatCanRun) {
  Target target = testing::Avx2Target();
  const auto found = testing::PlanOf(testing::GraphOf(kLayer), target, 1);
  ASSERT_TRUE(found.ok()) << found.status();
  target.features.push_back("avx512fp16");
  VerifyOptions options;
  options.host_features = {"avx2", "fma"};
  const VerifyReport report = Verified(found->plan, target, options);
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.first_mismatch;
}

}  // namespace
}  // namespace kirsch
