// SPDX-License-Identifier: Apache-2.0
#include "search/sampling/draw_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "search/sampling/draw_programs.h"
#include "spec/language/plan_schedule.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

const char* const kGraphs[] = {
    "softmax f32 16x200",
    "attention f32 heads=2 tokens=40 dim=16",
    "conv2d f32 1x8x12x12 filters=16 kernel=3x3 pad=1 layout=nhwc",
    ("kernel mlp(x: f32[20,32], w1: f32[32,48], b: f32[48], w2: f32[48,24]):\n"
     " h = gelu(add(matmul(x, w1), b))\n return matmul(h, w2)"),
};

std::vector<std::string> SchedulesOf(const std::vector<Plan>& plans) {
  std::vector<std::string> schedules;
  for (const Plan& plan : plans) schedules.push_back(PrintPlanSchedule(plan));
  return schedules;
}

TEST(DrawPlansTest, DrawsDifferentPlansWithinTheirBudgets) {
  const CostModel model(Avx2Target());
  for (const char* text : kGraphs) {
    SCOPED_TRACE(text);
    const Graph graph = GraphOf(text);
    HashMemo memo;
    const auto plans = DrawPlans(graph, "test", model, memo, {}, 11, 5);
    ASSERT_TRUE(plans.ok()) << plans.status();
    EXPECT_EQ(plans->size(), 11u);
    EXPECT_DOUBLE_EQ(plans->front().cycles, PlanOf(graph, model.target(), 1)->plan.cycles);
    for (const Plan& plan : *plans) {
      EXPECT_GE(plan.cycles, plans->front().cycles * (1 - 1e-9));
      EXPECT_LE(plan.cycles, plans->front().cycles * static_cast<double>(kFarthestDrawn));
    }
    const std::vector<std::string> schedules = SchedulesOf(*plans);
    EXPECT_EQ(std::set<std::string>(schedules.begin(), schedules.end()).size(), schedules.size());
  }
}

TEST(DrawPlansTest, DependsOnTheSeedAlone) {
  const CostModel model(Avx2Target());
  const Graph graph = GraphOf(kGraphs[3]);
  HashMemo memo, used;
  const std::vector<std::string> once = SchedulesOf(*DrawPlans(graph, "test", model, memo, {}, 9, 1));
  EXPECT_EQ(SchedulesOf(*DrawPlans(graph, "test", model, used, {}, 9, 1)), once);
  EXPECT_EQ(SchedulesOf(*DrawPlans(graph, "test", model, used, {}, 9, 1)), once);
  EXPECT_NE(SchedulesOf(*DrawPlans(graph, "test", model, used, {}, 9, 2)), once);
}

TEST(DrawPlansTest, PlansComputeTheirGraph) {
  const Target target = Avx2Target();
  const CostModel model(target);
  for (const char* text : kGraphs) {
    const Graph graph = GraphOf(text);
    HashMemo memo;
    const auto plans = DrawPlans(graph, "test", model, memo, {}, 9, 3);
    ASSERT_TRUE(plans.ok()) << plans.status();
    for (const Plan& plan : *plans) EXPECT_TRUE(VerifyPlan(plan, target).ok) << PrintPlanSchedule(plan);
  }
}

}  // namespace
}  // namespace kirsch::testing
