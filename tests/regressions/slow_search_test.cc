// SPDX-License-Identifier: Apache-2.0
// Searches that took minutes: bounds took narrow inputs for ready to be multiplied where they never would be.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/convolution.h"
#include "spec/dtype.h"
#include "spec/language/parser.h"
#include "spec/target/targets.h"
#include "tests/testing/convolutions.h"
#include "tests/testing/random_spec.h"

namespace kirsch {
namespace {

constexpr int64_t kTenSeconds = 1'400'000;  // specs solved, by one thread

// Stops at the budget.
SearchResult SearchWithBudget(const Spec& spec, const Target& target, int64_t most_specs) {
  HashMemo memo;
  std::atomic<bool> enough = false;
  SearchOptions options;
  options.cancel = &enough;
  options.progress = [&](const SearchProgress& progress) {
    enough = progress.stats.specs_solved > most_specs;
  };
  return Search(PlaceOperands(spec, Residency::kWarm, target), CostModel(target), memo, options);
}

// Images in nchw are windows, which are not copied in groups.
TEST(SlowSearch, OfNarrowConvolutionsInNchw) {
  const struct {
    const char *spec, *target;
    int64_t most_specs;  // it took 122, 819 and 484 thousand
  } kCases[] = {{"conv2d u8*s8->s32 1x16x20x20 filters=16 kernel=3x3", "haswell", 80'000},
                {"conv2d bf16*bf16->f32 1x16x20x20 filters=16 kernel=3x3", "znver4", 200'000},
                {"conv2d f16*f16->f32 1x16x20x20 filters=16 kernel=3x3", "haswell", 300'000}};
  for (const auto& [spec, target, most_specs] : kCases)
    EXPECT_EQ(SearchWithBudget(ParseSpec(spec)->spec, FindTarget(target, "")->target, most_specs).stop,
              StopReason::kOptimal)
        << spec;
}

// KIRSCH_RANDOM_SPECS=200 for the long version, with operands of up to 64 MB.
const char* WantedSpecs() { return std::getenv("KIRSCH_RANDOM_SPECS"); }
bool IsLong() { return WantedSpecs() != nullptr; }

// Draws specs until enough of them are small enough, and searches each for one of two targets.
template <typename Draw>
void SearchDrawn(const Draw& draw) {
  const int count = IsLong() ? std::atoi(WantedSpecs()) : 40;
  const double most_bytes = IsLong() ? 64e6 : 256e3;
  std::mt19937_64 random(42);
  for (int drawn = 0; drawn < count;) {
    const std::vector<MatmulTypes> types = testing::EveryTypes();
    const auto [spec, name] = draw(types[random() % types.size()], &random);
    double bytes = 0;
    for (int operand = 0; operand <= spec.op_info().output(); ++operand)
      bytes = std::max(bytes, static_cast<double>(Bytes(spec.tensor(operand).dtype)) *
                                  static_cast<double>(ExtentOf(spec, operand).elements()));
    if (bytes > most_bytes) continue;
    ++drawn;
    const Target target = FindTarget(random() % 2 == 0 ? "haswell" : "znver4", "")->target;
    const SearchResult result = SearchWithBudget(spec, target, kTenSeconds);
    EXPECT_EQ(result.stop, StopReason::kOptimal)
        << name << " " << target.name << ", drawn as number " << drawn;
  }
}

TEST(SlowSearch, OfDrawnSpecs) {
  SearchDrawn([](const MatmulTypes& types, std::mt19937_64* random) {
    const Spec spec =
        testing::RandomMatmulSpec({.max_side = IsLong() ? 16384u : 512u, .types = types}, random);
    return std::pair(spec, testing::Describe(spec));
  });
}

// One group of a convolution: its pixels and filters are a part of those of all groups.
void TakeOneGroup(int64_t groups, ConvShape* shape) {
  if (shape->layout == ImageLayout::kNchw) return;  // planes of a group follow each other
  shape->axes[ImageAxes::kWidth].pitch = groups * shape->channels;
  shape->filters_row = shape->out_row = groups * shape->filters;
}

// Short sides about as often as long ones.
int64_t DrawSide(int64_t most, std::mt19937_64* random) {
  const auto below = [&](int64_t end) {
    return static_cast<int64_t>((*random)() % static_cast<uint64_t>(end));
  };
  return 1 + below(1 + below(most));
}

// Of the sizes of layers, either layout, groups, strides, dilations.
ConvShape DrawLayer(std::mt19937_64* random) {
  while (true) {
    ConvShape shape;
    shape.layout = (*random)() % 2 == 0 ? ImageLayout::kNhwc : ImageLayout::kNchw;
    shape.images = shape.layout == ImageLayout::kNhwc ? DrawSide(4, random) : 1;
    shape.channels = DrawSide(512, random), shape.filters = DrawSide(512, random);
    const int64_t stride = DrawSide(3, random), dilation = DrawSide(2, random);
    bool fits = true;
    for (size_t axis : {ImageAxes::kHeight, ImageAxes::kWidth}) {
      shape.axes[axis] = {DrawSide(224, random), DrawSide(7, random), stride, dilation};
      fits &= shape.axes[axis].window() <= shape.axes[axis].size;
    }
    if ((*random)() % 4 == 0) TakeOneGroup(DrawSide(8, random), &shape);
    if (fits) return shape;
  }
}

// Names a failing case, mostly as users write it. pixel: elements between pixels, 0 if they are dense.
std::string NameOf(const ConvShape& shape, const MatmulTypes& types) {
  const auto each = [&](auto along) {
    std::vector<int64_t> values;
    for (const ConvAxis& axis : shape.axes) values.push_back(along(axis));
    return absl::StrJoin(values, "x");
  };
  std::ostringstream name;
  name << (shape.lanewise() ? "group=" + std::to_string(shape.group) + " " : std::string("conv3d "))
       << testing::NameOf(types) << " " << shape.images << "x" << shape.channels << "x"
       << each([](const ConvAxis& axis) { return axis.size; }) << " filters=" << shape.filters
       << " kernel=" << each([](const ConvAxis& axis) { return axis.kernel; })
       << " stride=" << each([](const ConvAxis& axis) { return axis.stride; })
       << " dilation=" << each([](const ConvAxis& axis) { return axis.dilation; })
       << (shape.layout == ImageLayout::kNhwc ? " layout=ndhwc" : " layout=ncdhw")
       << " pixel=" << shape.axes[ImageAxes::kWidth].pitch;
  return name.str();
}

TEST(SlowSearch, OfDrawnConvolutions) {
  SearchDrawn([](MatmulTypes types, std::mt19937_64* random) {
    const ConvShape shape = IsLong() ? DrawLayer(random) : testing::RandomConvolution(3e6, random);
    if (shape.lanewise() || IsOfBlocks(types.lhs) || IsOfBlocks(types.rhs)) types = testing::kF32;
    return std::pair(testing::SpecOf(shape, types), NameOf(shape, types));
  });
}

}  // namespace
}  // namespace kirsch
