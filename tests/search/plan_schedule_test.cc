// SPDX-License-Identifier: Apache-2.0
// Schedules of graphs: what is printed is followed to the same object; what is left out is searched; what is
// changed is followed or refused with its place.
#include "spec/language/plan_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "codegen/llvm/emit.h"
#include "search/table/plan_recall.h"
#include "spec/language/kernel_file.h"
#include "tests/testing/grammar_graph.h"
#include "tests/testing/mutated_text.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kMlp[] =
    "kernel mlp(x: f32[40,32], w1: f32[32,64], b: f32[64], w2: const f32[64,48], g: f32[48], r: "
    "f32[40,48]):\n"
    " h = gelu(add(matmul(x, w1), b))\n y = add(matmul(h, w2), r)\n return rmsnorm(y, g)";

std::string ObjectOf(const Plan& plan, const Target& target) {
  const absl::StatusOr<std::string> object = EmitObject(Lower(plan, target, "kernel"), target, {});
  EXPECT_TRUE(object.ok()) << object.status();
  return object.ok() ? *object : "";
}

// By a schedule; an error is its message.
absl::StatusOr<PlanResult> Follow(const std::string& text, const Graph& graph, const Target& target,
                                  int threads = 1) {
  const absl::StatusOr<PlanSchedule> schedule = ParsePlanSchedule(text, "s");
  if (!schedule.ok()) return schedule.status();
  PlanOptions options;
  options.threads = threads;
  options.schedule = &*schedule;
  return PlanWith(options, graph, target);
}

std::string ErrorOf(const std::string& text) {
  const auto result = Follow(text, GraphOf(kMlp), Avx2Target());
  return result.ok() ? "" : std::string(result.status().message());
}

// The text up to the group of a number.
std::string Prefix(const std::string& text, int groups) {
  size_t at = 0;
  for (int i = 0; i <= groups && at != text.npos; ++i) at = text.find("\ngroup", at + 1);
  return text.substr(0, at == text.npos ? at : at + 1);
}

void ExpectFollowed(const Graph& graph, const Target& target, int threads) {
  const auto found = PlanOf(graph, target, threads);
  if (!found.ok()) return;
  const std::string text = PrintPlanSchedule(found->plan);
  const auto followed = Follow(text, graph, target, threads);
  ASSERT_TRUE(followed.ok()) << followed.status() << "\n" << text;
  EXPECT_EQ(followed->stop, StopReason::kPinned);
  EXPECT_EQ(followed->stats.specs_solved, 0) << text;
  EXPECT_DOUBLE_EQ(followed->plan.cycles, found->plan.cycles) << text;
  EXPECT_EQ(PrintPlanSchedule(followed->plan), text);
  PlanOptions options;
  options.threads = threads;
  const PlanSchedule decisions = MakeSchedule(found->plan);
  options.schedule = &decisions;
  const auto without_text = PlanWith(options, graph, target);
  ASSERT_TRUE(without_text.ok()) << without_text.status() << "\n" << text;
  EXPECT_EQ(PrintPlanSchedule(without_text->plan), text);
  EXPECT_TRUE(ObjectOf(followed->plan, target) == ObjectOf(found->plan, target)) << "other objects, by\n"
                                                                                 << text;
}

TEST(PlanScheduleTest, WhatIsPrintedIsFollowed) {
  for (const Target& target : {Avx2Target(), Avx512Target()})
    for (int threads : {1, 2}) {
      ExpectFollowed(GraphOf(kMlp), WithFreeThreads(target), threads);
      ExpectFollowed(GraphOf("attention f32 heads=2 tokens=150 dim=16"), WithFreeThreads(target), threads);
      ExpectFollowed(GraphOf("conv2d f32 1x8x16x16 filters=32 kernel=3x3 pad=1 layout=nhwc"), target,
                     threads);
    }
}

TEST(PlanScheduleTest, RandomPlansAreFollowed) {
  for (int round = 0; round < Rounds(60) && !HasFailure(); ++round) {
    std::mt19937 random(static_cast<unsigned>(1000 + round));
    const std::string text = GrammarText(RandomGrammarGraph(2 + round % 5, random), random);
    const auto requests = ParseKernelFile(text, "test");
    ASSERT_TRUE(requests.ok()) << requests.status() << "\n" << text;
    if (requests->front().family.graphs())
      ExpectFollowed(requests->front().family.graphs()->member(0), WithFreeThreads(Avx2Target()),
                     1 + round % 2);
  }
}

// Of the best plan's schedule the search finds the rest again, or another as good.
TEST(PlanScheduleTest, PrefixesAreCompleted) {
  const Graph graph = GraphOf(kMlp);
  const auto best = PlanOf(graph, Avx2Target(), 1, false);
  const std::string text = PrintPlanSchedule(best->plan);
  const double least = PlanOf(graph, Avx2Target(), 1)->plan.cycles;
  double before = least;
  for (int groups = 0; groups <= static_cast<int>(best->plan.groups.size()); ++groups) {
    const auto completed = Follow(Prefix(text, groups), graph, Avx2Target());
    ASSERT_TRUE(completed.ok()) << completed.status() << "\n" << Prefix(text, groups);
    EXPECT_GE(completed->plan.cycles, before * (1 - 1e-9));
    before = completed->plan.cycles;
  }
  EXPECT_NEAR(before, best->plan.cycles, 1e-6 * before);
}

TEST(PlanScheduleTest, ChangesAreFollowed) {
  const Graph graph = GraphOf(kMlp);
  const auto changed = Follow("group v6 v7 v8 v9 v10 out\n  matmul tile=17 keep=L2\n", graph, Avx2Target());
  ASSERT_TRUE(changed.ok()) << changed.status();
  ASSERT_EQ(changed->plan.nests.size(), 1u);
  EXPECT_EQ(changed->plan.nests[0].tile, 17);
  EXPECT_TRUE(MissingOnHost(Avx2Target().features).empty() ? VerifyPlan(changed->plan, Avx2Target()).ok
                                                           : true);
  // The same groups, one way or the other around.
  const auto other = Follow("group v8 v7 v6\ngroup out v9 v10\n", graph, Avx2Target());
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->plan.groups.size(), 2u);
  // The former word.
  const auto former = Follow("slice v8 v7 v6\nslice out v9 v10\n", graph, Avx2Target());
  ASSERT_TRUE(former.ok()) << former.status();
  EXPECT_EQ(PrintPlanSchedule(former->plan), PrintPlanSchedule(other->plan));
}

TEST(PlanScheduleTest, WhatCannotBeIsRefusedWithItsPlace) {
  const std::string head = "group v6 v7 v8 v9 v10 out\n";
  EXPECT_EQ(ErrorOf("groups v6\n"), "s:1:1: expected group VALUE..., got 'groups'");
  EXPECT_EQ(ErrorOf("threads 0\n"), "s:1:9: expected threads from 1 to 255, got '0'");
  EXPECT_EQ(ErrorOf("threads 3\n"), "s:1:1: expected a plan for 1 threads, or for one");
  EXPECT_EQ(ErrorOf("group\n"), "s:1:6: expected the names of what the operations make, got nothing");
  EXPECT_EQ(ErrorOf("group v6 v66\n"),
            "s:1:10: expected the name of a value that an operation makes, got 'v66'");
  EXPECT_EQ(ErrorOf("group v6\ngroup v6\n"),
            "s:2:7: expected an operation that is in no group yet, got 'v6'");
  EXPECT_EQ(ErrorOf("group v9\n"), "s:1:1: expected operations that read only what is computed before them");
  EXPECT_THAT(ErrorOf(head + "  mutmal tile=8\n"), HasSubstr("s:2:3: expected a rewrite (rows flat matmul"));
  EXPECT_EQ(ErrorOf(head + "  matmul tile=41\n"), "s:2:3: expected a tile of no more rows than there are");
  EXPECT_EQ(ErrorOf(head + "  matmul tole=4\n"), "s:2:10: expected 'matmul tile=SIZE', got 'tole'");
  EXPECT_EQ(ErrorOf(head + "  matmul tile=x\n"), "s:2:15: expected a size from 0 to 2147483647, got 'x'");
  EXPECT_EQ(ErrorOf(head + "  rows tile=4\n"), "s:2:3: expected operations that the rewrite is for");
  EXPECT_EQ(ErrorOf(head + "  matmul tile=8 keep=L7\n"), "s:2:22: expected L1 or L2, got 'L7'");
  EXPECT_EQ(ErrorOf(head + "  matmul tile=8\n  rows 0 lanes=8\n"),
            "s:3:3: expected the number of one of the 3 stages that is a row program");
  EXPECT_THAT(ErrorOf(head + "  matmul tile=8\n  contraction 0\n    tile m 64\n"),
              HasSubstr("s:4:5: expected"));
  EXPECT_THAT(ErrorOf(head + "  matmul tile=8\n  contraction 0\n    tile q 4\n"),
              HasSubstr("s:4:10: expected a dim of matmul"));
  EXPECT_THAT(ErrorOf(head + "  matmul tile=8\n  copy 0: pack rhs L1 packed9 f32\n"),
              HasSubstr("s:3:3: expected a copy"));
  EXPECT_EQ(ErrorOf(head + "  matmul tile=8\n  copy 0 1: pack rhs L1 packed8 f32\n"),
            "s:3:3: expected all that read the matrix, stages 0");
  EXPECT_THAT(ErrorOf(head + "  matmul tile=8\n  rows 2 lanes=5\n"),
              HasSubstr("s:3:3: expected a schedule that is in the space of the row program"));
}

// -(-(... x)), so many times.
std::string Chain(size_t operations) {
  std::string text = "kernel f(x: f32[3,4]):\n", value = "x";
  for (size_t i = 0; i < operations; ++i) {
    Append(&text, " a", i, " = neg(", value, ")\n");
    value = Cat("a", i);
  }
  return Cat(text, " return ", value);
}

TEST(PlanScheduleTest, GroupsHaveAtMostSixteenOperations) {
  constexpr size_t kOperations = 256;
  const Graph graph = GraphOf(Chain(kOperations));
  const auto best = PlanOf(graph, Avx2Target(), 1);
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(best->stop, StopReason::kOptimal);
  EXPECT_EQ(best->plan.groups.size(), kOperations / kMaxGroupOperations);
  const auto followed = Follow(PrintPlanSchedule(best->plan), graph, Avx2Target());
  ASSERT_TRUE(followed.ok()) << followed.status();
  EXPECT_EQ(PrintPlanSchedule(followed->plan), PrintPlanSchedule(best->plan));
  std::string group = "group";
  for (size_t i = 1; i <= kMaxGroupOperations; ++i) Append(&group, " v", i);
  EXPECT_TRUE(Follow(group + "\n", graph, Avx2Target()).ok());
  const auto refused = Follow(group + " v17\n", graph, Avx2Target());
  EXPECT_EQ(refused.status().message(), "s:1:62: expected at most 16 operations in a group, got 'v17'");
}

// Only a schedule that is none of the graph's plans is an error, in a table too.
TEST(PlanScheduleTest, ThatThereIsNoPlanIsNoError) {
  const CostModel model(Avx2Target());
  HashMemo memo;
  PlanOptions options;
  SearchStages(model, memo, &options);
  const auto none = SearchPlan(GraphOf(Chain(kMaxOperations + 1)), "test", model, options);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_TRUE(std::holds_alternative<NoPlan>(*none));
  EXPECT_THAT(std::string(Require(none).status().message()),
              HasSubstr(Cat("expected at most ", kMaxOperations, " operations")));
  const Graph graph = GraphOf(kMlp);
  Table table;
  ASSERT_TRUE(table.AddText(TextKind::kPlan, PlanQuestion(graph, options), "group v9 v8\n").ok());
  const auto damaged = AnswerPlan(graph, "test", model, options, &table);
  EXPECT_THAT(std::string(damaged.status().message()), HasSubstr("the table:1:"));
}

TEST(PlanScheduleTest, AnyTextIsSafe) {
  const Graph graph = GraphOf(kMlp);
  const std::string text = PrintPlanSchedule(PlanOf(graph, Avx2Target(), 1)->plan);
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const auto result =
        Follow(Mutated(text, 1 + static_cast<size_t>(round) % 4, random), graph, Avx2Target());
    if (!result.ok()) {
      EXPECT_THAT(std::string(result.status().message()), ::testing::StartsWith("s:"));
    }
  }
}

}  // namespace
}  // namespace kirsch::testing
