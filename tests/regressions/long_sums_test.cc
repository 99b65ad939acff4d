// SPDX-License-Identifier: Apache-2.0
// Sums of a million of f32 were single chains of additions, and off by a per cent; then, in blocks, those of
// blocks were one.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "spec/element.h"
#include "spec/sum_blocks.h"
#include "spec/text/cat.h"
#include "tests/testing/called_kernel.h"

namespace kirsch::testing {
namespace {

constexpr float kTerm = 0.1f;

// `scale` times the sum of so many equal terms is what each element of `results` should be.
void ExpectSums(const Elements& results, double terms, double scale, const std::string& what) {
  const double sum = scale * terms * kTerm;
  for (float result : results)
    ASSERT_NEAR(result, sum, RoundingsInBlocks(terms) * 0x1p-24 * sum) << what << ": " << result;
}

TEST(LongSums, OfReductionsDownTheColumns) {
  const Elements x(2 * 1000000, kTerm);
  ExpectSums(Called("reduce sum f32 1000000x2 axis=0", {x}), 1000000, 1, "sum");
  const Elements y(1048575 * 3, kTerm);
  ExpectSums(Called("reduce mean f32 1048575x3 axis=0", {y}), 1048575, 1 / 1048575.0, "mean");
}

TEST(LongSums, OfReductionsAlongRows) {
  const Elements x(1048575, kTerm);
  ExpectSums(Called("reduce sum f32 1x1048575", {x}), 1048575, 1, "sum");
}

TEST(LongSums, OfMatmuls) {
  for (const std::string options : {"", " rhs=col", " epilogue=mul:0.5"})
    for (int rows : {1, 3})
      for (int columns : {1, 16}) {
        constexpr size_t kTerms = 300001;
        const std::string spec = Cat("matmul f32 ", rows, "x", kTerms, "x", columns, options);
        const Elements results = Called(spec, {Elements(static_cast<size_t>(rows) * kTerms, kTerm),
                                               Elements(static_cast<size_t>(columns) * kTerms, 1)});
        ExpectSums(results, kTerms, options.ends_with("0.5") ? 0.5 : 1, spec);
      }
}

// A pair of bf16 in each f32.
Elements PairsOf(float number, size_t count) {
  const std::array<Bf16, 2> pair = {ToBf16(number), ToBf16(number)};
  float both;
  std::memcpy(&both, pair.data(), sizeof(both));
  return Elements(count / 2, both);
}
float FirstOf(const Elements& pairs) {
  Bf16 first;
  std::memcpy(&first, pairs.data(), sizeof(first));
  return Widen(first);
}

TEST(LongSums, OfMatmulsToBf16) {
  constexpr size_t kTerms = 1048576;
  for (const char* target : kHosts)
    for (size_t columns : {2, 16}) {
      const std::string spec = Cat("matmul bf16 1x", kTerms, "x", columns);
      const float sum = FirstOf(Called(spec, {PairsOf(kTerm, kTerms), PairsOf(1, columns * kTerms)}, target));
      const double exact = kTerms * double{Widen(ToBf16(kTerm))};
      EXPECT_NEAR(sum, exact, (0x1p-9 + 2 * RoundingsInBlocks(kTerms) * 0x1p-24) * exact) << spec << target;
    }
}

TEST(LongSums, OfConvolutions) {
  constexpr size_t kChannels = 70000;
  for (const std::string layout : {"nchw", "nhwc"})
    for (const std::string groups : {"", " groups=2"}) {
      const double terms = 9.0 * kChannels / (groups.empty() ? 1 : 2);
      const std::string spec =
          Cat("conv2d f32 1x", kChannels, "x3x3 filters=2 kernel=3x3 layout=", layout, groups);
      const Elements image(9 * kChannels, kTerm), filters(static_cast<size_t>(2 * terms), 1);
      ExpectSums(Called(spec, {image, filters}), terms, 1, spec);
    }
}

// (More taps of a depthwise convolution than a block has.)
TEST(LongSums, OfManyTaps) {
  constexpr size_t kEdge = 300, kChannels = 16;
  const std::string spec = "conv2d f32 1x16x300x300 filters=16 kernel=300x300 groups=16 layout=nhwc";
  const Elements image(kChannels * kEdge * kEdge, kTerm), filters(kChannels * kEdge * kEdge, 1);
  ExpectSums(Called(spec, {image, filters}), kEdge * kEdge, 1, spec);
}

TEST(LongSums, OfFamiliesOfReductions) {
  for (const std::string options : {"", " rhs=col"})
    for (size_t terms : {300001, 300064}) {
      const std::string spec = Cat("matmul f32 1x300000..300064x16", options);
      const Elements results =
          Called(spec, {Elements(terms, kTerm), Elements(16 * terms, 1)}, "host", {terms});
      ExpectSums(results, static_cast<double>(terms), 1, spec);
    }
}

// A term that begins every block is a half more than what the sum of all has room for, but for a little: a
// chain of their sums would lose that each time.
TEST(LongSums, OfBlocksAreNoChain) {
  constexpr size_t kTerms = 1048576, kBlocks = kTerms / kSumBlock;
  constexpr float kFirst = 1 + 63 * 0x1p-23f;
  Elements x(2 * kTerms, 0);
  for (size_t i = 0; i < 2 * kBlocks; ++i) x[i / 2 * 2 * kSumBlock + i % 2] = kFirst;
  for (float sum : Called("reduce sum f32 1048576x2 axis=0", {x}))
    EXPECT_NEAR(sum, kBlocks * kFirst, 8 * 0x1p-24 * kBlocks);
}

TEST(LongSums, ErrorsGrowWithTheLogarithm) {
  EXPECT_EQ(RoundingsInBlocks(4096), 4096);
  EXPECT_EQ(RoundingsInBlocks(0x1p20), 4096 + 2 * 64 + 16);
  EXPECT_EQ(RoundingsInBlocks(0x1p30), 4096 + 4 * 64 + 16);
}

// What is asked for has one chain.
TEST(LongSums, OfAFixedOrderAreAChain) {
  constexpr size_t kTerms = 300001;
  float sum = 0;
  for (size_t i = 0; i < kTerms; ++i) sum = std::fma(kTerm, 1.0f, sum);
  for (float result : Called(Cat("matmul f32 1x", kTerms, "x16 fixed-order"),
                             {Elements(kTerms, kTerm), Elements(16 * kTerms, 1)}))
    ASSERT_EQ(result, sum);
}

}  // namespace
}  // namespace kirsch::testing
