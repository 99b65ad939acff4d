// SPDX-License-Identifier: Apache-2.0
// Convolutions of channels in blocks: the reference, all candidates, and what the search makes of them,
// against loops over the arrays as a caller has them; and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
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
struct Side {
  int size = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;

  int room() const { return before + size + after - (kernel - 1) * dilation - 1; }
  int out() const { return room() / stride + 1; }
};

// Images have the last `rank` of three axes. Blocks of channels and of filters are counted in each group. A
// depthwise convolution has so many blocks of both, and a group for each channel.
struct Layer {
  size_t rank = 2;
  int block = 16, images = 1, groups = 1, in_blocks = 1, out_blocks = 1;
  bool depthwise = false, constant = false;
  std::string epilogue;
  std::array<Side, 3> sides = {};

  int channels() const { return block * in_blocks * groups; }
  int filters() const { return block * (depthwise ? in_blocks : out_blocks) * groups; }
  template <typename Member>
  std::string Joined(const Member& member, const char* sign = "x") const {
    std::vector<int> numbers;
    for (size_t axis = 3 - rank; axis < 3; ++axis) numbers.push_back(member(sides[axis]));
    return absl::StrJoin(numbers, sign);
  }
  std::string Text() const {
    return Cat("conv", rank, "d f32 ", images, "x", channels(), "x",
               Joined([](const Side& a) { return a.size; }), " filters=", filters(),
               " kernel=", Joined([](const Side& a) { return a.kernel; }),
               " stride=", Joined([](const Side& a) { return a.stride; }),
               " pad=", Joined([](const Side& a) { return a.before; }, ","), ",",
               Joined([](const Side& a) { return a.after; }, ","),
               " dilation=", Joined([](const Side& a) { return a.dilation; }),
               " groups=", depthwise ? channels() : groups, " layout=nc", std::string("dhw").substr(3 - rank),
               block, "c", constant ? " const-filters" : "", epilogue.empty() ? "" : " epilogue=", epilogue);
  }
  bool HasPixels() const {
    return std::all_of(sides.begin(), sides.end(), [](const Side& side) { return side.room() >= 0; });
  }
  int64_t Multiplications() const {
    int64_t all = int64_t{images} * filters() * (depthwise ? 1 : block * in_blocks);
    for (const Side& side : sides) all *= int64_t{side.out()} * side.kernel;
    return all;
  }
};

// The sum for filter `f` of image `n` at a pixel. The arrays are [image][channel / B][d][h][w][channel % B]
// and [filter / B][channel / B][kd][kh][kw][channel % B][filter % B]. Filters of a depthwise one are
// [filter / B][kd][kh][kw][filter % B].
double SumAt(const Layer& l, const std::vector<float>& image, const std::vector<float>& filters, int n, int f,
             int z, int y, int x) {
  const auto& [d, h, w] = l.sides;
  const int b = l.block, of_group = l.depthwise ? 1 : l.in_blocks * b;
  const int group = l.depthwise ? f : f / (l.out_blocks * b);
  double sum = 0;
  for (int c = 0; c < of_group; ++c)
    for (int kz = 0; kz < d.kernel; ++kz)
      for (int ky = 0; ky < h.kernel; ++ky)
        for (int kx = 0; kx < w.kernel; ++kx) {
          const int iz = z * d.stride + kz * d.dilation - d.before,
                    iy = y * h.stride + ky * h.dilation - h.before,
                    ix = x * w.stride + kx * w.dilation - w.before;
          if (iz < 0 || iz >= d.size || iy < 0 || iy >= h.size || ix < 0 || ix >= w.size) continue;
          const int channel = group * of_group + c;
          const int from =
              ((((n * (l.channels() / b) + channel / b) * d.size + iz) * h.size + iy) * w.size + ix) * b +
              channel % b;
          const int tap = (kz * h.kernel + ky) * w.kernel + kx, taps = d.kernel * h.kernel * w.kernel;
          const int weight = l.depthwise
                                 ? (f / b * taps + tap) * b + f % b
                                 : ((f / b * l.in_blocks + c / b) * taps + tap) * b * b + c % b * b + f % b;
          sum += double{image[static_cast<size_t>(from)]} * double{filters[static_cast<size_t>(weight)]};
        }
  return sum;
}

// The output [image][filter / B][d][h][w][filter % B], with the epilogue's steps, of which tests have these
// four. Inputs are those of the kernel.
std::vector<double> Plain(const Layer& l, const std::vector<std::vector<float>>& inputs) {
  const auto& [d, h, w] = l.sides;
  const std::vector<std::string> steps = absl::StrSplit(l.epilogue, ',');
  std::vector<double> out;
  for (int n = 0; n < l.images; ++n)
    for (int block = 0; block < l.filters() / l.block; ++block)
      for (int z = 0; z < d.out(); ++z)
        for (int y = 0; y < h.out(); ++y)
          for (int x = 0; x < w.out(); ++x)
            for (int i = 0; i < l.block; ++i) {
              const int f = block * l.block + i, pixel = ((n * d.out() + z) * h.out() + y) * w.out() + x;
              double value = SumAt(l, inputs[0], inputs[1], n, f, z, y, x);
              size_t next = 2;
              for (const std::string& step : steps) {
                if (step == "add:n") value += inputs[next++][static_cast<size_t>(f)];
                if (step == "mul:m") value *= inputs[next++][static_cast<size_t>(pixel)];
                if (step == "sub:mn") value -= inputs[next++][out.size()];
                if (step == "relu") value = std::max(value, 0.0);
              }
              out.push_back(value);
            }
  return out;
}

void ExpectReferenceIsPlain(const Layer& layer) {
  const Graph graph = GraphOf(layer.Text());
  ASSERT_FALSE(graph.nodes.empty());
  const std::vector<std::vector<float>> inputs = testing::SmallIntegers(graph, 4);
  const std::vector<double> expected = Plain(layer, inputs);
  std::vector<const void*> pointers;
  for (const std::vector<float>& input : inputs) pointers.push_back(input.data());
  const TensorType& type = graph.TypeOf(graph.results.front());
  ASSERT_EQ(type.elements(), static_cast<int64_t>(expected.size())) << layer.Text();
  GraphReference reference(graph, pointers);
  size_t at = 0;
  for (int64_t row = 0; row < GraphReference::Rows(type); ++row)
    for (const Uncertain& want : reference.ResultRow(graph.results.front(), row))
      ASSERT_EQ(want.value, expected[at++]) << layer.Text() << " row " << row;
}

constexpr std::array kEpilogues = {"", "add:n,relu", "add:n,sub:mn,relu", "mul:m", "sub:mn,mul:m,add:n"};

// All small layers of images of two axes. Their number chooses what they do not enumerate.
template <typename Use>
void ForEachSmall(const Use& use) {
  Layer layer;
  size_t number = 0;
  for (layer.block = 8; layer.block <= 16; layer.block += 8)
    for (layer.in_blocks = 1; layer.in_blocks <= 3; ++layer.in_blocks)
      for (layer.out_blocks = 0; layer.out_blocks <= 3; ++layer.out_blocks)
        for (const int kernel : {1, 3, 7})
          for (int stride = 1; stride <= 2; ++stride)
            for (const int pad : {0, kernel / 2})
              for (int dilation = 1; dilation <= (kernel == 3 ? 2 : 1); ++dilation)
                for (layer.images = 1; layer.images <= 2; ++layer.images) {
                  layer.depthwise = layer.out_blocks == 0;
                  layer.groups = !layer.depthwise && number % 3 == 0 ? 2 : 1;
                  layer.epilogue = kEpilogues[number % kEpilogues.size()];
                  const Side along = {0, kernel, stride, dilation, pad, pad};
                  layer.sides[1] = layer.sides[2] = along;
                  const int least = (kernel - 1) * dilation + 1 - 2 * pad;
                  layer.sides[1].size = std::max(1, least) + static_cast<int>(number % 4);
                  layer.sides[2].size = std::max(1, least) + static_cast<int>(number % 7);
                  use(layer, number++);
                  if (::testing::Test::HasFailure()) return;
                }
}

Layer RandomLayer(int64_t most, std::mt19937& random) {
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<uint32_t>(below)); };
  while (true) {
    Layer layer;
    layer.rank = 1 + static_cast<size_t>(draw(3));
    layer.block = draw(2) == 0 ? 8 : 16;
    layer.images = draw(3) == 0 ? 3 : 1;
    layer.depthwise = draw(4) == 0;
    layer.groups = !layer.depthwise && draw(4) == 0 ? 2 + draw(2) : 1;
    layer.in_blocks = 1 + draw(4);
    layer.out_blocks = 1 + draw(4);
    layer.constant = draw(3) == 0;
    layer.epilogue = kEpilogues[static_cast<size_t>(draw(kEpilogues.size()))];
    for (size_t axis = 3 - layer.rank; axis < 3; ++axis) {
      Side& side = layer.sides[axis];
      side = {1 + draw(layer.rank == 3 ? 6 : 14), 1 + draw(4), 1 + draw(3), 1, draw(3), draw(3)};
      if ((layer.rank < 3 || axis < 2) && draw(4) == 0) side.dilation = 2;
    }
    if (layer.HasPixels() && layer.Multiplications() <= most) return layer;
  }
}

TEST(BlockedConvolutionTest, TheReferenceIsPlainLoops) {
  size_t layers = 0;
  ForEachSmall([&](const Layer& layer, size_t) {
    ExpectReferenceIsPlain(layer);
    ++layers;
  });
  EXPECT_GT(layers, 600u);
  std::mt19937 random(1);
  for (int round = 0; round < 100 && !HasFailure(); ++round)
    ExpectReferenceIsPlain(RandomLayer(300000, random));
}

class BlockedOnTest : public testing::OnTargetTest {
 protected:
  // Returns how many candidates there are.
  size_t ExpectPlain(const Layer& layer) const {
    const Graph graph = GraphOf(layer.Text());
    const std::vector<std::vector<float>> inputs = testing::SmallIntegers(graph, 4);
    const std::vector<double> expected = Plain(layer, inputs);
    const std::vector<Candidate> candidates = FindCandidates(graph, target_);
    // What several images, or their blocks, share is repeated before, if no rows and columns have it.
    const bool alone = layer.images == 1 || layer.filters() == layer.block || layer.epilogue.empty();
    EXPECT_FALSE(candidates.empty() && alone) << layer.Text();
    for (const Candidate& candidate : candidates) {
      const Plan plan = testing::PlanBy(graph, candidate, target_);
      const std::vector<float> values = testing::RunPlan(plan, target_, inputs);
      EXPECT_EQ(values.size(), expected.size());
      for (size_t i = 0; i < values.size() && !HasFailure(); ++i)
        EXPECT_EQ(double{values[i]}, expected[i])
            << layer.Text() << " by " << candidate.rewrite << " element " << i << "\n"
            << PrintPlan(plan);
    }
    return candidates.size();
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, BlockedOnTest,
                         ::testing::Values(testing::Avx2Target(), testing::Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

// KIRSCH_ALL_SHAPES in the environment: all of them.
TEST_P(BlockedOnTest, CandidatesArePlainLoops) {
  const size_t every = std::getenv("KIRSCH_ALL_SHAPES") != nullptr ? 1 : 17;
  size_t candidates = 0;
  ForEachSmall([&](const Layer& layer, size_t number) {
    if (number % every == 0) candidates += ExpectPlain(layer);
  });
  EXPECT_GT(candidates, 1000 / every);
  std::mt19937 random(2);
  for (int round = 0; round < 25 && !HasFailure(); ++round) {
    Layer layer = RandomLayer(2000000, random);
    layer.constant = false;
    ExpectPlain(layer);
  }
}

TEST_P(BlockedOnTest, PlansAreRight) {
  std::mt19937 random(3);
  for (int round = 0; round < testing::Rounds(20) && !HasFailure(); ++round)
    testing::Verified(RandomLayer(2000000, random).Text(), testing::WithFreeThreads(target_), 1 + round % 2,
                      round % 10 == 0);
}

// A residual block: what one convolution makes, the next one reads in blocks.
TEST_P(BlockedOnTest, GraphsAreRight) {
  testing::Verified(
      "kernel a(x: f32[2,2,6,7,16], v: const f32[3,2,1,1,16,16], w: const f32[2,3,3,3,16,16], b: "
      "f32[3,1,1,16], "
      "c: f32[16]):\n"
      " y = relu(add(conv2d(x, v, layout=nchw16c), b))\n"
      " return relu(add(add(conv2d(y, w, pad=1, layout=nchw16c), c), x))",
      target_, 1, true);
  // A bias is repeated for each image, not for each pixel.
  const Plan plan = testing::VerifiedPlan(
      "conv2d f32 2x32x6x7 filters=48 kernel=3x3 pad=1 layout=nchw16c epilogue=add:n,relu", target_);
  EXPECT_THAT(PrintGraph(plan.graph), HasSubstr("broadcast(bias, [2,3,1,1,16])"));
  testing::Verified(
      "kernel a(x: f32[1,2,6,7,16], w: f32[2,1,3,3,1,16], r: f32[2,1,1,1]):\n"
      " return mul(conv2d(x, w, pad=1, groups=32, layout=nchw16c), r)",
      target_);
}

std::string ErrorOf(const std::string& text) {
  return std::string(IsGraphShorthand(text) ? ParseGraphShorthand({text, {}}, "spec").status().message()
                                            : ParseGraph(Split({text, {}}, '\n'), "spec").status().message());
}

TEST(BlockedConvolutionTest, SaysWhatIsWrongAndWhere) {
  const std::string wanted =
      "expected an f32 image [N,C/16,H,W,16] and f32 filters [F/16,C/groups/16,KH,KW,16,16] (depthwise "
      "[C/16,1,KH,KW,1,16]), got ";
  const auto call = [](const char* image, const char* filters, const char* options = "layout=nchw16c") {
    return Cat("kernel a(x: f32[", image, "], w: f32[", filters, "]):\n return conv2d(x, w, ", options, ")");
  };
  for (const auto& [image, filters] : {std::pair("1,4,9,16", "1,4,3,3,16,16"),
                                       {"1,4,9,9,8", "1,4,3,3,16,16"},
                                       {"1,4,9,9,16", "1,4,3,3,16,8"},
                                       {"1,4,9,9,16", "1,3,3,3,16,16"},
                                       {"1,4,9,9,16", "4,1,3,3,1,16"},
                                       {"1,4,9,9,16", "1,8,3,3,8,16"}})
    EXPECT_THAT(ErrorOf(call(image, filters)), HasSubstr(wanted)) << image << " " << filters;
  EXPECT_THAT(ErrorOf(call("1,4,9,9,16", "4,1,3,3,16,16", "groups=64, layout=nchw16c")), HasSubstr(wanted));
  const std::string fits =
      "expected a layout in whose blocks of 16 the channels and filters of each group fit, of ";
  const std::pair<std::string, std::string> cases[] = {
      {"conv2d f32 1x24x9x9 filters=32 kernel=3x3 layout=nchw16c",
       Cat("spec:1:50: ", fits, "24 channels, 32 filters, groups=1, got 'nchw16c'")},
      {"conv2d f32 1x32x9x9 filters=8 kernel=3x3 layout=nchw16c",
       Cat("spec:1:49: ", fits, "32 channels, 8 filters, groups=1, got 'nchw16c'")},
      {"conv2d f32 1x32x9x9 filters=32 kernel=3x3 groups=4 layout=nchw16c",
       Cat("spec:1:59: ", fits, "32 channels, 32 filters, groups=4, got 'nchw16c'")},
      {"conv2d f32 1x32x9x9 filters=64 kernel=3x3 groups=32 layout=nchw16c",
       Cat("spec:1:60: ", fits, "32 channels, 64 filters, groups=32, got 'nchw16c'")},
      {"conv2d_transpose f32 1x16x9x9 filters=16 kernel=3x3 layout=nchw16c",
       "spec:1:60: expected a layout without blocks, as the convolution is transposed, got 'nchw16c'"},
      {"conv2d bf16*bf16->f32 1x16x9x9 filters=16 kernel=3x3 layout=nchw16c",
       "spec:1:61: expected a layout without blocks (else it is of f32, without accumulate and fixed-order), "
       "got "
       "'nchw16c'"},
      {"conv2d f32 1x16x9x9 filters=16 kernel=3x3 layout=nchw4c",
       "spec:1:50: expected a layout (nchw|nhwc|nchw8c|nchw16c), got 'nchw4c'; did you mean 'nchw8c'?"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
  EXPECT_THAT(ErrorOf("conv3d f32 1x16x9x9x9 filters=16 kernel=3x3x3 dilation=2 layout=ncdhw16c"),
              HasSubstr("expected no dilation along the width, where images of three axes are in blocks"));
}

// The shorthand is what the kernel language says.
TEST(BlockedConvolutionTest, TextsReturn) {
  const std::string text = PrintGraph(
      GraphOf("conv2d f32 2x32x9x8 filters=48 kernel=3x2 pad=1 layout=nchw16c const-filters epilogue=add:n"));
  EXPECT_THAT(text,
              HasSubstr("(image: f32[2,2,9,8,16], filters: const f32[3,2,3,2,16,16], bias: f32[3,1,1,16]) "
                        "-> f32[2,3,9,9,16]:\n"));
  EXPECT_THAT(text, HasSubstr("layout=nchw16c)"));
  EXPECT_EQ(PrintGraph(GraphOf(text.substr(0, text.size() - 1))), text);
}

}  // namespace
}  // namespace kirsch
