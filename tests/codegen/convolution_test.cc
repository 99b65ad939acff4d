// SPDX-License-Identifier: Apache-2.0
// Convolutions: what their specs mean, what becomes of window views, and that programs of them are right.
#include "spec/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "codegen/verify/verify.h"
#include "cost/cost_model.h"
#include "memo/coordinates.h"
#include "memo/hash_memo.h"
#include "rewrites/graph/convolution_parts.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/search.h"
#include "spec/canonical.h"
#include "spec/graph/builder.h"
#include "spec/language/parser.h"
#include "spec/language/printer.h"
#include "spec/meaning/reference.h"
#include "spec/microkernel.h"
#include "spec/text/cat.h"
#include "spec/window_footprint.h"
#include "tests/testing/convolutions.h"
#include "tests/testing/kernel_header.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/table_words.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::RandomConvolution;
using testing::SmallConvolutions;
using testing::SpecOf;

constexpr int kM = MatmulDims::kM, kK = MatmulDims::kK, kN = MatmulDims::kN;

int64_t Or(int64_t given, int64_t dense) { return given != 0 ? given : dense; }

// The definition, as loops: out[pixel][filter].
std::vector<double> Convolution(const ConvShape& s, const std::vector<float>& input,
                                const std::vector<float>& filters) {
  const bool nhwc = s.layout == ImageLayout::kNhwc;
  const auto& [depth, height, width] = s.axes;
  const int64_t pixel = nhwc ? Or(width.pitch, s.channels) : 1, row = Or(height.pitch, width.size * pixel),
                slice = Or(depth.pitch, height.size * row),
                plane = nhwc ? 1 : Or(s.input_plane, depth.size * slice),
                image = Or(s.input_image, depth.size * slice);
  const int64_t of_filter = nhwc ? 1 : Or(s.filters_row, s.taps()),
                of_tap = nhwc ? Or(s.filters_row, s.filters) : 1,
                of_run = Or(s.filters_run, width.kernel * (s.lanewise() ? s.group : s.channels) * of_tap);
  std::vector<double> out;
  // The sum of a pixel and a filter.
  const auto sum_at = [&](int64_t n, int64_t z, int64_t y, int64_t x, int64_t f) {
    double sum = 0;
    const int64_t first = s.lanewise() ? f / s.group * s.group : 0,
                  end = s.lanewise() ? first + s.group : s.channels;
    for (int64_t d = 0; d < depth.kernel; ++d)
      for (int64_t h = 0; h < height.kernel; ++h)
        for (int64_t w = 0; w < width.kernel; ++w)
          for (int64_t c = first; c < end; ++c) {
            const int64_t from = n * image + (z * depth.stride + d * depth.dilation) * slice +
                                 (y * height.stride + h * height.dilation) * row +
                                 (x * width.stride + w * width.dilation) * pixel + c * plane;
            const int64_t runs = d * height.kernel + h;
            const int64_t tap = nhwc ? runs * of_run + (w * (end - first) + c - first) * of_tap
                                     : (c * depth.kernel * height.kernel + runs) * width.kernel + w;
            sum += input.at(static_cast<size_t>(from)) * filters.at(static_cast<size_t>(f * of_filter + tap));
          }
    return sum;
  };
  for (int64_t n = 0; n < s.images; ++n)
    for (int64_t z = 0; z < depth.out(); ++z)
      for (int64_t y = 0; y < height.out(); ++y)
        for (int64_t x = 0; x < width.out(); ++x)
          for (int64_t f = 0; f < s.filters; ++f) out.push_back(sum_at(n, z, y, x, f));
  return out;
}

std::vector<float> SmallIntegers(int64_t count, uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>((seed = seed * 1664525 + 1013904223) >> 28) - 8;
  return values;
}

void ExpectMeansTheConvolution(const ConvShape& shape) {
  const Spec spec = ConvolutionSpec(shape, testing::kF32);
  const int input = InputOperand(shape.layout), filters = FiltersOperand(shape.layout);
  const std::vector<float> x = SmallIntegers(RootElements(spec, input), 1),
                           w = SmallIntegers(RootElements(spec, filters), 2);
  ConstOperands operands = {};
  operands[static_cast<size_t>(input)] = x.data();
  operands[static_cast<size_t>(filters)] = w.data();
  std::vector<double> out = Reference(spec, operands).value;
  const std::vector<double> expected = Convolution(shape, x, w);
  ASSERT_EQ(out.size(), expected.size());
  const auto n = static_cast<size_t>(shape.filters), pixels = static_cast<size_t>(shape.pixels());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(out[shape.layout == ImageLayout::kNhwc ? i : i % n * pixels + i / n], expected[i])
        << PrintSpec(spec);
  EXPECT_EQ(TermsPerElement(spec), shape.taps());
}

TEST(ConvolutionTest, SpecsMeanTheConvolution) {
  for (const ConvShape& shape : SmallConvolutions()) {
    ExpectMeansTheConvolution(shape);
    ASSERT_FALSE(HasFailure());
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    ExpectMeansTheConvolution(RandomConvolution(2e5, &random));
    ASSERT_FALSE(HasFailure());
  }
}

// The parts of a padded image's output, computed where they lie, are those of the convolution of a copy with
// zeros around it.
void ExpectPartsMeanTheConvolution(const ConvShape& padded, int64_t pad, int* parts_met) {
  GraphNode graph_node = OperationNode(Operation::kConv2d);
  ConvolutionSizes sizes;
  const auto channels = static_cast<int64_t>(padded.channels);
  sizes.channels = sizes.filters = static_cast<uint32_t>(channels);
  graph_node.conv.groups = static_cast<uint32_t>(channels / padded.group);
  graph_node.conv.layout = ImageLayout::kNhwc;
  for (size_t axis : {ImageAxes::kHeight, ImageAxes::kWidth}) {
    const ConvAxis& along = padded.axes[axis];
    const auto narrow = [](int64_t value) { return static_cast<uint32_t>(value); };
    graph_node.conv.axes[axis] = {narrow(along.stride), narrow(along.dilation), narrow(pad), narrow(pad)};
    sizes.axes[axis] = {narrow(along.size - 2 * pad), narrow(along.kernel), narrow(along.out())};
  }
  const ConvolutionNode node{graph_node, sizes, padded.group};
  const ConvAxis &of_rows = padded.axes[ImageAxes::kHeight], &of_columns = padded.axes[ImageAxes::kWidth];
  const int64_t height = of_rows.size - 2 * pad, width = of_columns.size - 2 * pad;
  const std::vector<float> image = SmallIntegers(height * width * channels, 1),
                           filters = SmallIntegers(padded.taps() * channels, 2);
  std::vector<float> copy(static_cast<size_t>(of_rows.size * of_columns.size * channels));
  for (int64_t y = 0; y < height; ++y)
    std::copy_n(image.begin() + y * width * channels, width * channels,
                copy.begin() + ((y + pad) * of_columns.size + pad) * channels);
  const std::vector<double> expected = Convolution(padded, copy, filters);
  std::vector<int> met(expected.size());
  for (const ConvolutionPart& part : PartsOf(node))
    for (int64_t row = 0; row < (part.one_by_one ? part.rows.count : 1); ++row) {
      const Spec spec = ConvolutionSpec(ShapeOf(node, part), testing::kF32);
      const int64_t in = ((part.rows.in + row * of_rows.stride) * width + part.columns.in) * channels,
                    tap = (part.rows.tap * of_columns.kernel + part.columns.tap) * padded.group * channels,
                    out = ((part.rows.out + row) * of_columns.out() + part.columns.out) * channels;
      ASSERT_LE(in + RootElements(spec, 0), static_cast<int64_t>(image.size())) << PrintSpec(spec);
      ASSERT_LE(tap + RootElements(spec, 1), static_cast<int64_t>(filters.size())) << PrintSpec(spec);
      const ConstOperands operands = {image.data() + in, filters.data() + tap};
      const std::vector<double> values = Reference(spec, operands).value;
      for (size_t i = 0; i < values.size(); ++i) {
        const auto n = static_cast<size_t>(channels);
        const size_t at = static_cast<size_t>(out) + i / n * spec.out().layout.ld + i % n;
        ASSERT_EQ(values[i], expected[at]) << PrintSpec(spec);
        ++met[at];
      }
    }
  const bool all = std::all_of(met.begin(), met.end(), [](int times) { return times == 1; }),
             none = std::all_of(met.begin(), met.end(), [](int times) { return times == 0; });
  EXPECT_TRUE(all || none);
  *parts_met += all ? 1 : 0;
}

TEST(ConvolutionTest, PartsOfPaddedImagesMeanTheConvolution) {
  int parts_met = 0, padded = 0;
  for (const ConvShape& shape : SmallConvolutions())
    for (int64_t pad = 1; pad <= 2; ++pad) {
      if (!shape.lanewise() || (shape.group == 1 ? shape.channels != 3 : shape.channels == shape.group) ||
          std::min(shape.axes[ImageAxes::kHeight].size, shape.axes[ImageAxes::kWidth].size) <= 2 * pad)
        continue;
      ExpectPartsMeanTheConvolution(shape, pad, &parts_met);
      ASSERT_FALSE(HasFailure());
      ++padded;
    }
  EXPECT_GT(parts_met, padded / 4);
}

// Rows of the reference, which verification uses, are those of the whole.
TEST(ConvolutionTest, RowsOfTheReferenceAreThoseOfTheWhole) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 50; ++i) {
    const Spec spec = SpecOf(RandomConvolution(1e5, &random));
    const std::vector<float> lhs = SmallIntegers(RootElements(spec, 0), 1),
                             rhs = SmallIntegers(RootElements(spec, 1), 2);
    const ConstOperands operands = {lhs.data(), rhs.data()};
    const int64_t last = spec.size[kM] - 1;
    const Expected all = Reference(spec, operands), rows = ReferenceRows(spec, operands, {last, 0});
    for (size_t j = 0; j < spec.size[kN]; ++j) {
      ASSERT_EQ(rows.value[j], all.value[static_cast<size_t>(last) * spec.size[kN] + j]) << PrintSpec(spec);
      ASSERT_EQ(rows.value[spec.size[kN] + j], all.value[j]);
    }
  }
}

TEST(ConvolutionTest, ViewsAsAnyOtherMatrixAreNone) {
  const auto spec_of = [](std::string_view text) { return ParseSpec(text)->spec; };
  EXPECT_EQ(spec_of("conv2d f32 1x16x7x9 filters=5 kernel=1x1 layout=nhwc"), spec_of("matmul f32 63x16x5"));
  EXPECT_EQ(spec_of("conv2d f32 1x16x7x9 filters=5 kernel=1x1 layout=nchw"), spec_of("matmul f32 5x16x63"));
  EXPECT_EQ(spec_of("conv2d f32 1x16x7x9 filters=5 kernel=7x9 layout=nhwc"), spec_of("matmul f32 1x1008x5"));
  // One row of the output, one of the kernel: rows that overlap.
  const Spec row = spec_of("conv2d f32 1x16x1x9 filters=5 kernel=1x3 layout=nhwc");
  EXPECT_TRUE(row.op_info().window.empty());
  EXPECT_EQ(row.operand[0].layout.ld, 16u);
  EXPECT_EQ(ExtentOf(row, 0).inner, 48);
  EXPECT_TRUE(Overlaps(row, 0));
}

TEST(ConvolutionTest, DigitsAreMergedWhereTheyFollowEachOther) {
  const auto window = [](std::string_view text) { return ParseSpec(text)->spec.op_info().window; };
  EXPECT_EQ(window("conv2d f32 1x3x230x230 filters=64 kernel=7x7 stride=2 layout=nhwc"),
            (Window{0, {{{2, {{{112, 6}, {0, 1380}}}}, {2, {{{21, 1}, {0, 690}}}}}}}));
  EXPECT_EQ(window("conv2d f32 2x4x10x12 filters=8 kernel=3x3 dilation=2 layout=nhwc"),
            (Window{0, {{{3, {{{8, 4}, {6, 48}, {0, 480}}}}, {3, {{{4, 1}, {3, 8}, {0, 96}}}}}}}));
  EXPECT_EQ(window("conv2d f32 1x4x10x12 filters=8 kernel=3x3 layout=nchw"),
            (Window{1, {{{3, {{{3, 1}, {3, 12}, {0, 120}}}}, {2, {{{10, 1}, {0, 12}}}}}}}));
}

TEST(ConvolutionTest, TextsReturn) {
  const std::vector<std::string> texts = {
      "conv2d f32 1x64x58x58 filters=64 kernel=3x3 layout=nhwc",
      "conv2d u8*s8->s32 1x4x9x9 filters=20 kernel=3x2 stride=2 dilation=3 layout=nchw accumulate",
      "conv2d f32 2x3x8x8 filters=16 kernel=1x1 stride=2 layout=nhwc const-filters fixed-order "
      "epilogue=add:n,relu",
      "conv2d f32 1x4x9x9 filters=2 kernel=3x3 stride=2x1 dilation=1x3 layout=nhwc",
      "conv1d bf16*bf16->f32 2x16x40 filters=24 kernel=5 stride=3 layout=nwc",
      "conv3d f32 1x3x5x7x9 filters=4 kernel=2x3x3 stride=1x2x2 dilation=2 layout=ncdhw"};
  for (const std::string& text : texts) {
    const absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->text, text);
    EXPECT_EQ(*ParseSpec(parsed->text), *parsed);
  }
  EXPECT_EQ(ParseSpec("conv2d f32  1x4x9x9 layout=nchw pad=0 kernel=3x3 groups=1 stride=1 filters=2")->text,
            "conv2d f32 1x4x9x9 filters=2 kernel=3x3 layout=nchw");
  EXPECT_EQ(ParseSpec("conv3d f32 1x4x9x9x9 kernel=3x3x3 filters=2 stride=2x2x2 pad=0,0,0,0,0,0")->text,
            "conv3d f32 1x4x9x9x9 filters=2 kernel=3x3x3 stride=2 layout=ncdhw");
}

// Images of fewer axes are those whose other axes have one pixel.
TEST(ConvolutionTest, AxesOfOnePixelAreNone) {
  const auto spec_of = [](std::string_view text) { return ParseSpec(text)->spec; };
  EXPECT_EQ(spec_of("conv1d f32 2x5x40 filters=7 kernel=3 stride=2 dilation=2 layout=nwc"),
            spec_of("conv2d f32 2x5x1x40 filters=7 kernel=1x3 stride=1x2 dilation=1x2 layout=nhwc"));
  EXPECT_EQ(spec_of("conv2d f32 1x5x9x8 filters=7 kernel=2x3 stride=2x1 layout=nchw"),
            spec_of("conv3d f32 1x5x1x9x8 filters=7 kernel=1x2x3 stride=1x2x1 layout=ncdhw"));
}

TEST(ConvolutionTest, SaysWhatIsWrongAndWhere) {
  const std::string types = testing::TypeWords("|");
  const std::pair<const char*, std::string> cases[] = {
      {"conv2d", Cat("spec:1:7: expected an element type (", types, "), got nothing")},
      {"conv2d f32 1x2x3 filters=1",
       "spec:1:12: expected the input's sizes as IMAGESxCHANNELSxHEIGHTxWIDTH, got '1x2x3'"},
      {"conv2d f32 1x4x9x9 kernel=3x3", "spec:1:30: expected filters=NUMBER, got nothing"},
      {"conv2d f32 1x4x9x9 filters=0 kernel=3x3 layout=nhwc",
       "spec:1:28: expected filters from 1 to 1048576, got '0'"},
      {"conv2d f32 1x4x9x9 filters=2 kernel=3 layout=nhwc",
       "spec:1:37: expected a kernel's sizes as HEIGHTxWIDTH, got '3'"},
      {"conv2d f32 1x4x9x2 filters=2 kernel=3x3 layout=nhwc",
       "spec:1:37: expected a kernel that fits the padded image, got '3x3'"},
      {"conv2d f32 2x4x9x9 filters=2 kernel=3x3 layout=nchw",
       "spec:1:12: expected a single image where channels come first (else it is of f32, without "
       "accumulate and fixed-order), got '2x4x9x9'"},
      {"conv2d f32 1x4x9x9 filters=2 kernel=3x3 layout=nchwc",
       "spec:1:48: expected a layout (nchw|nhwc|nchw8c|nchw16c), got 'nchwc'; did you mean 'nchw'?"},
      {"conv2d f32 1x4x9x9 filters=2 kernel=3x3 layout=nchw pad=1",
       "spec:1:57: expected pad=0 (else it is of f32, without accumulate and fixed-order), got '1'"},
      {"conv2d f32 1x4x9x9 filters=2 kernel=3x3 pad=1,2",
       "spec:1:47: expected one pad for all sides, or those of top,left,bottom,right, got '2'"},
      {"conv2d f32 1x4x9x9 filters=2 kernel=3x3 layout=nchw groups=2",
       "spec:1:60: expected groups=1 (else it is of f32, without accumulate and fixed-order), got '2'"},
      {"conv2d f32 1x4x9x9 filters=2 kernel=3x3 stride=2x1x1",
       "spec:1:48: expected one stride for all axes, or 2 as in 1x1, got '2x1x1'"},
      {"conv2d f32 1x4x9x9 filters=2 kernel=3x3 dilation=0x1",
       "spec:1:50: expected dilation from 1 to 1048576, got '0'"},
      {"conv1d f32 1x4x9 filters=2 kernel=3 stride=2x1",
       "spec:1:44: expected one number, as images have one axis, got '2x1'"},
      {"conv1d f32 1x4x9 filters=2 kernel=3 layout=nhwc",
       "spec:1:44: expected a layout (ncw|nwc|ncw8c|ncw16c), got 'nhwc'; did you mean 'nwc'?"},
      {"conv1d f32 1x4x9 filters=2 kernel=3 pad=1,2,3",
       "spec:1:45: expected one pad for all sides, or those of left,right, got '3'"},
      {"conv3d f32 1x4x9x9 filters=2 kernel=3x3x3",
       "spec:1:12: expected the input's sizes as IMAGESxCHANNELSxDEPTHxHEIGHTxWIDTH, got '1x4x9x9'"},
      {"conv3d f32 1x4x9x9x9 filters=2", "spec:1:31: expected kernel=DxHxW, got nothing"},
      {"conv2d f32 1x4x9x9 filters=2 filters=2 kernel=3x3 layout=nchw",
       "spec:1:30: expected each option once, got 'filters=2'"},
      {"conv2d f32 1x4x9x9 filters=2 kernel=3x3 layout=nchw lda=9",
       "spec:1:53: expected an option (filters= kernel= stride= pad= dilation= groups= layout= epilogue= "
       "accumulate const-filters fixed-order), got 'lda=9'"},
      {"conv2d f32*f32->s8 1x4x9x9 filters=2 kernel=3x3 layout=nchw accumulate epilogue=relu",
       "spec:1:8: expected an output of floats, which sums of f32 can be added to, got 'f32*f32->s8'"},
      {"conv2d f32 1x1x9000x9000 filters=2 kernel=3x3 layout=nchw",
       "spec:1:12: expected at most 1048576 pixels in out and terms in a sum, got '1x1x9000x9000'"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ParseSpec(text).status().message(), error) << text;
}

// The elements that a tile of the window touches, one by one.
std::set<int64_t> Touched(const Spec& spec, int operand) {
  const Window& window = spec.op_info().window;
  const AxisArray extents = AxisExtents(spec, operand);
  std::set<int64_t> elements;
  for (int64_t i = 0; i < extents[1]; ++i)
    for (int64_t j = 0; j < extents[2]; ++j)
      for (int64_t c = 0; c < extents[3]; ++c)
        elements.insert(window.axes[0].At(i) + window.axes[1].At(j) + c);
  return elements;
}

// Each element once; gaps that are shorter than a run, and the last of several equal gaps, are counted, too.
TEST(ConvolutionTest, FootprintsAreWhatCountingGives) {
  int exact = 0, windows = 0;
  for (const ConvShape& shape : SmallConvolutions()) {
    const Spec spec = SpecOf(shape);
    const int operand = spec.op_info().window.operand;
    if (operand < 0 || (shape.filters > 1 && !shape.lanewise())) continue;
    const WindowFootprint footprint = WindowFootprintOf(spec, operand, /*line=*/1, /*page=*/64);
    const int64_t touched = static_cast<int64_t>(Touched(spec, operand).size()),
                  counted = footprint.stretches * footprint.length;
    ASSERT_GE(counted, touched) << PrintSpec(spec);
    ASSERT_LE(counted, 2 * touched) << PrintSpec(spec);
    const ConvAxis& width = shape.axes[ImageAxes::kWidth];  // the height has the same
    if (width.stride == 1 && width.dilation == 1) {
      ASSERT_EQ(counted, touched) << PrintSpec(spec);
    }
    exact += counted == touched ? 1 : 0;
    ++windows;
  }
  EXPECT_GT(exact, windows / 2);
}

// Every second pixel of 512 channels lies on the same sets as the others.
TEST(ConvolutionTest, PixelsMayEvictEachOther) {
  const Target target = testing::Avx512Target();
  const auto evict = [&](std::string_view channels) {
    const std::string text =
        Cat("conv2d f32 1x", channels, "x28x28 filters=64 kernel=1x1 stride=2 layout=nhwc");
    const Spec spec = ParseSpec(text)->spec;
    EXPECT_TRUE(IsWindow(spec, MatmulDims::kLhs));
    const Footprint footprint = FootprintOf(spec, MatmulDims::kLhs, target);
    EXPECT_EQ(ResidentLines(spec, MatmulDims::kLhs, footprint, target, Level::kL1) > footprint.lines,
              RowsEvictEachOther(spec, MatmulDims::kLhs, target));
    return RowsEvictEachOther(spec, MatmulDims::kLhs, target);
  };
  EXPECT_TRUE(evict("512"));
  EXPECT_FALSE(evict("504"));
}

// Some channels of an image of so many pixels a row, from which taps are read, as groups do. What is said to
// fit L1 has no more lines on the sets that it uses than there are ways, and what does not has some set full.
// (One in fifty may be misjudged.)
TEST(ConvolutionTest, WindowsThatFitL1FitItsSets) {
  const Target target = testing::Avx512Target();
  const MemoryLevel& cache = target.at(Level::kL1);
  const int64_t per_line = target.line_bytes / Bytes(Dtype::kF32), lines = cache.bytes / target.line_bytes;
  std::mt19937 random(3);
  const auto draw = [&](uint32_t least, uint32_t most) {
    return std::uniform_int_distribution<uint32_t>(least, most)(random);
  };
  int many = 0, few = 0, wrong_many = 0, wrong_few = 0;
  for (int i = 0; i < 400; ++i) {
    const uint32_t channels = draw(0, 1) > 0 ? 64 << draw(0, 4) : 4 * draw(5, 200), some = 4 * draw(1, 4);
    const uint32_t width = draw(2, 30), rows = draw(1, 4), row = (width + 2) * channels;
    // By pixels (nhwc), or by channels (nchw), of which a row of pixels is contiguous.
    const bool by_pixels = draw(0, 1) > 0;
    const uint32_t pixels = rows * width, wide = draw(0, 1) > 0 ? 32 << draw(0, 1) : width + 2;
    const int operand = by_pixels ? MatmulDims::kLhs : MatmulDims::kRhs;
    Window window;
    window.operand = operand;
    if (by_pixels) {
      window.axes[0] = {2, {{{width, channels}, {0, row}}}};
      window.axes[1] = {3, {{{some, 1}, {3, channels}, {0, row}}}};
    } else {
      window.axes[0] = {3, {{{3, 1}, {3, wide}, {0, wide * wide}}}};
      window.axes[1] = {2, {{{width, 1}, {0, wide}}}};
    }
    Spec spec = ParseSpec(by_pixels ? Cat("matmul f32 ", pixels, "x", 9 * some, "x16")
                                    : Cat("matmul f32 16x", 9 * some, "x", pixels))
                    ->spec;
    spec.op = OpWith({}, window);
    spec.tensor(operand).layout = {.kind = LayoutKind::kWindow};
    std::map<int64_t, std::set<int64_t>> on_set;
    for (const int64_t element : Touched(spec, operand))
      on_set[element / per_line % (lines / cache.ways)].insert(element / per_line);
    size_t all = 0, most = 0;
    for (const auto& [set, in_it] : on_set) all += in_it.size(), most = std::max(most, in_it.size());
    const Footprint footprint = FootprintOf(spec, operand, target);
    const bool fits = ResidentLines(spec, operand, footprint, target, Level::kL1) <= lines;
    if (static_cast<double>(all) > 1.25 * cache.ways * static_cast<double>(on_set.size()))
      ++many, wrong_many += fits ? 1 : 0;
    else if (4 * most <= 3 * static_cast<size_t>(cache.ways))
      ++few, wrong_few += fits ? 0 : 1;
  }
  EXPECT_GT(many, 50);
  EXPECT_GT(few, 50);
  EXPECT_LE(wrong_many, many / 50);
  EXPECT_LE(wrong_few, few / 50);
}

std::vector<Spec> Children(const Spec& spec, const Decision& decision, const Target& target,
                           std::vector<int64_t>* trips) {
  Expansion expansion;
  Expand(spec, decision, target, &expansion);
  std::vector<Spec> children;
  for (int i = 0; i < expansion.num_children; ++i) {
    children.push_back(expansion.children[static_cast<size_t>(i)].spec);
    trips->push_back(expansion.children[static_cast<size_t>(i)].trips);
  }
  return children;
}

// Vectors of the input that a lanewise tile reads in a trip: each once.
TEST(ConvolutionTest, InputsOfLanewiseTilesAreWhatCountingGives) {
  const Target target = testing::Avx512Target();
  const Layout registers{LayoutKind::kLanewise, Order::kRow, 16, 1, 0};
  int shared = 0;
  for (const ConvShape& shape : SmallConvolutions()) {
    if (!shape.lanewise() || shape.channels > 3 * shape.group) continue;
    const Spec spec = SpecOf(shape);
    const RegisterTile tile = RegisterTileOf(spec, registers, target);
    const Window& window = spec.op_info().window;
    std::set<int64_t> inputs;
    for (int row = 0; row < tile.rows; ++row)
      for (int tap = 0; tap < tile.taps; ++tap)
        inputs.insert(window.axes[0].At(row) + window.axes[1].At(tap));
    // Each is read for each channel of its groups.
    const auto counted = static_cast<int>(inputs.size()) * tile.lane_group;
    // Runs of rows are taken to have none in common.
    if (window.axes[0].digits == 1) {
      ASSERT_EQ(tile.inputs, counted) << PrintSpec(spec);
    }
    ASSERT_GE(tile.inputs, counted) << PrintSpec(spec);
    shared += tile.inputs < tile.rows * tile.taps ? 1 : 0;
  }
  EXPECT_GT(shared, 100);
}

// Tiling never saves lines: the lower bounds rest on it.
TEST(ConvolutionTest, TilesTakeNoFewerLinesThanTheWhole) {
  std::mt19937_64 random(3);
  const Target target = testing::Avx512Target();
  std::vector<Decision> decisions;
  for (int round = 0; round < 300; ++round) {
    const Spec spec = SpecOf(RandomConvolution(1e8, &random));
    EnumerateDecisions(spec, target, &decisions);
    for (const Decision& decision : decisions) {
      if (decision.kind != RewriteKind::kTile) continue;
      for (int operand = 0; operand < 3; ++operand) {
        std::vector<int64_t> trips;
        const std::vector<Spec> children = Children(spec, decision, target, &trips);
        int64_t lines = 0;
        for (size_t i = 0; i < children.size(); ++i)
          lines += trips[i] * FootprintOf(children[i], operand, target).lines;
        ASSERT_GE(lines, FootprintOf(spec, operand, target).lines)
            << PrintSpec(spec) << " dim " << int{decision.dim} << " by " << decision.size << " operand "
            << operand;
      }
    }
  }
}

Impl Chosen(const Spec& spec, const CostModel& model, Memo& memo) {
  return Search(PlaceOperands(spec, Residency::kWarm, model.target()), model, memo, {}).impl;
}

class EveryTarget : public ::testing::TestWithParam<Target> {
 protected:
  void Verify(const Impl& impl, int round) {
    VerifyOptions options;
    options.seed = static_cast<uint64_t>(round);
    // Headers of depthwise convolutions are those of graphs.
    options.header = round % 20 == 0 && impl.spec.op_info().base == OpKind::kMatmul;
    const VerifyReport report = VerifyKernel(impl, GetParam(), options);
    EXPECT_TRUE(report.ok) << "shape " << round << ": " << PrintSpec(impl.spec) << "\n"
                           << report.first_mismatch << "\n"
                           << testing::Describe(impl);
    EXPECT_LE(report.max_error, report.error_bound);
  }
};
INSTANTIATE_TEST_SUITE_P(, EveryTarget, ::testing::Values(testing::Avx2Target(), testing::Avx512Target()),
                         [](const auto& info) { return info.index == 0 ? "Avx2" : "Avx512"; });

// What the search finds for small ones (KIRSCH_ALL_SHAPES in the environment: for all of them).
TEST_P(EveryTarget, ChosenProgramsOfSmallOnesAreSound) {
  const CostModel model(GetParam());
  HashMemo memo;
  const size_t every = std::getenv("KIRSCH_ALL_SHAPES") != nullptr ? 1 : 7;
  const std::vector<ConvShape> shapes = SmallConvolutions();
  for (size_t i = 0; i < shapes.size(); i += every) {
    const Impl impl = Chosen(SpecOf(shapes[i]), model, memo);
    ASSERT_TRUE(testing::InterpretedEqualsReference(impl, GetParam())) << PrintSpec(impl.spec) << "\n"
                                                                       << testing::Describe(impl);
    if (i % 601 == 0) Verify(impl, static_cast<int>(i));
  }
}

TEST_P(EveryTarget, EveryDecisionIsSound) {
  std::mt19937_64 random(4);
  std::vector<Decision> decisions;
  for (int round = 0; round < 150; ++round) {
    Spec spec = SpecOf(RandomConvolution(3e5, &random));
    spec.accumulate = round % 3 == 0;
    spec.threads = round % 5 == 0 ? 6 : 1;
    EnumerateDecisions(spec, GetParam(), &decisions);
    for (const Decision& decision : decisions) {
      const Impl impl = testing::RandomImplFrom(spec, decision, GetParam(), &random);
      ASSERT_TRUE(testing::InterpretedEqualsReference(impl, GetParam())) << PrintSpec(spec) << "\n"
                                                                         << testing::Describe(impl);
    }
  }
}

TEST_P(EveryTarget, DrawnProgramsAreRight) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 80 && !HasFailure(); ++round) {
    Spec spec = SpecOf(RandomConvolution(2e6, &random));
    spec.accumulate = round % 3 == 0;
    spec.threads = round % 4 == 0 ? 6 : 1;
    Verify(testing::RandomImpl(spec, GetParam(), &random), round);
  }
}

TEST_P(EveryTarget, ChosenProgramsAreRight) {
  std::mt19937_64 random(6);
  const CostModel model(GetParam());
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    const ConvShape shape = RandomConvolution(5e6, &random);
    Spec spec = SpecOf(shape);
    if (round % 4 == 1) spec = testing::WithRandomEpilogue(spec, &random);
    if (round % 4 == 2 && !shape.lanewise()) spec.tensor(FiltersOperand(shape.layout)).constant = 1;
    spec.threads = round % 4 == 3 ? 2 : 1;
    HashMemo memo;
    Verify(Chosen(spec, model, memo), round);
  }
}

// All types, on targets that have one arithmetic or another for them: windows are read or copied by each.
class EveryTypes : public ::testing::TestWithParam<MatmulTypes> {};
INSTANTIATE_TEST_SUITE_P(, EveryTypes, ::testing::ValuesIn(testing::EveryTypes()),
                         [](const auto& info) { return testing::NameOf(info.param); });

TEST_P(EveryTypes, EveryDecisionIsSound) {
  std::mt19937_64 random(7);
  std::vector<Decision> decisions;
  for (const Target& target : {testing::Avx2Target(), testing::Avx512Target(), testing::Avx512DotTarget()})
    for (int round = 0; round < 20; ++round) {
      const Spec spec = SpecOf(RandomConvolution(1e5, &random), GetParam());
      EnumerateDecisions(spec, target, &decisions);
      for (const Decision& decision : decisions) {
        const Impl impl = testing::RandomImplFrom(spec, decision, target, &random);
        ASSERT_TRUE(testing::InterpretedEqualsReference(impl, target))
            << target.name << ": " << PrintSpec(spec) << "\n"
            << testing::Describe(impl);
      }
    }
}

TEST_P(EveryTypes, DrawnProgramsAreRight) {
  std::mt19937_64 random(8);
  for (const Target& target : {testing::Avx2Target(), testing::Avx512DotTarget()})
    for (int round = 1; round < 12; ++round) {
      const Impl impl =
          testing::RandomImpl(SpecOf(RandomConvolution(5e5, &random), GetParam()), target, &random);
      VerifyOptions options;
      options.header = round == 1 && impl.spec.op_info().base == OpKind::kMatmul;
      const VerifyReport report = VerifyKernel(impl, target, options);
      ASSERT_TRUE(report.ok) << PrintSpec(impl.spec) << "\n"
                             << report.first_mismatch << "\n"
                             << testing::Describe(impl);
    }
}

void ExpectCoordinatesReturn(const Impl& impl) {
  const Question question{impl.spec, 17};
  const Coordinates coordinates = CoordinatesOf(question.spec, question.available);
  ASSERT_EQ(QuestionAt(coordinates), question) << PrintSpec(impl.spec);
  for (const Impl::Child& child : impl.children) ExpectCoordinatesReturn(child.impl);
}

TEST(ConvolutionTest, CoordinatesOfEverySpecReturn) {
  std::mt19937_64 random(9);
  for (const Target& target : {testing::Avx2Target(), testing::Avx512Target()})
    for (int i = 0; i < 300; ++i) {
      Spec root = SpecOf(RandomConvolution(1e6, &random));
      if (i % 3 == 0) root = testing::WithRandomEpilogue(root, &random);
      ExpectCoordinatesReturn(testing::RandomImpl(root, target, &random));
      ASSERT_FALSE(HasFatalFailure());
    }
}

// A tile that does not follow the window is told apart.
TEST(ConvolutionTest, ATileAcrossRunsAborts) {
  const Target target = testing::Avx512Target();
  const Spec spec = ParseSpec("conv2d f32 1x4x8x10 filters=8 kernel=3x3 layout=nhwc")->spec;
  std::mt19937_64 random(0);
  Spec tile = spec;
  tile.size[kM] = 12;  // of runs of 8
  Impl impl{spec, {}, {{4, testing::RandomImpl(tile, target, &random)}}};
  impl.decision.kind = RewriteKind::kTile;
  impl.decision.dim = kM;
  impl.decision.size = 12;
  EXPECT_FALSE(IsLegal(spec, impl.decision, target));
  EXPECT_DEATH(testing::InterpretedEqualsReference(impl, target), "unit % size == 0");
  static_cast<void>(kK);
}

}  // namespace
}  // namespace kirsch
