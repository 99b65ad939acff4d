// SPDX-License-Identifier: Apache-2.0
// Winograd's algorithm: its matrices, every small convolution by it, its bound, and what the search does with
// it.
#include "spec/winograd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "codegen/verify/verify.h"
#include "search/graph/plan_search.h"
#include "spec/meaning/graph_reference.h"
#include "spec/text/cat.h"
#include "tests/testing/on_target_test.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::GraphOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr WinogradStep kSteps[] = {WinogradStep::kFilters, WinogradStep::kInput, WinogradStep::kOutput};

// Along one axis: outputs i = sum over k of x[i + k] g[k], in exact arithmetic but for rounding in double.
TEST(WinogradTest, MatricesComputeTheConvolution) {
  for (int m : kWinogradTiles) {
    const auto map = [m](WinogradStep step, const std::vector<double>& from) {
      const WinogradMatrix matrix = WinogradMapOf(m, step).Product();
      std::vector<double> to(static_cast<size_t>(matrix.rows));
      for (size_t i = 0; i < to.size(); ++i)
        for (size_t j = 0; j < from.size(); ++j) to[i] += matrix.at[i][j] * from[j];
      return to;
    };
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round) {
      std::vector<double> x, g;
      for (int i = 0; i < WinogradInputs(m); ++i) x.push_back(static_cast<double>(random() % 100) - 50);
      for (int i = 0; i < kWinogradKernel; ++i) g.push_back(static_cast<double>(random() % 100) - 50);
      std::vector<double> products = map(WinogradStep::kFilters, g);
      const std::vector<double> inputs = map(WinogradStep::kInput, x);
      for (size_t i = 0; i < products.size(); ++i) products[i] *= inputs[i];
      const std::vector<double> outputs = map(WinogradStep::kOutput, products);
      ASSERT_EQ(outputs.size(), static_cast<size_t>(m));
      for (size_t i = 0; i < outputs.size(); ++i)
        EXPECT_NEAR(outputs[i], x[i] * g[0] + x[i + 1] * g[1] + x[i + 2] * g[2], 1e-9);
    }
  }
}

// The bound rests on it.
TEST(WinogradTest, NothingCancelsOutBetweenTheTwoMatrices) {
  for (int m : kWinogradTiles)
    for (WinogradStep step : kSteps) {
      const WinogradMap& map = WinogradMapOf(m, step);
      WinogradMap magnitudes = map;
      for (WinogradMatrix* matrix : {&magnitudes.second, &magnitudes.first})
        for (auto& row : matrix->at)
          for (double& x : row) x = std::abs(x);
      const WinogradMatrix all = magnitudes.Product(), product = map.Product();
      for (size_t i = 0; i < all.at.size(); ++i)
        for (size_t j = 0; j < all.at.size(); ++j) EXPECT_DOUBLE_EQ(all.at[i][j], std::abs(product.at[i][j]));
    }
}

TEST(WinogradTest, CountsOperationsAndRoundings) {
  const auto counts = [](int m, WinogradStep step) {
    return std::pair(WinogradMapOf(m, step).Operations(), WinogradMapOf(m, step).Roundings());
  };
  EXPECT_EQ(counts(2, WinogradStep::kInput), std::pair(4, 1));
  EXPECT_EQ(counts(2, WinogradStep::kOutput), std::pair(4, 2));
  EXPECT_EQ(counts(2, WinogradStep::kFilters), std::pair(5, 3));  // 1/2 x0 + 1/2 x2, 1/2 x1; two sums
  EXPECT_EQ(counts(4, WinogradStep::kInput), std::pair(12, 5));   // 3 terms with factors, then 2 with one
  EXPECT_EQ(counts(4, WinogradStep::kOutput), std::pair(10, 4));
  EXPECT_EQ(counts(4, WinogradStep::kFilters), std::pair(11, 4));  // 1/6 x0 + 1/6 x2 and 1/6 itself; a sum
}

TEST(WinogradTest, RunsAreWhatCountingGives) {
  for (WinogradStep step : {WinogradStep::kInput, WinogradStep::kOutput})
    for (int m : kWinogradTiles)
      for (int64_t before = 0; before < 9; ++before)
        for (int64_t inside = 0; inside < 30; ++inside) {
          TransformShape shape;
          shape.step = step;
          shape.tile = m;
          shape.axes[0] = {6, before, inside, 1};
          std::vector<TransformRun> each;
          for (const TransformRun& run : shape.Runs(0))
            each.insert(each.end(), static_cast<size_t>(run.squares), run);
          ASSERT_EQ(each.size(), 6u);
          for (int64_t square = 0; square < 6; ++square)
            for (int i = 0; i < shape.window(); ++i) {
              const int64_t at = square * m + i - before;
              const TransformRun& run = each[static_cast<size_t>(square)];
              ASSERT_EQ(i >= run.begin && i < run.end, at >= 0 && at < inside);
            }
        }
}

using testing::Candidate;
using testing::FindCandidates;

std::string Convolution(int images, int channels, int height, int width, int filters, int pad,
                        const std::string& parameters = "", const std::string& before = "",
                        const std::string& after = "") {
  return Cat("kernel a(x: f32[", images, ",", height, ",", width, ",", channels, "], w: f32[3,3,", channels,
             ",", filters, "]", parameters, "):\n return ", before, "conv2d(x, w, pad=", pad,
             ", layout=nhwc)", after);
}

class WinogradOnTest : public testing::OnTargetTest {
 protected:
  void ExpectRight(const std::string& text, const Candidate& candidate, bool header = false) {
    const Plan plan = testing::PlanBy(GraphOf(text), candidate, target_);
    EXPECT_EQ(WinogradConvolutions(plan).empty(), candidate.rewrite != "winograd");
    const VerifyReport report = testing::VerifyPlan(plan, target_, header);
    EXPECT_TRUE(report.ok) << report.first_mismatch << "\n" << text << "\n" << PrintPlan(plan);
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, WinogradOnTest,
                         ::testing::Values(testing::Avx2Target(), testing::Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

// All sides up to 9, with channels and filters around the lengths of vectors (KIRSCH_ALL_SHAPES in the
// environment: all of them).
TEST_P(WinogradOnTest, SmallConvolutionsAreRight) {
  constexpr int kCounts[] = {1, 2, 7, 8, 9, 15, 16, 17, 33};
  const size_t every = std::getenv("KIRSCH_ALL_SHAPES") != nullptr ? 1 : 11;
  size_t number = 0;
  for (int pad = 0; pad <= 2; ++pad)
    for (int height = 1; height <= 9; ++height)
      for (int width = 1; width <= 9; ++width) {
        if (std::min(height, width) + 2 * pad < kWinogradKernel) continue;
        const size_t mixed = static_cast<size_t>(pad * 81 + height * 9 + width);
        const std::string text = Convolution(mixed % 4 == 3 ? 2 : 1, kCounts[mixed % 9], height, width,
                                             kCounts[mixed / 9 % 9], pad);
        for (const Candidate& candidate : FindCandidates(GraphOf(text), target_, "winograd"))
          if (number++ % every == 0) ExpectRight(text, candidate);
        ASSERT_FALSE(HasFailure());
      }
  EXPECT_GT(number, 1000u);
  for (const char* pads : {"0,1,2,1", "1,0,0,2", "2,2,0,0"}) {
    const std::string text =
        absl::StrReplaceAll(Convolution(2, 5, 7, 8, 9, 1), {{"pad=1", Cat("pad=", pads)}});
    for (const Candidate& candidate : FindCandidates(GraphOf(text), target_, "winograd"))
      ExpectRight(text, candidate);
  }
}

TEST_P(WinogradOnTest, EpiloguesAreRight) {
  const struct {
    const char *parameters, *before, *after;
  } cases[] = {
      {", b: f32[20]", "relu(add(", ", b))"},
      {", s: f32[20], b: f32[20], r: f32[2,7,10,20]", "relu(add(add(mul(", ", s), b), r))"},
      {", p: f32[2,7,10,1]", "mul(", ", p)"},
      {", s: f32[1]", "min(max(mul(", ", s), -1), 6)"},
      {", b: f32[20]", "cast(add(", ", b), bf16)"},
      {", b: f32[20]", "cast(mul(", ", b), s8)"},
  };
  for (const auto& [parameters, before, after] : cases) {
    const std::string text = Convolution(2, 6, 7, 10, 20, 1, parameters, before, after);
    const std::vector<Candidate> candidates = FindCandidates(GraphOf(text), target_, "winograd");
    EXPECT_EQ(candidates.size(), 7u);
    for (const Candidate& candidate : candidates)
      ExpectRight(text, candidate, parameters == cases[1].parameters && candidate.parameters[1] == 4);
  }
}

// Filters that are constant are transformed ahead, all of them whichever way it goes.
TEST_P(WinogradOnTest, ConstantFiltersArePrepacked) {
  for (const char* bias : {", b: f32[70]", ", b: const f32[70]"}) {
    std::string text = Convolution(2, 6, 7, 10, 70, 1, bias, "add(", ", b)");
    text.replace(text.find("w: "), 3, "w: const ");
    bool by_filters = false;
    for (const Candidate& candidate : FindCandidates(GraphOf(text), target_, "winograd")) {
      const Plan plan = testing::PlanBy(GraphOf(text), candidate, target_);
      EXPECT_EQ(plan.prepacks.front().kind, StageKind::kTransform);
      EXPECT_EQ(plan.prepacks.size(), bias[5] == 'c' ? 2u : 1u);
      by_filters |= candidate.parameters[2] != 0;
      ExpectRight(text, candidate, candidate.parameters[1] == 4);
    }
    EXPECT_TRUE(by_filters);
  }
}

// Bands and parts of rows, too, cut what has elements for pixels.
TEST_P(WinogradOnTest, EpiloguesAreRightInOtherWays) {
  size_t candidates = 0;
  for (const char* text : {"kernel a(x: f32[2,11,10,6], w: f32[3,3,6,20], p: f32[2,11,10,1]):\n"
                           " return mul(conv2d(x, w, pad=1, layout=nhwc), p)",
                           "kernel a(x: f32[1,11,10,20], w: f32[3,3,1,20], p: f32[1,11,10,1]):\n"
                           " return mul(conv2d(x, w, pad=1, groups=20, layout=nhwc), p)",
                           "kernel a(x: f32[2,6,11,10], w: f32[20,6,3,3], p: f32[2,1,11,10]):\n"
                           " return mul(conv2d(x, w, pad=1), p)",
                           "kernel a(x: f32[2,6,11,10], w: f32[20,6,3,3], p: f32[11,10], b: f32[20,1,1]):\n"
                           " return add(mul(conv2d(x, w, pad=1), p), b)"})
    for (const Candidate& candidate : FindCandidates(GraphOf(text), target_))
      if (candidate.rewrite != "winograd") {
        ExpectRight(text, candidate);
        ++candidates;
      }
  EXPECT_GE(candidates, 5u);
}

// How far off each element is, as a share of what it may be, and the bounds themselves.
struct Errors {
  double worst = 0, largest_bound = 0, largest_value = 0;
};

Errors ComputeErrors(const Plan& plan, const LoopProgram& program, const Target& target) {
  const Graph& graph = plan.graph;
  std::mt19937 random(3);
  std::uniform_real_distribution<float> real(-1, 1);
  std::vector<std::vector<float>> tensors;
  for (int i = 0; i <= graph.num_inputs(); ++i) {
    const int node = i < graph.num_inputs() ? i : graph.only_result();
    tensors.emplace_back(static_cast<size_t>(graph.at(node).type.elements()));
    for (float& x : tensors.back()) x = real(random);
  }
  std::vector<void*> pointers;
  for (std::vector<float>& tensor : tensors) pointers.push_back(tensor.data());
  GraphReference reference(graph, {pointers.begin(), pointers.end() - 1}, WinogradConvolutions(plan));
  const auto kernel = JitCompile(program, target);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  std::vector<std::max_align_t> scratch(
      static_cast<size_t>(program.scratch_bytes) / sizeof(std::max_align_t) + 8);
  void* aligned = scratch.data();
  size_t room = scratch.size() * sizeof(std::max_align_t);
  (*kernel)->Caller()({pointers, std::align(64, static_cast<size_t>(program.scratch_bytes), aligned, room)});
  Errors errors;
  const TensorType& type = graph.TypeOf(graph.results.front());
  size_t at = 0;
  for (int64_t row = 0; row < GraphReference::Rows(type); ++row)
    for (const Uncertain& want : reference.ResultRow(graph.results.front(), row)) {
      const double off = std::abs(static_cast<double>(tensors.back()[at++]) - want.value);
      errors.worst = std::max(errors.worst, off / want.error);
      errors.largest_bound = std::max(errors.largest_bound, want.error);
      errors.largest_value = std::max(errors.largest_value, std::abs(want.value));
    }
  return errors;
}

TEST_P(WinogradOnTest, TheBoundIsMetAndNotWide) {
  for (int channels : {1, 16, 200})
    for (int m : kWinogradTiles) {
      const Plan plan =
          testing::PlanBy(GraphOf(Convolution(1, channels, 13, 11, 24, 1)), {"winograd", {m, m, 0}}, target_);
      const Errors errors = ComputeErrors(plan, Lower(plan, target_, "kernel"), target_);
      EXPECT_LE(errors.worst, 1);
      EXPECT_GT(errors.worst, 1e-3) << channels << " channels, tiles of " << m;
      EXPECT_LT(errors.largest_bound, (m == 2 ? 3e-4 : 1e-2) * errors.largest_value) << channels << " " << m;
    }
}

// One after the other, each number that the transforms multiply by is a little wrong.
TEST_P(WinogradOnTest, AWrongCoefficientIsFound) {
  int wrong = 0;
  for (int m : kWinogradTiles) {
    const Plan plan =
        testing::PlanBy(GraphOf(Convolution(1, 16, 13, 11, 24, 1)), {"winograd", {m, 12, 0}}, target_);
    LoopProgram program = Lower(plan, target_, "kernel");
    std::set<std::string> names;
    for (size_t i = 0; i < program.procedures.size(); ++i) {
      // One of the procedures for each step.
      const std::string& name = program.procedures[i].name;
      if (name.find("winograd") == std::string::npos || !names.insert(name.substr(0, 14)).second) continue;
      for (Stmt& statement : program.procedures[i].body) {
        Fill* const fill = std::get_if<Fill>(&statement.op);
        if (fill == nullptr || fill->word == 0) continue;
        const uint32_t right = fill->word;
        fill->word = std::bit_cast<uint32_t>(std::bit_cast<float>(right) * 1.01f);
        EXPECT_GT(ComputeErrors(plan, program, target_).worst, 1)
            << m << " " << name << " " << std::bit_cast<float>(right);
        fill->word = right;
        ++wrong;
      }
    }
  }
  EXPECT_GE(wrong, 1 + 4 + 3);
}

absl::StatusOr<PlanResult> Planned(const Graph& graph, const Target& target, bool allow, int threads = 1) {
  PlanOptions options;
  options.threads = threads;
  options.allow_winograd = allow;
  return testing::PlanWith(options, graph, target);
}

TEST_P(WinogradOnTest, RandomGraphsAreRight) {
  const char* const asked = std::getenv("KIRSCH_RANDOM_GRAPHS");
  std::mt19937 random(29);
  const auto draw = [&](uint32_t below) { return static_cast<int>(random() % below); };
  int rounds = 0, used = 0;
  for (; rounds < (asked == nullptr ? 12 : std::atoi(asked)) && !HasFailure(); ++rounds) {
    const int images = 1 + draw(4) / 3, channels = 1 + draw(70), filters = 1 + draw(70), pad = draw(3);
    const int height = 3 + draw(18), width = 3 + draw(18);
    const std::string bias = Cat(", b: f32[", filters, "]");
    std::string text = Convolution(images, channels, height, width, filters, pad, bias, "relu(add(", ", b))");
    if (rounds % 3 == 1)  // two convolutions, with the second's bound on top of the first's
      text = Cat("kernel a(x: f32[1,", height, ",", width, ",", channels, "], w: f32[3,3,", channels, ",",
                 filters, "], v: f32[3,3,", filters, ",", channels,
                 "]):\n y = relu(conv2d(x, w, pad=1, layout=nhwc))\n"
                 " return softmax(add(conv2d(y, v, pad=1, layout=nhwc), x))");
    if (rounds % 3 == 2)
      text = Convolution(1, channels, height, width, filters, pad, "", "reduce_mean(silu(",
                         "), axis=1, axis=2)");
    const auto result = Planned(GraphOf(text), target_, true, 1 + rounds % 4 / 3);
    ASSERT_TRUE(result.ok()) << result.status() << "\n" << text;
    used += WinogradConvolutions(result->plan).empty() ? 0 : 1;
    const VerifyReport report = testing::VerifyPlan(result->plan, target_, rounds % 10 == 0);
    EXPECT_TRUE(report.ok) << report.first_mismatch << "\n" << text << "\n" << PrintPlan(result->plan);
  }
  EXPECT_GE(used, rounds / 8);
}

TEST(WinogradChoiceTest, TheSearchDecidesWhereItMay) {
  const Target target = testing::Avx512Target();
  const Graph large = GraphOf(Convolution(1, 64, 28, 28, 64, 1)),
              small = GraphOf(Convolution(1, 64, 1, 1, 64, 1));
  const PlanResult allowed = *Planned(large, target, true), forbidden = *Planned(large, target, false);
  EXPECT_EQ(WinogradConvolutions(allowed.plan), (std::map<int, int>{{large.only_result(), 4}}));
  EXPECT_THAT(PrintPlan(allowed.plan), HasSubstr("out: by Winograd's algorithm, F(4x4,3x3), less exact"));
  EXPECT_LT(allowed.plan.cycles, forbidden.plan.cycles);
  EXPECT_THAT(PrintPlan(forbidden.plan), Not(HasSubstr("inograd")));
  EXPECT_TRUE(WinogradConvolutions(Planned(small, target, true)->plan).empty());
}

TEST(WinogradChoiceTest, IsOfferedForWhatItIsFor) {
  const auto offers = [](const std::string& filters, const std::string& options) {
    const Graph graph = GraphOf(
        Cat("kernel a(x: f32[1,16,16,16], w: f32[", filters, "]):\n return conv2d(x, w", options, ")"));
    return !FindCandidates(graph, testing::Avx512Target(), "winograd").empty();
  };
  EXPECT_TRUE(offers("3,3,16,20", ", layout=nhwc"));
  EXPECT_TRUE(offers("3,3,16,20", ", pad=2, layout=nhwc"));
  EXPECT_FALSE(offers("3,3,16,20", ", stride=2, layout=nhwc"));
  EXPECT_FALSE(offers("3,3,16,20", ", dilation=2, layout=nhwc"));
  EXPECT_FALSE(offers("3,3,8,20", ", groups=2, layout=nhwc"));
  EXPECT_FALSE(offers("3,3,1,16", ", groups=16, layout=nhwc"));
  EXPECT_FALSE(offers("3,2,16,20", ", layout=nhwc"));
  EXPECT_FALSE(offers("5,5,16,20", ", layout=nhwc"));
  EXPECT_FALSE(offers("20,16,3,3", ", pad=1"));
}

}  // namespace
}  // namespace kirsch
