// SPDX-License-Identifier: Apache-2.0
#include "search/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "memo/hash_memo.h"
#include "search/solver/replay.h"
#include "spec/language/parser.h"
#include "spec/language/schedule.h"
#include "spec/target/targets.h"

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
    EXPECT_EQ(node.tile.has_value(), node.impl->decision.kind == RewriteKind::kMicrokernel);
    if (node.tile) flops += node.runs * Flops(node.impl->spec);
  }
  EXPECT_EQ(flops, Flops(placed_));
}

// What crosses from where the operands are: each line of them at least once, and no level farther away.
TEST_P(ExplainTest, EveryOperandComesInAndTheOutputGoesBack) {
  const Target& target = model_.target();
  Level home = Level::kL1;
  std::array<double, kNumLevels> bytes = {};
  for (int operand = 0; operand < placed_.op_info().num_operands; ++operand) {
    home = std::max(home, placed_.tensor(operand).level);
    bytes[static_cast<size_t>(operand)] =
        static_cast<double>(FootprintOf(placed_, operand, target).lines * target.line_bytes);
  }
  const Traffic& traffic = explanation_.traffic;
  if (home > Level::kL1) {
    EXPECT_GE(traffic.read[static_cast<size_t>(home)], bytes[MatmulDims::kLhs] + bytes[MatmulDims::kRhs]);
    EXPECT_GE(traffic.written[static_cast<size_t>(home)], bytes[MatmulDims::kOut]);
  }
  for (int level = Index(home) + 1; level < kNumLevels; ++level)
    EXPECT_EQ(traffic.at(static_cast<Level>(level)), 0);
  EXPECT_EQ(traffic.at(Level::kL1), 0);
}

TEST_P(ExplainTest, TilesFitTheRegistersAndAreNoFasterThanThePeak) {
  for (const ExplainedNode& node : explanation_.nodes) {
    if (!node.tile) continue;
    const TileFacts& facts = *node.tile;
    EXPECT_GE(facts.registers, facts.tile.accumulators());
    EXPECT_LE(facts.registers, UnitOf(model_.target(), facts.tile).registers);
    EXPECT_EQ(facts.spills, 0);
    EXPECT_GT(facts.instructions, facts.multiply_adds);
    EXPECT_GT(facts.peak_share, 0);
    EXPECT_LE(facts.peak_share, 1);
  }
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
