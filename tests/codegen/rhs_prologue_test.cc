// SPDX-License-Identifier: Apache-2.0
// Matmuls by what elementwise operations make, block of columns after block of columns.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "rewrites/graph/registry.h"
#include "search/graph/stage_cost.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What is on the rhs: of `weights` w as they are stored, an element of c for each column and of r for each
// row.
struct Prologue {
  const char *lhs, *weights, *expression;
  bool whole_rows;  // only for a transposed view
};
constexpr Prologue kPrologues[] = {
    {"f32", "s8", "mul(cast(w, f32), c)", false},
    {"f32", "f32", "mul(w, y)", false},
    {"f32", "bf16", "cast(w, f32)", false},
    {"f32", "u8", "mul(sub(cast(w, f32), r), 0.25)", false},
    {"f32", "f16", "relu(mul(cast(w, f32), r))", false},
    {"bf16", "bf16", "cast(mul(w, c), bf16)", false},
    {"f32", "f32", "mul(cast(cast(w, bf16), f32), cast(cast(c, f16), f32))", false},
    {"f32", "f32", "div(w, neg(r))", false},
    {"f32", "f32", "softmax(w)", true},
    {"f32", "s8", "rmsnorm(cast(w, f32), c)", true},
};

struct Sizes {
  int batch, m, k, n;
};

std::string Kernel(const Sizes& size, const Prologue& prologue, bool turned, bool lhs_turned = false,
                   const std::string& parameters = "", const std::string& before = "",
                   const std::string& after = "") {
  const std::string batch = size.batch == 1 ? "" : Cat(size.batch, ",");
  const int rows = turned ? size.n : size.k, columns = turned ? size.k : size.n;
  const std::string lhs = lhs_turned ? Cat(size.k, ",", size.m) : Cat(size.m, ",", size.k);
  const std::string rhs = turned ? Cat("transpose(", prologue.expression, ")") : prologue.expression;
  return Cat("kernel a(x: ", prologue.lhs, "[", batch, lhs, "], w: ", prologue.weights, "[", batch, rows, ",",
             columns, "], y: f32[", batch, rows, ",", columns, "], c: f32[", columns, "], r: f32[", rows,
             ",1]", parameters, "):\n return ", before, "matmul(", lhs_turned ? "transpose(x)" : "x", ", ",
             rhs, ")", after);
}

class RhsPrologueTest : public PlanTest {
 protected:
  void ExpectRight(const std::string& text, const Candidate& candidate, Sharing sharing = Sharing::kNone,
                   bool header = false) {
    const Plan plan = PlanBy(GraphOf(text), candidate, target_, sharing);
    EXPECT_EQ(plan.nests.size(), 1u);
    const VerifyReport report = VerifyPlan(plan, target_, header);
    EXPECT_TRUE(report.ok) << report.first_mismatch << "\n" << text << "\n" << PrintPlan(plan);
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, RhsPrologueTest, ::testing::Values(Avx2Target(), Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

// All sizes up to 3 x 20 x 20, some with each prologue, tile and depth (KIRSCH_ALL_SHAPES in the environment:
// all of the sizes).
TEST_P(RhsPrologueTest, SmallMatmulsAreRight) {
  const size_t every = std::getenv("KIRSCH_ALL_SHAPES") != nullptr ? 1 : 13;
  size_t number = 0;
  for (int m = 1; m <= 3; ++m)
    for (int k = 1; k <= 20; ++k)
      for (int n = 1; n <= 20; ++n) {
        if (number++ % every != 0) continue;
        const size_t mixed = number / every;
        const Prologue& prologue = kPrologues[mixed % std::size(kPrologues)];
        const bool turned = prologue.whole_rows || mixed / std::size(kPrologues) % 2 == 0;
        const std::string text = Kernel({mixed % 5 == 4 ? 2 : 1, m, k, n}, prologue, turned, mixed % 7 == 0);
        for (int tile : {1, 2, 3, 7, 16, n})
          for (int depth : {k, 1, 3, 8})
            if (tile <= n && (depth == k || (depth < k && !turned)))
              ExpectRight(text, {"prologue", {tile, depth}},
                          mixed % 3 == 0 ? Sharing::kTiles : Sharing::kNone);
        ASSERT_FALSE(HasFailure());
      }
}

TEST_P(RhsPrologueTest, EpiloguesAreRight) {
  const struct {
    const char *parameters, *before, *after;
    bool narrow;
  } cases[] = {
      {", b: f32[40]", "relu(add(", ", b))", false},
      {", p: f32[5,1], q: f32[2,5,40]", "add(mul(", ", p), q)", false},
      {", s: f32[1]", "min(max(mul(", ", s), -1), 6)", false},
      {", b: f32[40]", "silu(add(", ", b))", false},
      {", b: f32[40]", "cast(add(", ", b), bf16)", true},
  };
  for (const auto& [parameters, before, after, narrow] : cases)
    for (bool turned : {false, true}) {
      const std::string text =
          Kernel({2, 5, 70, 40}, kPrologues[1], turned, false, parameters, before, after);
      const std::vector<Candidate> candidates = FindCandidates(GraphOf(text), target_, "prologue");
      // All columns, tiles of 16 and 32, of all terms, of a 4th or of a 16th; of rows from 1 on. Sums need
      // f32.
      EXPECT_EQ(candidates.size(), turned ? 7u : narrow ? 3u : 4u) << text;
      for (const Candidate& candidate : candidates)
        ExpectRight(text, candidate, candidate.parameters[0] == 16 ? Sharing::kTiles : Sharing::kNone,
                    candidate.parameters[0] == 32);
      if (!turned && !narrow) ExpectRight(text, {"prologue", {24, 30}});
    }
}

// From text on, with several nests and threads; of a kernel's constants as well.
TEST_P(RhsPrologueTest, TheSearchFindsRightPlans) {
  for (int threads : {1, 2})
    for (const Prologue& prologue : kPrologues)
      for (bool turned : {false, true}) {
        if (prologue.whole_rows && !turned) continue;
        Verified(Kernel({1, 1, 300, 200}, prologue, turned), WithFreeThreads(target_), threads);
        if (threads == 2) Verified(Kernel({3, 20, 70, 90}, prologue, turned), WithFreeThreads(target_), 2);
      }
  Verified(
      "kernel a(x: f32[2,300], w: const s8[300,200], s: const f32[200]):\n"
      " return matmul(relu(x), mul(cast(w, f32), s))",
      target_);
  Verified(
      "kernel a(x: f32[9,30], w: s8[30,40], v: s8[40,50], s: f32[50]):\n"
      " return softmax(matmul(gelu(matmul(x, cast(w, f32))), mul(cast(v, f32), s)))",
      target_, 2);
}

TEST(RhsPrologueChoiceTest, TheSearchDecides) {
  const auto plan_of = [](const std::string& text) {
    return PrintPlan(PlanOf(GraphOf(text), Avx512Target(), 1)->plan);
  };
  const auto nests = [](const std::string& plan) {
    size_t count = 0;
    for (size_t at = plan.find("nest:"); at != plan.npos; at = plan.find("nest:", at + 1)) ++count;
    return count;
  };
  // The result's columns are what a nest's rows are.
  for (bool turned : {false, true}) {
    const std::string decode = plan_of(Kernel({1, 1, 1024, 2048}, kPrologues[0], turned));
    EXPECT_EQ(nests(decode), 1u) << decode;
    EXPECT_THAT(decode, HasSubstr("nest: batch 1, 2048 rows by "));
    EXPECT_THAT(decode, HasSubstr("each tile: rows(w, c, "));
    // What all tiles read stays where the first has brought it.
    EXPECT_THAT(decode, Not(HasSubstr("matmul f32 1x1024x16 lhs=row@L3")));
  }
  // Rows of x are many, and the weights few.
  const std::string tall = plan_of(Kernel({1, 2048, 64, 64}, kPrologues[0], false));
  EXPECT_EQ(nests(tall), 2u) << tall;
}

TEST(RhsPrologueChoiceTest, ColumnsOfWeightsThatLieInRowsCostMore) {
  const Graph graph = GraphOf(Kernel({1, 1, 1024, 2048}, kPrologues[0], false));
  const GraphUses uses(graph);
  const Target target = FindTarget("sapphirerapids", "")->target;
  const auto cycles = [&](int64_t stride) {
    Stage stage = ShapeBy(uses, {"prologue", {64, 1024}}, target).nests.front().stages.front();
    EXPECT_EQ(stage.row_strides.front(), 2048);
    stage.row_strides.front() = stride;
    PriceStage({Level::kRam, Level::kL2, Level::kL2}, target, nullptr, &stage);
    return stage.cycles;
  };
  EXPECT_GT(cycles(2048), 1.1 * cycles(64));
}

std::string ErrorOf(const std::string& text) {
  const Graph graph = CanonicalGraph(GraphOf(text));
  return ShapeBy(GraphUses(graph), {"prologue", {16, 8}}, Avx512Target()).error;
}

TEST(RhsPrologueChoiceTest, IsOfferedForWhatItIsFor) {
  const auto error = [](const std::string& body) {
    return ErrorOf("kernel a(x: f32[4,8], w: f32[8,16], m: f32[8,16], b: f32[16]):\n" + body);
  };
  EXPECT_EQ(error(" return matmul(x, mul(w, m))"), "");
  EXPECT_EQ(error(" return relu(add(matmul(x, exp(mul(w, m))), b))"), "");
  EXPECT_EQ(error(" return matmul(relu(x), mul(w, m))"), "operations on the columns of a matmul's rhs");
  EXPECT_EQ(error(" return matmul(x, softmax(w))"), "operations on the columns of a matmul's rhs");
  EXPECT_EQ(error(" return matmul(x, mul(w, reduce_sum(m, axis=1)))"),
            "operations on the columns of a matmul's rhs");
  EXPECT_EQ(error(" return softmax(matmul(x, mul(w, m)))"), "what the matmul's epilogue can do");
  EXPECT_EQ(error(" v = mul(w, m)\n return matmul(matmul(x, v), transpose(v))"),
            "values for the matmul only");
  EXPECT_EQ(error(" v = mul(w, m)\n return matmul(v, transpose(v))"), "an lhs from elsewhere");
}

}  // namespace
}  // namespace kirsch::testing
