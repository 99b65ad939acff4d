// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions: the reference and all candidates against loops that add each pixel of the image to
// the output, which know nothing of phases; what the search makes of them; and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "codegen/llvm/host_cpu.h"
#include "spec/language/parser.h"
#include "spec/meaning/graph_reference.h"
#include "spec/text/cat.h"
#include "tests/testing/on_target_test.h"
#include "tests/testing/plan_code.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::Candidate;
using testing::FindCandidates;
using testing::GraphOf;
using ::testing::HasSubstr;

// Sizes along an axis of the image.
struct Along {
  int size = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;

  int whole() const { return (size - 1) * stride + (kernel - 1) * dilation + 1; }
  int out() const { return whole() - before - after; }
};

// Images have the last `rank` of three axes.
struct Problem {
  size_t rank = 2;
  bool nhwc = true, constant = false;
  int images = 1, channels = 1, filters = 1;
  std::array<Along, 3> axes = {};

  template <typename Member>
  std::string Joined(const Member& member, const char* sign = "x") const {
    std::vector<int> numbers;
    for (size_t axis = 3 - rank; axis < 3; ++axis) numbers.push_back(member(axes[axis]));
    return absl::StrJoin(numbers, sign);
  }
  std::string Text() const {
    static constexpr std::array<std::array<const char*, 2>, 3> kLayouts = {
        {{"ncw", "nwc"}, {"nchw", "nhwc"}, {"ncdhw", "ndhwc"}}};
    return Cat("conv", rank, "d_transpose f32 ", images, "x", channels, "x",
               Joined([](const Along& a) { return a.size; }), " filters=", filters,
               " kernel=", Joined([](const Along& a) { return a.kernel; }),
               " stride=", Joined([](const Along& a) { return a.stride; }),
               " pad=", Joined([](const Along& a) { return a.before; }, ","), ",",
               Joined([](const Along& a) { return a.after; }, ","),
               " dilation=", Joined([](const Along& a) { return a.dilation; }),
               " layout=", kLayouts[rank - 1][nhwc ? 1 : 0], constant ? " const-filters" : "");
  }
  bool HasPixels() const {
    return std::all_of(axes.begin(), axes.end(), [](const Along& along) { return along.out() > 0; });
  }
  int64_t Multiplications() const {
    int64_t all = int64_t{images} * channels * filters;
    for (const Along& along : axes) all *= int64_t{along.size} * along.kernel;
    return all;
  }
};

// Where an element is, of a tensor [images][of each channel][axes...] or [images][axes...][channels].
int64_t Place(bool last, int image, int channel, int channels, const std::array<int, 3>& at,
              const std::array<int, 3>& sizes) {
  int64_t pixel = 0, pixels = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    pixel = pixel * sizes[axis] + at[axis];
    pixels *= sizes[axis];
  }
  return last ? (image * pixels + pixel) * channels + channel
              : (int64_t{image} * channels + channel) * pixels + pixel;
}

template <typename Use>
void ForEachPixel(const std::array<int, 3>& sizes, const Use& use) {
  std::array<int, 3> at = {};
  for (at[0] = 0; at[0] < sizes[0]; ++at[0])
    for (at[1] = 0; at[1] < sizes[1]; ++at[1])
      for (at[2] = 0; at[2] < sizes[2]; ++at[2]) use(at);
}

// The definition: each pixel is added to the output through each tap; what is in the pads is dropped.
std::vector<double> Scattered(const Problem& p, const std::vector<float>& image,
                              const std::vector<float>& filters) {
  std::array<int, 3> sizes = {}, taps = {}, outs = {};
  int64_t elements = int64_t{p.images} * p.filters;
  for (size_t axis = 0; axis < 3; ++axis) {
    sizes[axis] = p.axes[axis].size;
    taps[axis] = p.axes[axis].kernel;
    outs[axis] = p.axes[axis].out();
    elements *= outs[axis];
  }
  std::vector<double> out(static_cast<size_t>(elements));
  const int64_t kernel = int64_t{taps[0]} * taps[1] * taps[2];
  for (int n = 0; n < p.images; ++n)
    ForEachPixel(sizes, [&](const std::array<int, 3>& pixel) {
      ForEachPixel(taps, [&](const std::array<int, 3>& tap) {
        std::array<int, 3> to = {};
        for (size_t axis = 0; axis < 3; ++axis) {
          const Along& along = p.axes[axis];
          to[axis] = pixel[axis] * along.stride + tap[axis] * along.dilation - along.before;
          if (to[axis] < 0 || to[axis] >= outs[axis]) return;
        }
        const int64_t number = (int64_t{tap[0]} * taps[1] + tap[1]) * taps[2] + tap[2];
        for (int c = 0; c < p.channels; ++c)
          for (int f = 0; f < p.filters; ++f) {
            const int64_t weight = p.nhwc ? (number * p.channels + c) * p.filters + f
                                          : (int64_t{c} * p.filters + f) * kernel + number;
            out[static_cast<size_t>(Place(p.nhwc, n, f, p.filters, to, outs))] +=
                double{image[static_cast<size_t>(Place(p.nhwc, n, c, p.channels, pixel, sizes))]} *
                double{filters[static_cast<size_t>(weight)]};
          }
      });
    });
  return out;
}

void ExpectReferenceIsScattered(const Problem& problem) {
  const Graph graph = GraphOf(problem.Text());
  ASSERT_FALSE(graph.nodes.empty());
  const std::vector<std::vector<float>> inputs = testing::SmallIntegers(graph, 8);
  const std::vector<double> expected = Scattered(problem, inputs[0], inputs[1]);
  const TensorType& type = graph.TypeOf(graph.results.front());
  ASSERT_EQ(type.elements(), static_cast<int64_t>(expected.size())) << problem.Text();
  GraphReference reference(graph, {inputs[0].data(), inputs[1].data()});
  size_t at = 0;
  for (int64_t row = 0; row < GraphReference::Rows(type); ++row)
    for (const Uncertain& want : reference.ResultRow(graph.results.front(), row))
      ASSERT_EQ(want.value, expected[at++]) << problem.Text() << " row " << row;
}

// Every problem of one axis with up to 4 pixels and 4 taps.
template <typename Use>
void ForEachSmall(const Use& use) {
  Problem problem;
  problem.rank = 1;
  Along& along = problem.axes[2];
  size_t number = 0;
  for (along.size = 1; along.size <= 4; ++along.size)
    for (along.kernel = 1; along.kernel <= 4; ++along.kernel)
      for (along.stride = 1; along.stride <= 4; ++along.stride)
        for (along.dilation = 1; along.dilation <= 3; ++along.dilation)
          for (along.before = 0; along.before <= 3; ++along.before)
            for (along.after = 0; along.after <= 3; ++along.after) {
              if (!problem.HasPixels()) continue;
              problem.nhwc = number % 2 == 0;
              problem.images = number % 5 == 0 ? 2 : 1;
              problem.channels = 1 + static_cast<int>(number % 3);
              problem.filters = 1 + static_cast<int>(number / 3 % 3);
              use(problem, number++);
              if (::testing::Test::HasFailure()) return;
            }
}

Problem RandomProblem(int64_t most, std::mt19937& random) {
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<uint32_t>(below)); };
  while (true) {
    Problem problem;
    problem.rank = draw(4) == 0 ? 1 + 2 * static_cast<size_t>(draw(2)) : 2;
    problem.nhwc = draw(3) > 0;
    problem.constant = draw(3) == 0;
    problem.images = draw(4) == 0 ? 2 : 1;
    problem.channels = 1 + draw(draw(2) == 0 ? 4 : 40);
    problem.filters = 1 + draw(draw(2) == 0 ? 4 : 40);
    for (size_t axis = 3 - problem.rank; axis < 3; ++axis) {
      Along& along = problem.axes[axis];
      along.size = 1 + draw(problem.rank == 3 ? 5 : 12);
      along.kernel = 1 + draw(5);
      along.stride = 1 + draw(3);
      along.dilation = draw(4) == 0 ? 2 : 1;
      along.before = draw(3);
      along.after = draw(3);
    }
    if (problem.HasPixels() && problem.Multiplications() <= most) return problem;
  }
}

TEST(TransposedConvolutionTest, TheReferenceAddsEachPixel) {
  size_t problems = 0;
  ForEachSmall([&](const Problem& problem, size_t) {
    ExpectReferenceIsScattered(problem);
    ++problems;
  });
  EXPECT_GT(problems, 2000u);
  std::mt19937 random(1);
  for (int round = 0; round < 150 && !HasFailure(); ++round)
    ExpectReferenceIsScattered(RandomProblem(30000, random));
}

class TransposedOnTest : public testing::OnTargetTest {
 protected:
  void ExpectIsScattered(const Problem& problem, const Candidate& candidate) const {
    const Graph graph = GraphOf(problem.Text());
    const std::vector<std::vector<float>> inputs = testing::SmallIntegers(graph, 8);
    const std::vector<double> expected = Scattered(problem, inputs[0], inputs[1]);
    const Plan plan = testing::PlanBy(graph, candidate, target_);
    const std::vector<float> values = testing::RunPlan(plan, target_, inputs);
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(double{values[i]}, expected[i])
          << problem.Text() << " loops=" << candidate.parameters[0] << " element " << i << "\n"
          << PrintPlan(plan);
  }

  void ExpectRight(const std::string& text, size_t candidates) const {
    const std::vector<Candidate> all = FindCandidates(GraphOf(text), target_);
    EXPECT_EQ(all.size(), candidates) << text;
    for (const Candidate& candidate : all) {
      const Plan plan = testing::PlanBy(GraphOf(text), candidate, target_);
      const VerifyReport report = testing::VerifyPlan(plan, target_);
      EXPECT_TRUE(report.ok) << report.first_mismatch << "\n" << text << "\n" << PrintPlan(plan);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, TransposedOnTest,
                         ::testing::Values(testing::Avx2Target(), testing::Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

// KIRSCH_ALL_SHAPES in the environment: all of them.
TEST_P(TransposedOnTest, CandidatesAddEachPixel) {
  const size_t every = std::getenv("KIRSCH_ALL_SHAPES") != nullptr ? 1 : 17;
  size_t candidates = 0;
  ForEachSmall([&](const Problem& problem, size_t number) {
    if (number % every != 0) return;
    for (const Candidate& candidate : FindCandidates(GraphOf(problem.Text()), target_)) {
      ExpectIsScattered(problem, candidate);
      ++candidates;
    }
  });
  EXPECT_GT(candidates, 2000 / every);
  std::mt19937 random(2);
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    Problem problem = RandomProblem(300000, random);
    problem.constant = false;
    for (const Candidate& candidate : FindCandidates(GraphOf(problem.Text()), target_))
      ExpectIsScattered(problem, candidate);
  }
}

TEST_P(TransposedOnTest, PlansAreRight) {
  std::mt19937 random(3);
  for (int round = 0; round < testing::Rounds(25) && !HasFailure(); ++round)
    testing::Verified(RandomProblem(500000, random).Text(), testing::WithFreeThreads(target_), 1 + round % 2,
                      round % 12 == 0);
}

TEST_P(TransposedOnTest, EpiloguesAreRight) {
  const std::string head = "kernel a(x: f32[2,3,5,6], w: f32[3,3,6,20]",
                    call = "conv2d_transpose(x, w, stride=2, ";
  ExpectRight(Cat(head, ", b: f32[20]):\n return relu(add(", call, "layout=nhwc), b))"), 2);
  ExpectRight(
      Cat(head, ", b: f32[20], r: f32[2,7,11,20]):\n return relu(add(add(", call, "layout=nhwc), b), r))"),
      2);
  ExpectRight(Cat(head, ", r: f32[2,3,11,20]):\n return add(", call, "pad=2,0, 2,0, layout=nhwc), r)"), 2);
  // A kernel of fewer taps than the stride leaves zeros, which get the epilogue, too.
  ExpectRight(
      "kernel a(x: f32[2,3,5,6], w: f32[1,2,6,20], b: f32[20]):\n"
      " return add(conv2d_transpose(x, w, stride=3, layout=nhwc), b)",
      2);
  // These are no part of its sums: operations of their own.
  for (const char* text : {"kernel a(x: f32[2,3,5,6], w: f32[3,3,6,20], p: f32[2,7,11,1]):\n"
                           " return mul(conv2d_transpose(x, w, stride=2, layout=nhwc), p)",
                           "kernel a(x: f32[2,3,5,6], w: f32[3,3,6,20]):\n"
                           " return cast(conv2d_transpose(x, w, stride=2, layout=nhwc), bf16)",
                           "kernel a(x: f32[2,6,3,5], w: f32[6,20,3,3], b: f32[20,1,1]):\n"
                           " return add(conv2d_transpose(x, w, stride=2), b)",
                           "kernel a(x: f32[2,6,3,5], w: const f32[6,20,3,3]):\n"
                           " return conv2d(conv2d_transpose(relu(x), w, stride=2), transpose(w))"})
    testing::VerifiedPlan(text, target_, 2);
}

// Pixels that no tap reaches are 0 whatever the image and the filters are.
TEST_P(TransposedOnTest, ZerosAreNoProducts) {
  Problem problem;
  problem.channels = problem.filters = 2;
  problem.axes[2].size = 3;
  problem.axes[2].stride = problem.axes[1].stride = 2;
  const Graph graph = GraphOf(problem.Text());
  std::vector<std::vector<float>> inputs = testing::SmallIntegers(graph, 8);
  for (std::vector<float>& input : inputs)
    std::fill(input.begin(), input.end(), std::numeric_limits<float>::infinity());
  for (const Candidate& candidate : FindCandidates(graph, target_)) {
    const std::vector<float> values =
        testing::RunPlan(testing::PlanBy(graph, candidate, target_), target_, inputs);
    ASSERT_EQ(values.size(), 10u);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(values[i], i / 2 % 2 == 0 ? std::numeric_limits<float>::infinity() : 0) << i;
  }
}

// Matrices of constant filters, one for each tap, are packed ahead.
TEST_P(TransposedOnTest, ConstantFiltersArePackedAhead) {
  const Plan plan = testing::VerifiedPlan(
      "conv2d_transpose f32 1x64x16x16 filters=64 kernel=4x4 stride=2 pad=1 layout=nhwc const-filters",
      target_);
  EXPECT_FALSE(plan.prepacks.empty());
  for (const LoopNest& nest : plan.nests)
    for (const Stage* stage : StagesOf(nest)) EXPECT_NE(stage->kind, StageKind::kPack) << PrintPlan(plan);
  const Plan turned = testing::VerifiedPlan(
      "conv2d_transpose f32 1x64x16x16 filters=64 kernel=4x4 stride=2 pad=1 layout=nchw const-filters",
      target_);
  ASSERT_EQ(turned.prepacks.size(), 1u);
  EXPECT_EQ(turned.prepacks[0].kind, StageKind::kTranspose);
}

TEST_P(TransposedOnTest, ManyTapsGoInLoops) {
  const std::vector<Candidate> many = FindCandidates(
      GraphOf("conv2d_transpose f32 1x3x4x4 filters=5 kernel=16x16 stride=16 layout=nhwc"), target_);
  ASSERT_EQ(many.size(), 1u);
  EXPECT_EQ(many[0].parameters[0], 1);
  Problem problem;
  problem.channels = 3;
  problem.filters = 5;
  for (size_t axis : {1, 2}) problem.axes[axis] = {4, 16, 16, 1, 0, 0};
  ExpectIsScattered(problem, many[0]);
  for (size_t axis : {1, 2}) problem.axes[axis] = {4, 13, 1, 1, 2, 1};
  ExpectIsScattered(problem, many[0]);
}

std::string ErrorOf(const std::string& text) {
  return std::string(IsGraphShorthand(text) ? ParseGraphShorthand({text, {}}, "spec").status().message()
                                            : ParseGraph(Split({text, {}}, '\n'), "spec").status().message());
}

TEST(TransposedConvolutionTest, SaysWhatIsWrongAndWhere) {
  const std::string pads = "pads that leave from 1 to 1048576 pixels of the output along each axis";
  const std::pair<std::string, std::string> cases[] = {
      {"conv2d_transpose f32 1x4x9x9 filters=2 kernel=3x3 pad=6 layout=nhwc",
       Cat("spec:1:55: expected ", pads, ", got '6'")},
      {"conv2d_transpose f32 1x4x9x9 filters=2 kernel=3x3 stride=900000 layout=nhwc",
       Cat("spec:1:22: expected ", pads, ", got '1x4x9x9'")},
      {"conv2d_transpose f32 1x4x9 filters=2 kernel=3x3",
       "spec:1:22: expected the input's sizes as IMAGESxCHANNELSxHEIGHTxWIDTH, got '1x4x9'"},
      {"conv2d_transpose bf16*bf16->f32 1x4x9x9 filters=2 kernel=3x3",
       "spec:1:18: expected f32, without leaky_relu by a tensor, got 'bf16*bf16->f32'"},
      {"kernel a(x: f32[1,4,9,9], w: f32[2,4,3,3]):\n return conv2d_transpose(x, w)",
       "spec:1:53: expected an f32 image [N,C,H,W] and f32 filters [C,F,KH,KW], got f32[1,4,9,9] and "
       "f32[2,4,3,3]"},
      {"kernel a(x: f32[1,9,9,4], w: f32[3,3,5,4]):\n return conv2d_transpose(x, w, layout=nhwc)",
       "spec:1:53: expected an f32 image [N,H,W,C] and f32 filters [KH,KW,C,F], got f32[1,9,9,4] and "
       "f32[3,3,5,4]"},
      {"kernel a(x: f32[1,4,9], w: f32[4,2,3]):\n return conv1d_transpose(x, w, pad=6)",
       Cat("spec:1:49: expected ", pads, ", got f32[1,4,9] and f32[4,2,3]")},
      {"kernel a(x: f32[1,4,9], w: f32[4,2,3]):\n return conv1d_transpose(x, w, groups=2)",
       "spec:1:72: expected an option (stride pad dilation layout), got 'groups'"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
  EXPECT_THAT(ErrorOf("conv2d_transpose f32 1x4x9x9 filters=2 kernel=3x3 groups=2"),
              HasSubstr("spec:1:51: "));
  EXPECT_THAT(std::string(ParseSpec("conv2d_transpose f32 1x4x9x9 filters=2 kernel=3x3").status().message()),
              HasSubstr("spec:1:22: expected a single contraction"));
}

// The shorthand is what the kernel language says.
TEST(TransposedConvolutionTest, TextsReturn) {
  const std::string text = PrintGraph(
      GraphOf("conv2d_transpose f32 1x4x9x8 filters=2 kernel=3x2 stride=2x1 pad=1,0,0,1 layout=nhwc "
              "const-filters epilogue=relu"));
  EXPECT_THAT(text, HasSubstr("(image: f32[1,9,8,4], filters: const f32[3,2,4,2]) -> f32[1,18,8,2]:\n"
                              "  v2 = conv2d_transpose(image, filters, stride=2x1, pad=1,0,0,1, dilation=1, "
                              "layout=nhwc)\n  v4 = max(v2, 0)\n"));
  EXPECT_EQ(PrintGraph(GraphOf(text.substr(0, text.size() - 1))), text);
}

}  // namespace
}  // namespace kirsch
