// SPDX-License-Identifier: Apache-2.0
// Coordinates are a bijection: exhaustively on small planes and sizes, then on large random specs and on
// every spec of real programs.
#include "memo/coordinates.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <vector>

#include "rewrites/spec/rewrite.h"
#include "spec/microkernel.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

constexpr uint32_t kMax32 = std::numeric_limits<uint32_t>::max();

TEST(SizeIndexTest, IsABijectionUpToAMillion) {
  constexpr uint32_t kSizes = 1'000'000;
  for (uint32_t size = 1; size <= kSizes; ++size) ASSERT_EQ(SizeAt(SizeIndex(size)), size);
  std::set<uint32_t> sizes;
  for (uint32_t index = 0; index < kSizes; ++index) {
    const uint32_t size = SizeAt(index);
    ASSERT_GE(size, 1u);
    ASSERT_EQ(SizeIndex(size), index);
    sizes.insert(size);
  }
  EXPECT_EQ(sizes.size(), kSizes);
}

TEST(SizeIndexTest, IsABijectionUpToTheLargest) {
  for (uint32_t size = kMax32; size > kMax32 - 1000; --size) ASSERT_EQ(SizeAt(SizeIndex(size)), size);
  EXPECT_EQ(SizeIndex(kMax32), kMax32 - 1) << "as many indices as sizes";
}

TEST(SizeIndexTest, UsualSizesComeFirst) {
  const std::vector<uint32_t> usual = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12, 13,
                                       14, 16, 24, 32, 40, 48, 64, 80, 96, 128, 256, 512};
  for (uint32_t index = 0; index < usual.size(); ++index) EXPECT_EQ(SizeAt(index), usual[index]);
  EXPECT_EQ(SizeAt(35), 1u << 20);
  EXPECT_EQ(SizeAt(36), 15u);
  EXPECT_EQ(SizeAt(37), 17u);
}

// A spec comes back from its coordinates.
void ExpectReturns(const Spec& spec, Lines available) {
  const std::optional<Question> question = QuestionAt(CoordinatesOf(spec, available));
  ASSERT_TRUE(question.has_value()) << testing::Describe(spec);
  ASSERT_EQ(question->spec, spec) << testing::Describe(spec);
  ASSERT_EQ(question->available, available);
}

using Attributes = std::vector<uint32_t>;  // dtype, level, resident, constant, kind, order, panel, group

std::vector<Attributes> AllAttributes() {
  std::vector<Attributes> all;
  for (uint32_t level = 0; level <= kNumLevels; ++level)
    for (uint32_t resident = 0; resident <= 3; ++resident)
      for (uint32_t kind = 0; kind <= 4; ++kind)
        for (uint32_t order = 0; order <= 2; ++order)
          for (uint32_t panel : {0u, 16u, 255u, 256u})
            all.push_back({0, level, resident, 0, kind, order, panel, 1});
  for (uint32_t constant : {1u, 2u}) all.push_back({0, 4, 0, constant, 0, 0, 0, 1});
  for (uint32_t dtype = 0; dtype <= kDtypes.size(); ++dtype) all.push_back({dtype, 1, 0, 0, 0, 0, 0, 1});
  for (uint32_t group : {0u, 2u, 255u, 256u}) all.push_back({1, 1, 0, 0, 1, 0, 16, group});
  return all;
}

bool AreAttributes(const Attributes& a) {
  return a[0] < kDtypes.size() && a[1] < kNumLevels && a[2] <= kPrefetched && a[3] < 2 && a[4] < 4 &&
         a[5] < 2 && a[6] < 256 && a[7] % 256 > 0;
}

// Every point with sizes 1 .. `sides` (batch: 2) and contiguities up to 6: nothing, or a spec whose
// coordinates it is; and all of the specs with such leading dimensions. Returns the number of specs.
int WalkPlane(const CoordinateList& plane, uint32_t sides) {
  int specs = 0;
  CoordinateList point(8);
  for (point[0] = 0; point[0] < 2; ++point[0])
    for (point[1] = 0; point[1] < sides; ++point[1])
      for (point[2] = 0; point[2] < sides; ++point[2])
        for (point[3] = 0; point[3] < sides; ++point[3])
          for (point[4] = 0; point[4] < 7; ++point[4])
            for (point[5] = 0; point[5] < 7; ++point[5])
              for (point[6] = 0; point[6] < 7; ++point[6]) {
                point[7] = point[4] * 100;
                const Coordinates coordinates{plane, point};
                const std::optional<Question> question = QuestionAt(coordinates);
                if (!question) continue;
                ++specs;
                EXPECT_EQ(CoordinatesOf(question->spec, question->available), coordinates);
              }
  return specs;
}

// The leading dimensions 1 .. 6 that a matrix with rows of `inner` may have; 0 for what has none. Rows of
// inputs may overlap.
int LeadingDimensions(const Attributes& operand, uint32_t inner, bool output) {
  return operand[4] != 0 ? 1 : output ? static_cast<int>(7 - inner) : 6;
}

// How many specs WalkPlane ought to find.
int CountSpecs(const std::vector<Attributes>& operands, uint32_t sides) {
  int specs = 0;
  for (uint32_t m = 1; m <= sides; ++m)
    for (uint32_t k = 1; k <= sides; ++k)
      for (uint32_t n = 1; n <= sides; ++n) {
        const uint32_t row[] = {k, n, n}, column[] = {m, k, m};
        int product = 2;
        for (size_t i = 0; i < 3; ++i)
          product *= LeadingDimensions(operands[i], operands[i][5] == 0 ? row[i] : column[i], i == 2);
        specs += product;
      }
  return specs;
}

CoordinateList PlaneOf(uint32_t accumulate, uint32_t threads, uint32_t active_threads,
                       const std::vector<Attributes>& operands) {
  CoordinateList plane = {0, accumulate, threads, active_threads, 0, 0, 0, 0};
  for (const Attributes& operand : operands) plane.insert(plane.end(), operand.begin(), operand.end());
  return plane;
}

TEST(CoordinatesTest, SmallSpecsOfEveryPlane) {
  const Attributes plain = {0, 4, 0, 0, 0, 0, 0, 1}, column = {0, 2, 1, 0, 0, 1, 0, 1},
                   packed = {0, 1, 1, 0, 1, 0, 16, 1};
  for (const Attributes& attributes : AllAttributes())
    for (size_t operand = 0; operand < 3; ++operand) {
      std::vector<Attributes> operands = {plain, column, packed};
      operands[operand] = attributes;
      const int expected = AreAttributes(attributes) ? CountSpecs(operands, 2) : 0;
      ASSERT_EQ(WalkPlane(PlaneOf(0, 1, 1, operands), 2), expected) << operand;
    }
  for (const Attributes& lhs : {plain, column, packed})
    for (const Attributes& rhs : {plain, column, packed})
      for (const Attributes& out : {plain, column, packed})
        ASSERT_EQ(WalkPlane(PlaneOf(1, 1, 1, {lhs, rhs, out}), 4), CountSpecs({lhs, rhs, out}, 4));
}

TEST(CoordinatesTest, OnlyWhatIsASpecHasAPlane) {
  const Attributes plain = {0, 4, 0, 0, 0, 0, 0, 1};
  for (uint32_t accumulate : {0u, 1u, 2u})
    for (uint32_t threads : {0u, 1u, 2u, 255u, 256u})
      for (uint32_t active_threads : {0u, 1u, 2u, 255u, 256u}) {
        const bool is = accumulate < 2 && threads % 256 > 0 && active_threads % 256 > 0;
        const CoordinateList plane = PlaneOf(accumulate, threads, active_threads, {plain, plain, plain});
        EXPECT_EQ(WalkPlane(plane, 1), is ? 2 * 6 * 6 * 6 : 0) << accumulate << threads << active_threads;
      }
  CoordinateList plane = PlaneOf(0, 1, 1, {plain, plain, plain});
  const CoordinateList point = {0, 0, 0, 0, 0, 0, 0, 0};
  ASSERT_TRUE(QuestionAt({plane, point}).has_value());
  CoordinateList start;
  for (uint32_t coordinate : point) {
    EXPECT_FALSE(QuestionAt({plane, start}));
    start.push_back(coordinate);
  }
  EXPECT_FALSE(QuestionAt({plane, {0, 0, 0, 0, 0, 0, 0, 0, 0}}));
  EXPECT_TRUE(QuestionAt({plane, {0, 0, 0, 0, 0, 0, 0, kUnlimited}}).has_value());
  EXPECT_FALSE(QuestionAt({plane, {0, 0, 0, 0, 0, 0, 0, kUnlimited + 1}}));
  plane.push_back(0);
  EXPECT_FALSE(QuestionAt({plane, point}));
  plane.pop_back();
  plane.pop_back();
  EXPECT_FALSE(QuestionAt({plane, point}));
}

TEST(CoordinatesTest, DistinctSpecsHaveDistinctCoordinates) {
  std::set<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> seen;
  int specs = 0;
  for (uint32_t m = 1; m <= 4; ++m)
    for (uint32_t k = 1; k <= 4; ++k)
      for (uint32_t n = 1; n <= 4; ++n)
        for (uint32_t gap = 0; gap < 64; ++gap)
          for (bool accumulate : {false, true}) {
            const Spec spec = testing::MatmulSpec({.m = m,
                                                   .k = k,
                                                   .n = n,
                                                   .lhs_gap = gap % 4,
                                                   .rhs_gap = gap / 4 % 4,
                                                   .out_gap = gap / 16,
                                                   .accumulate = accumulate});
            const Coordinates at = CoordinatesOf(spec, 5);
            seen.insert({{at.plane.begin(), at.plane.end()}, {at.point.begin(), at.point.end()}});
            ++specs;
          }
  EXPECT_EQ(seen.size(), static_cast<size_t>(specs));
}

// Sizes and leading dimensions around the usual ones, small, huge, and the largest.
uint32_t ExtremeSize(uint32_t largest, std::mt19937_64* random) {
  const uint32_t around = 1u << ((*random)() % 32);
  const uint32_t offset = static_cast<uint32_t>((*random)() % 3) - 1;
  const uint32_t choices[] = {around + offset, static_cast<uint32_t>((*random)()), largest, 1};
  const uint32_t size = choices[(*random)() % 4];
  return size == 0 ? 1 : std::min(size, largest);
}

TEST(CoordinatesTest, LargeRandomSpecsReturn) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    Spec spec;
    spec.accumulate = random() % 2 != 0;
    spec.threads = static_cast<uint8_t>(1 + random() % 255);
    spec.active_threads = static_cast<uint8_t>(1 + random() % 255);
    for (size_t dim = 0; dim < 4; ++dim) spec.size[dim] = ExtremeSize(kMaxSide, &random);
    for (int operand = 0; operand < 3; ++operand) {
      TensorSpec& tensor = spec.tensor(operand);
      tensor.dtype = kDtypes[random() % kDtypes.size()].dtype;
      tensor.level = static_cast<Level>(random() % kNumLevels);
      tensor.resident = static_cast<uint8_t>(random() % (kPrefetched + 1));
      tensor.constant = static_cast<uint8_t>(random() % 2);
      tensor.layout.kind = random() % 2 == 0 ? LayoutKind::kStrided : static_cast<LayoutKind>(random() % 4);
      tensor.layout.order = static_cast<Order>(random() % 2);
      tensor.layout.panel = static_cast<uint8_t>(random());
      tensor.layout.group = static_cast<uint8_t>(1 + random() % 255);
      const auto inner = static_cast<uint32_t>(ExtentOf(spec, operand).inner);
      if (tensor.layout.kind == LayoutKind::kStrided)
        tensor.layout.ld = std::max(inner, ExtremeSize(kMax32, &random));
    }
    ExpectReturns(spec, static_cast<Lines>(random() % (kUnlimited + 1u)));
    if (HasFatalFailure()) return;
  }
}

TEST(CoordinatesTest, OrdersAndBlocksHavePlanes) {
  const auto at = [](uint32_t fixed_order, uint32_t block, uint32_t rows, uint32_t lhs_as = 0) {
    CoordinateList plane = {0, 0, 1, 1, fixed_order, lhs_as, block, rows};
    for (int operand = 0; operand < 3; ++operand) plane.insert(plane.end(), {0, 4, 0, 0, 0, 0, 0, 1});
    const auto question = QuestionAt({plane, {0, 0, 0, 0, 0, 0, 0, 0}});
    EXPECT_TRUE(!question || CoordinatesOf(question->spec, question->available).plane == plane);
    return question.has_value();
  };
  for (uint32_t order : {0u, 1u, 2u})
    for (uint32_t block : {0u, 1u, 65535u, 65536u})
      for (uint32_t rows : {0u, 1u, 2u})
        EXPECT_EQ(at(order, block, rows), order < 2 && block < 65536 && rows <= (block == 0 ? 0u : 1u));
  for (uint32_t lhs_as : {0u, 1u, 2u, 3u, 4u}) EXPECT_EQ(at(0, 0, 0, lhs_as), lhs_as < 4);
}

// Codes that stand for no epilogue.
TEST(CoordinatesTest, OnlyEpiloguesThatThereAreHaveAPlane) {
  const auto at = [](CoordinateList op, bool has_operand) {
    op.insert(op.end(), {0, 1, 1, 0, 0, 0, 0});
    for (int operand = 0; operand < 3; ++operand) op.insert(op.end(), {0, 4, 0, 0, 0, 0, 0, 1});
    if (has_operand) op.push_back(1);
    return QuestionAt({op, {0, 0, 0, 0, 0, 0, 0, 0}}).has_value();
  };
  EXPECT_TRUE(at({0}, false));
  EXPECT_TRUE(at({1, 1, 0, 4, 0}, true));
  EXPECT_TRUE(at({1, 1, 3, 1, 77}, false));
  EXPECT_TRUE(at({1, 1, 5, 0, 0}, false));
  EXPECT_FALSE(at({4}, false));                                        // no such op
  EXPECT_FALSE(at({1, 0}, false));                                     // no steps
  EXPECT_FALSE(at({1, 1, 0, 4, 0}, false));                            // no level of the operand
  EXPECT_FALSE(at({1, 1, 0, 4, 1}, true));                             // a number that nobody looks at
  EXPECT_FALSE(at({1, 1, 6, 4, 0}, true));                             // no such step
  EXPECT_FALSE(at({1, 1, 0, 6, 0}, true));                             // no such operand
  EXPECT_FALSE(at({1, 1, 5, 4, 0}, true));                             // a conversion has none
  EXPECT_FALSE(at({1, 1, 0, 0, 0}, false));                            // an addition has one
  EXPECT_FALSE(at({1, 4, 0, 4, 0, 0, 4, 0, 0, 4, 0, 0, 4, 0}, true));  // too many in memory
}

void ExpectAllReturn(const Impl& impl) {
  ExpectReturns(impl.spec, 17);
  for (const Impl::Child& child : impl.children) ExpectAllReturn(child.impl);
}

TEST(CoordinatesTest, EverySpecOfRandomProgramsReturns) {
  std::mt19937_64 random(11);
  for (const Target& target : {testing::Avx2Target(), testing::Avx512Target(), testing::TinyTarget()})
    for (int i = 0; i < 300; ++i) {
      Spec root = testing::RandomMatmulSpec({.max_side = 100}, &random);
      if (i % 3 == 0) root = testing::WithRandomEpilogue(root, &random);
      root.threads = static_cast<uint8_t>(1 + i % 3);
      ExpectAllReturn(testing::RandomImpl(root, target, &random));
      if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace kirsch
