// SPDX-License-Identifier: Apache-2.0
#include "search/explain/explain_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "memo/hash_memo.h"
#include "search/graph/plan_search.h"
#include "spec/language/graph_shorthand.h"
#include "spec/target/targets.h"

namespace kirsch {
namespace {

struct Case {
  const char* spec;
  int threads;
};

class ExplainPlanTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const absl::StatusOr<Graph> graph = ParseGraphShorthand({GetParam().spec, {1, 1}}, "spec");
    ASSERT_TRUE(graph.ok()) << graph.status();
    PlanOptions options;
    options.threads = GetParam().threads;
    SearchStages(model_, memo_, &options);
    absl::StatusOr<PlanResult> result = Require(SearchPlan(*graph, "spec", model_, options));
    ASSERT_TRUE(result.ok()) << result.status();
    plan_ = result->plan;
    explained_ = ExplainPlan(plan_, model_);
  }

  const CostModel model_{FindTarget("znver4", "")->target};
  HashMemo memo_;
  Plan plan_;
  ExplainedPlan explained_;
};
INSTANTIATE_TEST_SUITE_P(, ExplainPlanTest,
                         ::testing::Values(Case{"attention f32 heads=4 tokens=96 dim=32", 1},
                                           Case{"attention f32 heads=3 tokens=96 dim=32", 2},
                                           Case{"softmax f32 100x1000", 1}, Case{"softmax f32 100x1000", 2},
                                           Case{"conv2d f32 1x16x14x14 filters=16 kernel=3x3 pad=1", 2}));

TEST_P(ExplainPlanTest, StagesTakeTheTimeOfTheirNests) {
  std::map<int, double> cycles;
  for (const ExplainedStage& stage : explained_.stages)
    cycles[stage.nest] += stage.weight * stage.stage->cycles;
  ASSERT_EQ(cycles.size(), plan_.nests.size());
  for (const auto& [nest, sum] : cycles)
    EXPECT_NEAR(sum, plan_.nests[static_cast<size_t>(nest)].cycles, 1e-9 * sum);
}

TEST_P(ExplainPlanTest, StagesHaveWhatTheirKindHas) {
  for (const ExplainedStage& stage : explained_.stages) {
    EXPECT_EQ(stage.nodes.empty(), stage.stage->kind != StageKind::kContraction);
    EXPECT_EQ(stage.passes.empty(), stage.stage->kind != StageKind::kRows);
    EXPECT_GE(stage.runs, stage.weight);
  }
}

// What waits in L2 comes from there, and the result goes back.
TEST_P(ExplainPlanTest, SomethingComesInAndTheResultGoesBack) {
  const auto result = static_cast<double>(plan_.graph.TypeOf(plan_.graph.results.front()).bytes());
  EXPECT_GE(explained_.traffic.read[Index(Level::kL2)], result);
  EXPECT_GE(explained_.traffic.written[Index(Level::kL2)], result);
}

}  // namespace
}  // namespace kirsch
