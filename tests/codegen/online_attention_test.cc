// SPDX-License-Identifier: Apache-2.0
// Attention by an online softmax: every small one by it, what may stand around the softmax, scores that are
// no finite numbers, and what the search does with it.
#include "rewrites/graph/online_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "spec/meaning/graph_reference.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "tests/testing/plan_testing.h"

namespace kirsch {
namespace {

using ::testing::ContainsRegex;
using testing::FindCandidates;
using testing::GraphOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::PlanBy;
using testing::PlanOf;

constexpr char kRescaling[] = "maximum maxnum sub exp sum sub exp mul add";  // a row program of a later block

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string Attention(int heads, int rows, int keys, int depth, int width) {
  return Cat("kernel a(q: f32[", heads, ",", rows, ",", depth, "], k: f32[", heads, ",", keys, ",", depth,
             "], v: f32[", heads, ",", keys, ",", width,
             "]):\n return matmul(softmax(matmul(q, transpose(k))), v)");
}

class OnlineAttentionTest : public testing::PlanTest {
 protected:
  void ExpectRight(const std::string& text, int64_t tile, int64_t keys, bool header = false,
                   Sharing sharing = Sharing::kNone) {
    const Graph graph = GraphOf(text);
    Plan plan = PlanBy(graph, {"online", {tile, keys}}, target_);
    plan.nests.front().sharing = sharing;
    const VerifyReport report = testing::VerifyPlan(plan, target_, header);
    EXPECT_TRUE(report.ok) << report.first_mismatch << "\n" << text << "\n" << PrintPlan(plan);
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, OnlineAttentionTest,
                         ::testing::Values(testing::Avx2Target(), testing::Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

// All numbers of keys up to 20, in blocks of all sizes.
TEST_P(OnlineAttentionTest, SmallOnesAreRight) {
  constexpr int kSizes[] = {1, 3, 8, 17};
  int number = 0;
  for (int keys = 2; keys <= 20; ++keys)
    for (int block = 1; block < keys; ++block, ++number) {
      const int heads = 1 + number % 3 / 2, rows = 1 + number % 7;
      ExpectRight(Attention(heads, rows, keys, kSizes[number % 4], kSizes[number / 4 % 4]),
                  std::min(rows, 1 + number % 4), block);
      ASSERT_FALSE(HasFailure()) << keys << " keys by " << block;
    }
  EXPECT_EQ(number, 190);
}

TEST_P(OnlineAttentionTest, WhatStandsAroundTheSoftmaxIsRight) {
  const struct {
    const char *parameters, *scores, *result;
  } cases[] = {
      {"", "mul(matmul(q, transpose(k)), 0.3)", "matmul(softmax(s), v)"},
      {", m: f32[37]", "add(mul(matmul(q, transpose(k)), 0.3), m)", "matmul(softmax(s), v)"},
      {", m: f32[9,37]", "add(matmul(q, transpose(k)), m)", "matmul(softmax(s), v)"},
      {", m: f32[2,1,37]", "add(matmul(q, transpose(k)), m)", "matmul(softmax(s), v)"},
      {", m: f32[2,9,1], n: bf16[2,9,37]", "mul(add(matmul(q, transpose(k)), cast(n, f32)), m)",
       "matmul(softmax(s), v)"},
      {", m: f32[9,37]", "tanh(min(add(matmul(q, transpose(k)), m), 3))", "relu(matmul(softmax(s), v))"},
      {", x: f32[2,9,12], g: f32[12]", "matmul(q, transpose(k))", "add(mul(matmul(softmax(s), v), g), x)"},
      {", g: f32[12], b: f32[12]", "matmul(q, transpose(k))", "layernorm(matmul(softmax(s), v), g, b)"},
      {"", "matmul(q, transpose(k))", "cast(silu(matmul(softmax(s), v)), bf16)"},
      {"", "matmul(q, transpose(k))", "reduce_sum(matmul(softmax(s), v), axis=2)"},
      {", w: bf16[2,37,12]", "matmul(q, transpose(k))", "matmul(cast(softmax(s), bf16), w)"},
      {", w: f16[2,37,12]", "matmul(q, transpose(k))", "matmul(cast(softmax(s), f16), w)"},
      {", w: f32[2,12,37]", "matmul(q, transpose(k))", "matmul(softmax(s), transpose(w))"},
      {", l: f32[2,5,37]", "matmul(q, l)", "matmul(softmax(s), v)"},
      {", p: f32[2,5,9]", "matmul(transpose(p), transpose(k))", "matmul(softmax(s), v)"},
      {", x: bf16[2,9,6], y: bf16[2,6,37]", "matmul(x, y)", "matmul(softmax(s), v)"},
      {", x: u8[2,9,6], y: s8[2,6,37]", "mul(cast(matmul(x, y), f32), 0.001)", "matmul(softmax(s), v)"},
  };
  for (const auto& [parameters, scores, result] : cases) {
    const std::string text = Cat("kernel a(q: f32[2,9,5], k: f32[2,37,5], v: f32[2,37,12]", parameters,
                                 "):\n s = ", scores, "\n return ", result);
    for (const auto& [tile, keys] : {std::pair(9, 36), {4, 16}, {2, 8}})
      ExpectRight(text, tile, keys, tile == 4 && parameters == cases[5].parameters);
  }
}

// Rows of several heads of queries are one matrix's: tiles reach from one to the next.
TEST_P(OnlineAttentionTest, HeadsMayShareTheirKeys) {
  for (const auto& [heads, of_keys] : {std::pair(6, 2), {4, 1}, {8, 4}})
    for (const auto& [tile, keys] : {std::pair(5, 16), {7, 8}, {2, 19}})
      for (const char* more :
           {"", ", m: f32[20]", ", m: f32[1,1,20]", ", m: f32[$,5,1]", ", m: f32[$,5,20]"}) {
        const std::string scores = *more == 0 ? "matmul(q, transpose(k))" : "add(matmul(q, transpose(k)), m)";
        ExpectRight(Cat("kernel a(q: f32[", heads, ",5,8], k: f32[", of_keys, ",20,8], v: f32[", of_keys,
                        ",20,12]", absl::StrReplaceAll(more, {{"$", Cat(heads)}}),
                        "):\n return matmul(softmax(", scores, "), v)"),
                    tile, keys);
        ASSERT_FALSE(HasFailure()) << heads << " heads of queries, " << of_keys << " of keys";
      }
}

// Whatever stands in the way: heads that share keys only, masks for each row of every head, queries that are
// shared, transposed ones.
TEST_P(OnlineAttentionTest, WhatSharesOtherwiseIsRight) {
  for (const char* text : {"kernel a(q: f32[6,5,8], k: f32[2,20,8], v: f32[6,20,12]):\n"
                           " return matmul(softmax(matmul(q, transpose(k))), v)",
                           "kernel a(q: f32[6,5,8], k: f32[2,20,8], v: f32[2,20,12], m: f32[5,20]):\n"
                           " return matmul(softmax(add(matmul(q, transpose(k)), m)), v)",
                           "kernel a(q: f32[2,5,8], k: f32[6,20,8], v: f32[3,20,12]):\n"
                           " return matmul(matmul(q, transpose(k)), v)",
                           "kernel a(q: f32[6,8,5], k: f32[3,8,20], b: f32[6,1,20]):\n"
                           " return relu(add(matmul(transpose(q), k), b))"}) {
    const Plan plan = PlanOf(GraphOf(text), target_, 1)->plan;
    const VerifyReport report = testing::VerifyPlan(plan, target_, true);
    EXPECT_TRUE(report.ok) << report.first_mismatch << "\n" << text << "\n" << PrintPlan(plan);
  }
}

TEST_P(OnlineAttentionTest, ThreadsShareItemsAndTiles) {
  for (Sharing sharing : {Sharing::kItems, Sharing::kTiles})
    ExpectRight(Attention(3, 10, 50, 8, 16), 4, 16, sharing == Sharing::kTiles, sharing);
}

// Attention of q = 1 and k = 0, so that scores are what is added to them, rows of `scores`.
std::vector<float> Weighed(const std::vector<float>& scores, size_t keys, const std::vector<float>& values,
                           const Target& target, std::vector<Uncertain>* expected) {
  const size_t rows = scores.size() / keys;
  const Graph graph =
      GraphOf(Cat("kernel a(q: f32[", rows, ",1], k: f32[1,", keys, "], m: f32[", rows, ",", keys,
                  "], v: f32[", keys, ",1]):\n return matmul(softmax(add(matmul(q, k), m)), v)"));
  const Plan plan = PlanBy(graph, {"online", {2, 4}}, target);
  const LoopProgram program = Lower(plan, target, "kernel");
  const auto kernel = JitCompile(program, target);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  std::vector<float> q(rows, 1), k(keys, 0), m = scores, v = values, out(rows);
  std::vector<void*> tensors = {q.data(), k.data(), m.data(), v.data(), out.data()};
  std::vector<std::max_align_t> scratch(
      static_cast<size_t>(program.scratch_bytes) / sizeof(std::max_align_t) + 8);
  void* aligned = scratch.data();
  size_t room = scratch.size() * sizeof(std::max_align_t);
  (*kernel)->Caller()({tensors, std::align(64, static_cast<size_t>(program.scratch_bytes), aligned, room)});
  GraphReference reference(graph, {tensors.begin(), tensors.end() - 1});
  for (size_t row = 0; row < rows; ++row)
    expected->push_back(reference.ResultRow(graph.results.front(), static_cast<int64_t>(row)).front());
  return out;
}

// Rows of all patterns of ordinary scores, -inf, and very large and small ones in blocks of four keys.
TEST_P(OnlineAttentionTest, MaskedAndExtremeScoresAreRight) {
  constexpr float kLarge = std::numeric_limits<float>::max();
  constexpr size_t kKeys = 14;
  std::vector<float> scores;
  const float kinds[] = {0.5f, -kInfinity, -kLarge, 90, -1e30f, 1e30f};
  for (int first = 0; first < 6; ++first)
    for (int second = 0; second < 6; ++second)
      for (int last = 0; last < 6; ++last)
        for (size_t i = 0; i < kKeys; ++i)
          scores.push_back(i % 4 == 3 ? kinds[i / 4 % 2 == 0 ? second : last]
                                      : kinds[i < 4    ? first
                                              : i < 12 ? second
                                                       : last]);
  std::vector<float> values;
  for (size_t i = 0; i < kKeys; ++i) values.push_back(static_cast<float>(i * i % 11) - 4);
  std::vector<Uncertain> expected;
  const std::vector<float> got = Weighed(scores, kKeys, values, target_, &expected);
  int masked = 0;
  for (size_t row = 0; row < got.size(); ++row) {
    masked += expected[row].value == 0 ? 1 : 0;  // all scores are -inf
    EXPECT_NEAR(got[row], expected[row].value, 1e-5) << row;
  }
  EXPECT_EQ(masked, 1);
}

TEST_P(OnlineAttentionTest, ScoresThatAreNoNumbersMakeNoNumbers) {
  constexpr size_t kKeys = 14;
  std::vector<float> scores(2 * kKeys * kKeys, 0.25f);
  for (size_t i = 0; i < kKeys; ++i) {
    scores[i * kKeys + i] = kInfinity;
    scores[(kKeys + i) * kKeys + i] = std::numeric_limits<float>::quiet_NaN();
  }
  std::vector<Uncertain> expected;
  for (float x : Weighed(scores, kKeys, std::vector<float>(kKeys, 1), target_, &expected))
    EXPECT_TRUE(std::isnan(x));
  for (const Uncertain& x : expected) EXPECT_TRUE(std::isnan(x.value));
}

// A real target of the same vectors, with caches that hold a few rows of scores.
Target WithSmallCaches(const Target& target) {
  Target small = FindTarget(target.HasFeature("avx512f") ? "sapphirerapids" : "haswell", "")->target;
  small.memory[static_cast<size_t>(Level::kL1)].bytes = 8192;
  small.memory[static_cast<size_t>(Level::kL2)].bytes = 32768;
  return testing::WithFreeThreads(small);
}

// Where rows of scores leave the caches, with copies of the keys for all tiles.
TEST_P(OnlineAttentionTest, TheSearchDecides) {
  const Target small = WithSmallCaches(target_);
  const std::string few = "attention f32 heads=2 tokens=40 dim=16";
  EXPECT_THAT(PrintPlan(PlanOf(GraphOf(few), small, 1)->plan), Not(HasSubstr(kRescaling)));
  const auto found = PlanOf(GraphOf("attention f32 heads=1 tokens=800 dim=16"), small, 1);
  const std::string text = PrintPlan(found->plan);
  // How many keys a tile has is for each target's own costs to say.
  EXPECT_THAT(text, ContainsRegex(Cat("x[0-9]+: mul ", kRescaling)));
  EXPECT_THAT(text, ContainsRegex("each tile, [2-9] in turn: rows"));
  EXPECT_THAT(text, ContainsRegex("pack.k, copy[0-9]*. [2-9] x matmul"));
  const VerifyReport report = testing::VerifyPlan(found->plan, small);
  EXPECT_TRUE(report.ok) << report.first_mismatch << "\n" << text;
}

TEST_P(OnlineAttentionTest, IsOneGroupOfSeveral) {
  const Target small = WithSmallCaches(target_);
  const std::string text =
      "kernel a(x: f32[500,20], wq: f32[20,16], wk: f32[20,16], wv: f32[20,16], wo: f32[16,24]):\n"
      " q = matmul(x, wq)\n k = matmul(x, wk)\n v = matmul(x, wv)\n"
      " return matmul(add(matmul(softmax(matmul(q, transpose(k))), v), q), wo)";
  const auto found = PlanOf(GraphOf(text), small, 2);
  EXPECT_THAT(PrintPlan(found->plan), HasSubstr(kRescaling));
  const VerifyReport report = testing::VerifyPlan(found->plan, small, true);
  EXPECT_TRUE(report.ok) << report.first_mismatch << "\n" << PrintPlan(found->plan);
}

TEST(OnlineAttentionChoiceTest, IsOfferedForWhatItIsFor) {
  const auto offers = [](const std::string& body) {
    const Graph graph = GraphOf(
        "kernel a(q: f32[9,5], k: f32[5,99], v: f32[99,12], u: f32[99,99], m: f32[9,99], "
        "n: f32[99,9], w: f32[12,9]):\n" +
        body);
    return !FindCandidates(graph, testing::Avx512Target(), "online").empty();
  };
  EXPECT_TRUE(offers(" return matmul(softmax(matmul(q, k)), v)"));
  EXPECT_TRUE(offers(" return add(matmul(softmax(add(matmul(q, k), m)), v), 1)"));
  EXPECT_TRUE(offers(" s = matmul(q, k)\n return matmul(softmax(mul(s, sigmoid(s))), v)"));
  EXPECT_FALSE(offers(" return matmul(matmul(q, k), v)"));
  EXPECT_FALSE(offers(" return matmul(softmax(m), v)"));
  EXPECT_FALSE(offers(" return matmul(softmax(softmax(matmul(q, k))), v)"));
  EXPECT_FALSE(offers(" return matmul(mul(softmax(matmul(q, k)), 2), v)"));
  EXPECT_FALSE(offers(" return matmul(softmax(cast(cast(matmul(q, k), bf16), f32)), v)"));
  // What is needed once more.
  EXPECT_FALSE(offers(" s = matmul(q, k)\n return matmul(softmax(s), mul(transpose(s), n))"));
  EXPECT_FALSE(offers(" p = softmax(matmul(q, k))\n return add(matmul(p, v), reduce_sum(p, axis=1))"));
  EXPECT_FALSE(offers(" p = softmax(matmul(q, k))\n return add(matmul(p, u), p)"));
  EXPECT_FALSE(offers(" s = matmul(q, k)\n return add(matmul(softmax(s), u), s)"));
  EXPECT_FALSE(offers(" o = matmul(softmax(matmul(q, k)), v)\n return matmul(o, w)"));
}

}  // namespace
}  // namespace kirsch
