// SPDX-License-Identifier: Apache-2.0
// Plans: graphs from text to verified machine code.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_split.h"
#include "spec/text/cat.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/random_graph.h"

namespace kirsch::testing {
namespace {

TEST_P(PlanTest, EachOperationIsRight) {
  for (const char* text : {
           "softmax f32 3x50",
           "softmax bf16 5x33",
           "layernorm f32 4x40",
           "rmsnorm f32 2x3x17",
           "reduce sum f32 5x70",
           "reduce max f32 3x4x5",
           "reduce mean f16 5x9",
           "reduce sum f32 70x5 axis=0",
           "reduce max f32 3x70x40 axis=1",
           "reduce mean bf16 3x4x50 axis=0",
           "reduce mean f32 4x5x33 axis=0,1",
           "reduce sum f32 4x5x33 axis=1,2",
           "reduce sum f32 4x5x33 axis=0,1,2",
           "reduce max f32 9x1 axis=0",
           "reduce sum f32 1x9 axis=0",
           "kernel a(x: f32[9,40], y: f32[40]):\n return mul(sub(x, reduce_mean(x, axis=0)), y)",
           "kernel a(x: f32[3,9,40], y: f32[9,1]):\n return exp(reduce_max(add(x, y), axis=1))",
           "kernel a(x: f32[9,40]):\n return reduce_sum(softmax(x), axis=0)",
           "kernel a(x: f32[9,20], w: f32[20,30]):\n return reduce_max(matmul(x, w), axis=0)",
           "kernel a(x: f32[1,20], w: f32[20,30]):\n return reduce_sum(matmul(x, w), axis=0)",
           "kernel a(x: f32[9,1], y: f32[9,40]):\n return add(reduce_sum(x, axis=1), y)",
           "kernel a(x: f32[1,40], y: f32[9,40]):\n return add(reduce_sum(x, axis=0), y)",
           "kernel a(x: f32[9,1], y: f32[9,40]):\n return add(softmax(x), y)",
           "kernel a(x: f32[9,20], w: f32[20,1], y: f32[9,40]):\n"
           " return add(reduce_sum(matmul(x, w), axis=1), y)",
           "kernel a(x: f32[3,9], y: f32[1,1,1,1]):\n"
           "u = exp(x)\n"
           "r = reduce_sum(y, axis=0, axis=1, axis=2, axis=3)\n"
           "return add(u, r)",
           "transpose f32 5x7",
           "transpose f32 2x16x12",
           "attention f32 heads=2 tokens=19 dim=8",
           "attention f32 heads=1 tokens=64 dim=32",
           // Two copies of one matrix.
           "kernel a(q: f32[300,16], k: f32[300,16]):\n return matmul(softmax(matmul(q, transpose(k))), k)",
           "conv2d f32 1x3x8x9 filters=5 kernel=3x3 pad=1 layout=nhwc",
           "conv2d f32 1x3x8x9 filters=5 kernel=3x3 pad=1 layout=nchw",
           "conv2d f32 2x4x7x7 filters=6 kernel=3x2 stride=2 pad=1 layout=nchw",
           "conv2d f32 2x4x7x7 filters=6 kernel=3x2 stride=2 pad=1 groups=2 layout=nhwc",
           "conv2d f32 1x8x10x10 filters=8 kernel=3x3 pad=1 groups=8 layout=nchw",
           "conv2d f32 2x20x9x10 filters=20 kernel=3x3 stride=2 pad=1 groups=20 layout=nhwc",
           "conv2d f32 2x6x7x9 filters=6 kernel=3x3 pad=1 groups=3 layout=nhwc",
           "conv2d f32 1x20x9x10 filters=20 kernel=3x2 stride=2 pad=1 groups=5 layout=nhwc",
           "conv2d f32 1x40x9x8 filters=40 kernel=3x3 dilation=2 pad=2 groups=5 layout=nhwc "
           "epilogue=add:n,relu",
           "conv2d f32 1x36x5x6 filters=36 kernel=1x1 groups=9 layout=nhwc",
           "conv1d f32 2x12x30 filters=12 kernel=9 groups=3 layout=nwc",
           "conv3d f32 1x8x4x5x6 filters=8 kernel=2x3x3 pad=1 groups=2 layout=ndhwc",
           "conv2d f32 3x6x7x5 filters=9 kernel=3x3 pad=1 groups=3 layout=nchw",
           "conv2d f32 2x4x7x5 filters=4 kernel=3x3 groups=4 layout=nchw",
           "conv2d f32 1x20x9x10 filters=40 kernel=3x3 pad=1 groups=20 layout=nhwc",
           "conv2d f32 1x3x8x9 filters=5 kernel=3x3 pad=0,1,2,0 layout=nhwc",
           "conv2d f32 2x4x7x6 filters=6 kernel=3x2 stride=2 pad=3,0,1,2 layout=nchw",
           "conv2d f32 1x6x7x5 filters=9 kernel=3x3 pad=1,2,0,1 groups=3 layout=nchw",
           "conv2d f32 1x20x9x10 filters=20 kernel=3x3 pad=2,0,1,1 groups=20 layout=nhwc",
           "conv2d f32 1x3x8x9 filters=5 kernel=3x3 pad=1 layout=nhwc epilogue=add:n,mul:m,sub:mn,relu",
           "conv2d f32*f32->bf16 2x3x8x9 filters=5 kernel=3x3 pad=1 epilogue=add:m,mul:n,sub:mn,max:-0.5",
           "conv2d f32*f32->u8 1x3x8x9 filters=5 kernel=3x3 pad=1 layout=nhwc "
           "epilogue=mul:scalar,leaky_relu:0.5,gelu",
           "kernel a(x: f32[5,7]):\n return gelu(x)",
           "kernel a(x: f32[5,7]):\n return gelu_tanh(x)",
           "kernel a(x: f32[5,7], y: f32[7]):\n return silu(div(x, exp(y)))",
           "kernel a(x: f32[2,3,4,5], b: f32[3,1,1]):\n return leaky_relu(add(x, b))",
           "kernel a(x: f32[7,5], w: f32[7,9]):\n return matmul(transpose(x), w)",
           "kernel a(x: f32[70]):\n return sigmoid(neg(x))",
       })
    Verified(text, target_);
}

// Of whatever is left of strips, lines and squares.
TEST_P(PlanTest, MatricesAreTurned) {
  for (const char* type : {"f32", "bf16"})
    for (const int height : {1, 3, 4, 7, 8, 15, 16, 17, 28, 35})
      for (const int width : {1, 4, 5, 9, 16, 31, 33, 70})
        Verified(Cat("transpose ", type, " ", height, "x", width), target_);
  Verified("transpose f32 3x20x50", target_);
}

TEST_P(PlanTest, ReductionsGoAlongAnyAxes) {
  for (const char* op : {"sum", "max", "mean"})
    for (uint32_t axes = 1; axes < 16; ++axes) {
      std::string text = Cat("kernel a(x: f32[3,4,5,18]):\n return reduce_", op, "(x");
      for (uint32_t axis = 0; axis < 4; ++axis)
        if ((axes >> axis & 1) != 0) text += Cat(", axis=", axis);
      Verified(text + ")", target_);
    }
}

constexpr char kMlp[] =
    "kernel mlp(x: f32[30,20], w1: f32[20,50], w2: f32[20,50], w3: f32[50,24], b: f32[24]):\n"
    "g = silu(matmul(x, w1))\n"
    "h = mul(matmul(x, w2), g)\n"
    "return relu(add(matmul(h, w3), b))";

TEST_P(PlanTest, GraphsAreRight) {
  Verified(kMlp, target_, 1, true);
  Verified(
      "kernel a(x: f32[20,30], s: f32[30], t: f32[30], w: f32[30,40]):\n return matmul(layernorm(x, s, t), "
      "w)",
      target_);
  Verified(
      "kernel a(x: f32[1,8,8,4], w: f32[3,3,4,6], s: f32[6], t: f32[6], r: f32[1,8,8,6]):\n"
      " return relu(add(add(mul(conv2d(x, w, pad=1, layout=nhwc), s), t), r))",
      target_);
  Verified(
      "kernel a(x: f32[1,8,9,20], w: f32[3,3,1,20], s: f32[20], t: f32[20]):\n"
      " return min(relu(add(mul(conv2d(x, w, pad=1, groups=20, layout=nhwc), s), t)), 6)",
      target_);
  Verified(
      "kernel a(x: f32[1,4,8,8], w: f32[6,4,3,3], b: f32[6,1,1]):\n return relu(add(conv2d(x, w, pad=1), b))",
      target_);
  for (const char* other : {"f32[6,1,1]", "f32[2,6,1,1]", "f32[2,6,8,8]", "f32[2,1,8,8]"})
    Verified(Cat("kernel a(x: f32[2,4,8,8], w: f32[6,2,3,3], b: ", other,
                 "):\n return relu(add(conv2d(x, w, pad=1, groups=2), b))"),
             target_, 2);
  Verified("kernel a(x: f32[16,16], y: f32[16,16], z: f32[16,16]):\n return matmul(x, matmul(y, z))",
           target_);
  Verified("kernel a(x: bf16[9,16], y: bf16[16,40]):\n return cast(gelu(matmul(x, y)), bf16)", target_);
  Verified(
      "kernel a(x: u8[9,16], y: s8[16,40], s: f32[40]):\n return softmax(mul(cast(matmul(x, y), f32), s))",
      target_);
}

// On threads, whose nests cannot wait for each other, that makes one program of it all.
TEST_P(PlanTest, FunctionsGoIntoTheEpilogue) {
  const auto lines_with = [](const std::string& plan, const std::string& word) {
    int count = 0;
    for (const absl::string_view line : absl::StrSplit(plan, '\n'))
      count += line.find(word) != line.npos ? 1 : 0;
    return count;
  };
  for (const OperationInfo& info : kOperations) {
    if (info.kind != OperationKind::kElementwise || info.arguments != 1) continue;
    if (!IsStep(info.op) && !info.equivalent) continue;
    const std::string plan = Verified(Cat("kernel a(x: f32[64,30], w: f32[30,512], b: f32[512]):\n return ",
                                          info.name, "(add(matmul(x, w), b))"),
                                      target_, 2);
    EXPECT_EQ(lines_with(plan, "contraction("), 1) << plan;
    EXPECT_EQ(lines_with(plan, "rows("), 0) << plan;
  }
  const std::string gated = Verified(
      "kernel a(x: f32[64,30], w: f32[30,512], v: f32[30,512]):\n return mul(silu(matmul(x, w)), matmul(x, "
      "v))",
      target_, 2, true);
  EXPECT_GE(lines_with(gated, "epilogue=silu,mul:mn"), 1) << gated;
  EXPECT_EQ(lines_with(gated, "rows("), 0) << gated;
}

// Rows of 13 elements would end within a vector each.
TEST_P(PlanTest, TensorsThatLieAlikeGoByElements) {
  for (int threads : {1, 2}) {
    const Plan plan =
        VerifiedPlan("kernel a(x: f32[40,13], y: f32[40,13], s: f32[1]):\n return mul(relu(add(x, y)), s)",
                     WithFreeThreads(target_), threads);
    ASSERT_EQ(plan.groups.size(), 1u);
    EXPECT_EQ(plan.groups[0].candidate.rewrite.name, "flat") << PrintPlan(plan);
  }
  const Plan repeated =
      VerifiedPlan("kernel a(x: f32[40,13], y: f32[13]):\n return relu(add(x, y))", target_);
  EXPECT_EQ(repeated.groups[0].candidate.rewrite.name, "rows") << PrintPlan(repeated);
}

TEST_P(PlanTest, ThreadsShareTheWork) {
  Verified(kMlp, target_, 2, true);
  Verified("attention f32 heads=3 tokens=24 dim=8", target_, 2);
  Verified("softmax f32 7x40", target_, 3);
  Verified("conv2d f32 1x8x16x16 filters=32 kernel=3x3 pad=1 layout=nhwc", target_, 2);
  Verified("kernel a(x: f32[16,16], y: f32[16,16], z: f32[16,16]):\n return matmul(x, matmul(y, z))", target_,
           2);
}

TEST_P(PlanTest, RandomGraphsAreRight) {
  std::mt19937 random(17);
  for (int round = 0; round < Rounds(25) && !HasFailure(); ++round)
    Verified(RandomKernel(2 + round % 5, random), target_, 1 + round % 3 / 2, round % 25 == 0);
}

// When one search is stopped, no more is asked for than programs for one plan.
TEST_P(PlanTest, AStoppedSearchIsTheLastThatChooses) {
  const Graph graph = GraphOf(
      "kernel a(x: f32[50,40], u: f32[40,60], v: f32[60,70], w: f32[70,30]):\n"
      " return softmax(matmul(gelu(matmul(relu(matmul(x, u)), v)), w))");
  const CostModel model(target_);
  double best = 0;
  for (bool stopped : {false, true}) {
    HashMemo memo;
    int searches = 0;
    PlanOptions options;
    options.solve = [&](const Spec& placed, Cost cutoff) {
      ++searches;
      if (!stopped) return SearchBelow(placed, cutoff, model, memo);
      SearchResult any = SearchBelow(placed, kInfiniteCost, model, memo);
      any.stop = StopReason::kBudget;
      return any;
    };
    const auto result = Require(SearchPlan(graph, "test", model, options));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->stop, stopped ? StopReason::kBudget : StopReason::kOptimal);
    EXPECT_EQ(searches <= 24, stopped) << searches;
    EXPECT_LE(result->bound_cycles, result->plan.cycles);
    if (stopped)
      EXPECT_LT(result->bound_cycles, best);
    else
      best = result->bound_cycles;
    EXPECT_TRUE(VerifyPlan(result->plan, target_).ok) << PrintPlan(result->plan);
  }
}

// Of more sets of operations than are looked at, only those in the order of the text are: the plan is legal,
// and what is said about the others is true.
TEST_P(PlanTest, OfTooManyStatesTheGapIsKnown) {
  const Graph graph = GraphOf(
      "kernel a(x: f32[50,40], u: f32[40,60], v: f32[40,60], w: f32[40,60]):\n"
      " return mul(matmul(x, u), add(gelu(matmul(x, v)), relu(matmul(x, w))))");
  const auto best = PlanOf(graph, target_, 1);
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(best->bound_cycles, best->plan.cycles);
  PlanOptions options;
  options.most_states = 8;
  const auto capped = PlanWith(options, graph, target_);
  ASSERT_TRUE(capped.ok()) << capped.status();
  EXPECT_EQ(capped->stop, StopReason::kBudget);
  EXPECT_GT(capped->bound_cycles, 0);
  EXPECT_LE(capped->bound_cycles, best->plan.cycles);
  EXPECT_LE(best->plan.cycles, capped->plan.cycles);
  EXPECT_TRUE(VerifyPlan(capped->plan, target_).ok) << PrintPlan(capped->plan);
}

// Whether one tile is whole or several are: 16 MiB are in no L2, nor is a copy of them.
TEST_P(PlanTest, WhatAllTilesReadIsNotCloserThanItFits) {
  for (int rows : {32, 64, 100}) {
    const auto result =
        PlanOf(GraphOf(Cat("kernel a(x: f32[", rows, ",1024], s: f32[1024], w: f32[1024,4096]):\n",
                           " return matmul(rmsnorm(x, s), w)")),
               target_, 1);
    ASSERT_TRUE(result.ok()) << result.status();
    for (const LoopNest& nest : result->plan.nests)
      for (const auto* stages : {&nest.stages, &nest.rest})
        for (const Stage& stage : *stages)
          if (stage.kind == StageKind::kContraction) {
            EXPECT_GE(stage.spec.operand[MatmulDims::kRhs].level, Level::kL3) << PrintPlan(result->plan);
          }
  }
}

TEST_P(PlanTest, RandomConvolutionsAreRight) {
  std::mt19937 random(23);
  for (int round = 0; round < Rounds(25) && !HasFailure(); ++round)
    Verified(RandomConvolution(random), target_, 1 + round % 2, round % 25 == 0);
}

INSTANTIATE_TEST_SUITE_P(Isa, PlanTest, ::testing::Values(Avx2Target(), Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

TEST(PlanRefusalTest, SaysWhere) {
  const auto refused = [](const std::string& text) {
    return std::string(PlanOf(GraphOf(text), Avx2Target(), 1).status().message());
  };
  EXPECT_EQ(refused("kernel a(x: f32[4,5]):\n return x"), "test:1:10: expected an operation at least");
}

}  // namespace
}  // namespace kirsch::testing
