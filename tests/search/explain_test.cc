#include "search/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memo/hash_memo.h"
#include "search/replay.h"
#include "spec/target/targets.h"
#include "spec/text/parser.h"
#include "spec/text/schedule.h"

namespace kirsch {
namespace {

class ExplainTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    placed_ = PlaceOperands(ParseSpec(GetParam())->spec, Residency::kWarm, model_.target());
    result_ = Search(placed_, model_, memo_, {});
    explanation_ = Explain(result_.impl, model_, memo_);
  }

  const CostModel model_{FindTarget("znver4", "")->target};
  HashMemo memo_;
  Spec placed_;
  SearchResult result_;
  Explanation explanation_;
};
INSTANTIATE_TEST_SUITE_P(, ExplainTest,
                         ::testing::Values("matmul f32 64x64x64", "matmul f32 2:20x50x17 rhs=col",
                                           "matmul f32 300x200x100 accumulate"));

TEST_P(ExplainTest, CostsAddUp) {
  EXPECT_EQ(explanation_.nodes[0].cost, result_.cost);
  double own = 0;
  for (const ExplainedNode& node : explanation_.nodes) own += node.weight * static_cast<double>(node.own);
  EXPECT_NEAR(own, static_cast<double>(result_.cost), 1e-6 * static_cast<double>(result_.cost));
  EXPECT_LE(explanation_.bound, result_.cost);
  EXPECT_LE(explanation_.peak_cycles, ToCycles(result_.cost));
}

TEST_P(ExplainTest, EveryMicrokernelHasABottleneckAndRunsEnough) {
  double flops = 0;
  for (const ExplainedNode& node : explanation_.nodes) {
    EXPECT_EQ(node.bottleneck.empty(), node.impl->decision.kind != RewriteKind::kMicrokernel);
    if (!node.bottleneck.empty()) flops += node.runs * Flops(node.impl->spec);
  }
  EXPECT_EQ(flops, Flops(placed_));
}

// The second best costs at least as much, and exactly what the search finds when it is pinned.
TEST_P(ExplainTest, RunnerUpOfTheRootIsWhatPinningItGives) {
  const ExplainedNode& root = explanation_.nodes[0];
  if (placed_.size[MatmulDims::kB] > 1) {
    EXPECT_EQ(root.runner_up.kind, RewriteKind::kNone) << "a batch has but one decision";
    return;
  }
  ASSERT_NE(root.runner_up.kind, RewriteKind::kNone);
  EXPECT_FALSE(root.runner_up == root.impl->decision);
  EXPECT_GE(root.runner_up_cost, root.cost);
  HashMemo fresh;
  absl::StatusOr<SearchResult> pinned = Replay(placed_, {root.runner_up, {}, {}}, "s", model_, fresh, {});
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  EXPECT_EQ(pinned->cost, root.runner_up_cost);
}

TEST_P(ExplainTest, NoCacheHoldsMoreThanItCan) {
  for (const ExplainedNode& node : explanation_.nodes)
    for (Level level : {Level::kL1, Level::kL2, Level::kL3})
      EXPECT_LE(node.bytes_held[static_cast<size_t>(level)], model_.target().at(level).bytes);
}

}  // namespace
}  // namespace kirsch
