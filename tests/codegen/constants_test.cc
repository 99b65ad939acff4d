// SPDX-License-Identifier: Apache-2.0
// Constant parameters of graphs: packed once, ahead.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/strip.h"
#include "search/graph/plan_packing.h"
#include "spec/language/contraction_graph.h"
#include "spec/language/plan_schedule.h"
#include "spec/program/plan_program.h"
#include "spec/target/targets.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

using ConstantsTest = PlanTest;
INSTANTIATE_TEST_SUITE_P(Isa, ConstantsTest, ::testing::Values(Avx2Target(), Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

// The text with "const" before the types of some of its parameters, as the bits say.
std::string WithConstants(const std::string& text, unsigned which) {
  std::string constants = text;
  const size_t head = text.find("):");
  size_t at = 0;
  for (unsigned bit = 1; (at = constants.find(": ", at)) != std::string::npos && bit <= which; bit *= 2) {
    at += 2;
    if ((which & bit) != 0) constants.insert(at, "const ");
  }
  EXPECT_NE(head, std::string::npos);
  return constants;
}

// Every choice of constants, of operations of all kinds.
TEST_P(ConstantsTest, AnyParametersMayBe) {
  for (const char* text :
       {"kernel a(x: f32[5,20], w: f32[20,40], v: f32[40,9]):\n return matmul(relu(matmul(x, w)), v)",
        "kernel a(x: f32[5,20], w: f32[40,20], b: f32[40]):\n return softmax(add(matmul(x, transpose(w)), "
        "b))",
        "kernel a(x: f32[3,5,7], w: f32[3,7,9]):\n return softmax(matmul(x, w))",
        "kernel a(x: f32[3,33,57], w: f32[3,57,24], b: f32[33,1]):\n return matmul(sub(b, x), w)",
        "kernel a(x: u8[9,36], w: s8[36,40], s: f32[40]):\n return softmax(mul(cast(matmul(x, w), f32), s))",
        "kernel a(x: bf16[9,36], w: bf16[36,40]):\n return cast(gelu(matmul(x, w)), bf16)",
        "kernel a(x: f32[1,6,7,3], w: f32[3,3,3,20], b: f32[20]):\n"
        " return relu(add(conv2d(x, w, pad=1, layout=nhwc), b))",
        "kernel a(x: f32[2,3,6,7], w: f32[20,3,3,3]):\n return conv2d(x, w, pad=1, stride=2)",
        "kernel a(x: f32[1,6,7,20], w: f32[3,3,1,20], b: f32[20]):\n"
        " return add(conv2d(x, w, pad=1, groups=20, layout=nhwc), b)",
        "kernel a(x: f32[1,4,6,7], w: f32[8,2,3,3]):\n return conv2d(x, w, groups=2)",
        "kernel a(x: s8[5,9], y: f32[9]):\n return mul(cast(x, f32), y)",
        "kernel a(x: f32[5,9], s: f32[9], t: f32[9]):\n return layernorm(x, s, t)",
        "kernel a(x: f32[5,9]):\n return transpose(x)"})
    for (unsigned which = 1; which < 8; ++which) {
      const std::string constants = WithConstants(text, which);
      if (!GraphOf(constants).HasConstants()) continue;
      Verified(constants, target_, 1, which == 7);
      Verified(constants, WithFreeThreads(target_), 2);
    }
}

// What the kernel finds packed is all there is of a constant, and nothing overlaps.
TEST(ConstantsOnHaswellTest, EachIsInMemoryAsItIsRead) {
  const Target target = FindTarget("haswell", "")->target;
  const Plan plan = VerifiedPlan(
      "kernel a(x: u8[90,200], w: const s8[200,300], s: const f32[300], unused: const f32[7], y: f32[300]):\n"
      " return softmax(add(mul(cast(matmul(x, w), f32), s), y))",
      target, 1, true);
  ASSERT_EQ(plan.prepacks.size(), 2u) << PrintPlan(plan);
  EXPECT_EQ(plan.prepacks[0].kind, StageKind::kPack) << PrintPlan(plan);
  EXPECT_EQ(plan.prepacks[1].kind, StageKind::kPad) << "the vector is read as it lies";
  const Program program = WriteProgram(plan, target);
  EXPECT_GE(program.packed_bytes, 200 * 300 + 300 * 4);
  EXPECT_LE(program.packed_bytes, 208 * 320 * 2 + 300 * 4 + 4 * 64);
  for (const Program::Buffer& a : program.buffers)
    for (const Program::Buffer& b : program.buffers)
      if (&a != &b && a.memory == b.memory && a.memory == Memory::kPacked) {
        EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
      }
}

// Every operation on constants is computed ahead where that takes a call less, but for contractions.
TEST_P(ConstantsTest, WhatIsMadeOfConstantsIsComputedOnce) {
  int elementwise = 0;
  for (const OperationInfo& info : kOperations) {
    if (info.kind != OperationKind::kElementwise) continue;
    const std::string arguments = info.arguments == 3 ? "w, s, w" : info.arguments == 2 ? "w, s" : "w";
    const std::string text =
        Cat("kernel a(x: f32[40,24], w: const f32[24,33], s: const f32[33]):\n return matmul(x, ", info.name,
            "(", arguments, "))");
    const Plan plan = VerifiedPlan(text, target_);
    EXPECT_EQ(plan.graph.FoldedOperations().size(), 1u) << text << "\n" << PrintPlan(plan);
    ++elementwise;
  }
  EXPECT_GT(elementwise, 15);
  const std::pair<const char*, size_t> others[] = {
      {"kernel a(x: f32[40,24], w: const f32[24,33]):\n return matmul(x, cast(cast(w, bf16), f32))", 2},
      {"kernel a(x: bf16[40,24], w: const f32[24,33]):\n return matmul(x, cast(w, bf16))", 1},
      {"kernel a(x: f32[40,24], w: const s8[24,33], s: const f32[33]):\n"
       " return matmul(x, mul(cast(w, f32), s))",
       2},
      {"kernel a(x: f32[40,24], w: const f32[24,40]):\n return add(x, transpose(w))", 1},
      {"kernel a(x: f32[40,24], w: const f32[33,24]):\n return matmul(x, transpose(w))", 0},  // a view
      {"kernel a(x: f32[40,24], w: const f32[9,24]):\n return add(x, reduce_mean(w, axis=0))", 1},
      {"kernel a(x: f32[40,24], w: const f32[9,24]):\n return add(x, reduce_max(w, axis=0))", 1},
      {"kernel a(x: f32[40,24], w: const f32[24,33]):\n return matmul(x, softmax(w))", 1},
      {"kernel a(x: f32[40,24], w: const f32[24,33], s: const f32[33], t: const f32[33]):\n"
       " return matmul(x, layernorm(w, s, t))",
       1},
      {"kernel a(x: f32[40,24], w: const f32[24,33], s: const f32[33]):\n return matmul(x, rmsnorm(w, s))",
       1},
      {"kernel a(x: f32[40,24], w: const f32[24,9], v: const f32[9,33]):\n return matmul(x, matmul(w, v))",
       0},
      {"kernel a(x: f32[1,6,7,8], w: const bf16[3,3,8,20]):\n"
       " return conv2d(x, cast(w, f32), pad=1, layout=nhwc)",
       1},
      {"kernel a(w: const f32[24,33]):\n return relu(w)", 0},  // what is returned is written by every call
      {"kernel a(x: f32[40,24], w: const f32[40,24], y: f32[40,24]):\n"
       " v = exp(w)\n return mul(add(x, v), div(y, v))",
       1},
      {"kernel a(x: f32[3,20,24], w: const s8[3,24,33]):\n return matmul(x, cast(w, f32))", 1},
  };
  for (const auto& [text, ahead] : others) {
    const Plan plan = VerifiedPlan(text, target_, 1, true);
    EXPECT_EQ(plan.graph.FoldedOperations().size(), ahead) << text << "\n" << PrintPlan(plan);
    VerifiedPlan(text, WithFreeThreads(target_), 2);
  }
}

// It is found again by its schedule.
TEST(ConstantGraphTest, SchedulesSayWhatIsComputedAhead) {
  const Graph graph = GraphOf(
      "kernel a(x: f32[40,24], w: const s8[24,33], s: const f32[33]):\n return matmul(x, mul(cast(w, f32), "
      "s))");
  const auto found = PlanOf(graph, Avx2Target(), 1);
  ASSERT_TRUE(found.ok());
  const std::string text = PrintPlanSchedule(found->plan);
  EXPECT_NE(text.find("\nahead v3 v4\n"), std::string::npos) << text;
  const auto schedule = ParsePlanSchedule(text, "s");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  PlanOptions options;
  options.schedule = &*schedule;
  const auto again = PlanWith(options, graph, Avx2Target());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(PrintPlanSchedule(again->plan), text);
  const std::pair<const char*, const char*> wrong[] = {
      {"threads 1\nahead out\n",
       "s:2:7: expected the name of a value that an operation makes of constants, got 'out'"},
      {"threads 1\nahead v4\n", "s:2:7: expected all that it is made of before it, got 'v4'"},
      {"threads 1\nahead\n", "s:2:6: expected the names of what is made of constants, got nothing"},
  };
  for (const auto& [bad, error] : wrong) {
    const auto parsed = ParsePlanSchedule(bad, "s");
    if (!parsed.ok()) {
      EXPECT_EQ(parsed.status().message(), error);
      continue;
    }
    options.schedule = &*parsed;
    EXPECT_EQ(PlanWith(options, graph, Avx2Target()).status().message(), error);
  }
}

// Of each item of a batch a matrix, each packed for itself: experts, heads, weights that heads share.
TEST_P(ConstantsTest, EachMatrixOfABatchIsPackedAhead) {
  for (const char* text :
       {"kernel a(x: f32[6,16,40], w: const f32[6,40,50]):\n return softmax(matmul(x, w))",
        "kernel a(x: f32[6,16,40], w: const f32[6,50,40]):\n return tanh(matmul(x, transpose(w)))",
        "kernel a(x: f32[6,16,40], w: const f32[6,40,50], v: const f32[6,50,24]):\n"
        " return matmul(relu(matmul(x, w)), v)",
        "kernel a(x: f32[6,16,40], w: const f32[6,50,16] strides=[900,17,1]):\n return tanh(matmul(w, x))",
        "kernel a(x: f32[2,3,5,33], w: const f32[2,3,33,41]):\n return softmax(matmul(x, w))",
        "kernel a(x: bf16[8,1,33], w: const bf16[2,33,41]):\n return softmax(matmul(x, w))",
        "kernel a(x: u8[3,9,36], w: const s8[3,36,40]):\n return mul(cast(matmul(x, w), f32), 0.5)"}) {
    const Plan plan = VerifiedPlan(text, target_);
    for (const LoopNest& nest : plan.nests)
      for (const Stage* stage : StagesOf(nest)) EXPECT_NE(stage->kind, StageKind::kPack) << PrintPlan(plan);
    Verified(text, WithFreeThreads(target_), 2, true);
  }
  // On real CPUs its own copy is worth it, and costs a call nothing.
  const absl::StatusOr<TargetFile> cpu = FindTarget(target_.cpu, "");
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  const Plan plan = VerifiedPlan(
      "kernel a(x: f32[4,64,256], w: const f32[4,256,256]):\n return softmax(matmul(x, w))", cpu->target);
  ASSERT_EQ(plan.prepacks.size(), 1u) << PrintPlan(plan);
  EXPECT_EQ(plan.prepacks[0].kind, StageKind::kPack);
  EXPECT_EQ(plan.prepacks[0].repeats, 4);
}

// Filters of all bands of an image's rows are one copy.
TEST_P(ConstantsTest, BandsShareOneCopy) {
  const Plan plan = VerifiedPlan(
      "kernel a(x: f32[1,60,60,40], w: const f32[3,3,40,70]):\n return conv2d(x, w, pad=1, layout=nhwc)",
      target_);
  EXPECT_EQ(plan.prepacks.size(), 1u) << PrintPlan(plan);
}

TEST(ConstantGraphTest, TextRoundTrips) {
  for (unsigned which = 0; which < 4; ++which) {
    const Graph graph =
        GraphOf(WithConstants("kernel a(x: f32[5,9], w: f32[9,7]):\n return softmax(matmul(x, w))", which));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(graph.IsConstant(i), (which >> i & 1) != 0);
    EXPECT_FALSE(graph.IsConstant(2));
    const Graph again = GraphOf(std::string(absl::StripSuffix(PrintGraph(graph), "\n")));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(again.IsConstant(i), graph.IsConstant(i));
    EXPECT_EQ(PrintGraph(again), PrintGraph(graph));
  }
  const Graph conv = GraphOf("conv2d f32 1x3x9x9 filters=4 kernel=3x3 const-filters layout=nhwc");
  EXPECT_FALSE(conv.IsConstant(0));
  EXPECT_TRUE(conv.IsConstant(1));
  const auto wrong = ParseGraphShorthand({"conv2d f32 1x3x9x9 filters=4 kernel=3x3 const-image", {}}, "test");
  EXPECT_EQ(wrong.status().message(),
            "test:1:41: expected an option (filters= kernel= stride= pad= dilation= groups= layout= "
            "epilogue= accumulate const-filters fixed-order), got 'const-image'");
}

// One matmul is a spec, which packs one operand.
TEST(ConstantGraphTest, MatmulsAreSpecsWhereTheseCan) {
  const char text[] = "kernel a(x: f32[5,9], w: f32[9,7], b: f32[7]):\n return add(matmul(x, w), b)";
  const char* const specs[] = {"matmul f32 5x9x7 epilogue=add:n", "matmul f32 5x9x7 const-lhs epilogue=add:n",
                               "matmul f32 5x9x7 const-rhs epilogue=add:n"};
  for (unsigned which = 0; which < 8; ++which) {
    const auto matmul = AsContraction(GraphOf(WithConstants(text, which)), "test");
    EXPECT_EQ(matmul.ok(), which < 3) << which;
    if (which < 3 && matmul.ok()) {
      EXPECT_EQ(matmul->text, specs[which]);
    }
  }
  const auto batch =
      AsContraction(GraphOf("kernel a(x: f32[2,5,9], w: const f32[2,9,7]):\n return matmul(x, w)"), "");
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->text, "matmul f32 2:5x9x7 const-rhs");
}

}  // namespace
}  // namespace kirsch::testing
