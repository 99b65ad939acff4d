// SPDX-License-Identifier: Apache-2.0
#include "spec/meaning/reference.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "codegen/verify/verify_data.h"
#include "spec/element.h"
#include "spec/element_array.h"
#include "tests/testing/random_spec.h"

namespace kirsch {
namespace {

using testing::Describe;
using testing::MatmulShape;
using testing::MatmulSpec;

constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kOut = MatmulDims::kOut;

using Buffers = std::vector<std::vector<std::byte>>;

Buffers Filled(const Spec& spec, InputKind kind) {
  Buffers operands;
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    const Dtype dtype = spec.tensor(operand).dtype;
    operands.emplace_back(static_cast<size_t>(RootElements(spec, operand) * Bytes(dtype)));
    FillOperand(spec, operand, kind, 1, 111, operands.back().data());
  }
  return operands;
}

template <typename Operands>
ConstOperands Pointers(const Operands& operands) {
  ConstOperands pointers = {};
  for (size_t i = 0; i < operands.size(); ++i) pointers[i] = operands[i].data();
  return pointers;
}

TEST(ReferenceTest, MultipliesByHand) {
  const Spec spec = MatmulSpec({.m = 2, .k = 3, .n = 2});
  const std::vector<std::vector<float>> operands = {
      {1, 2, 3, -4, 5, 6}, {7, 8, 9, 10, -11, 12}, {0, 0, 0, 0}};
  const Expected expected = Reference(spec, Pointers(operands));
  EXPECT_EQ(expected.value, (std::vector<double>{-8, 64, -49, 90}));
  EXPECT_EQ(expected.magnitude, (std::vector<double>{58, 64, 139, 154}));
}

TEST(ReferenceTest, ReadsColumnsLeadingDimensionsBatchesAndPriorOutput) {
  const Spec spec = MatmulSpec({.b = 2,
                                .m = 2,
                                .k = 1,
                                .n = 2,
                                .lhs = Order::kCol,
                                .rhs = Order::kCol,
                                .lhs_gap = 1,
                                .out_gap = 1,
                                .accumulate = true});
  ASSERT_EQ(RootElements(spec, kLhs), 3 + 2);
  ASSERT_EQ(RootElements(spec, kRhs), 4);
  ASSERT_EQ(RootElements(spec, kOut), 3 * 3 + 2);
  const std::vector<std::vector<float>> operands = {
      {1, 2, 99, 3, 4}, {10, 20, 30, 40}, {1, 2, 99, 3, 4, 99, 5, 6, 99, 7, 8}};
  const Expected expected = Reference(spec, Pointers(operands));
  EXPECT_EQ(expected.value, (std::vector<double>{11, 22, 23, 44, 95, 126, 127, 168}));
}

// out = accumulated sums of the products of one lhs row and one rhs column.
template <typename Lhs, typename Rhs, typename Out>
double DotOf(const MatmulTypes& types, std::vector<Lhs> lhs, std::vector<Rhs> rhs, Out before) {
  const Spec spec = MatmulSpec(
      {.m = 1, .k = static_cast<uint32_t>(lhs.size()), .n = 1, .accumulate = true, .types = types});
  const ConstOperands operands = {lhs.data(), rhs.data(), &before};
  const double slow = Reference(spec, operands).value.front();
  EXPECT_EQ(ReferenceRows(spec, operands, {0}).value.front(), slow);
  return slow;
}

TEST(ReferenceTest, IntegersWrapAroundAndNarrowOnesAreSaturatedAtTheEnd) {
  constexpr Dtype kU8 = Dtype::kU8, kS8 = Dtype::kS8, kS16 = Dtype::kS16, kS32 = Dtype::kS32;
  using U8 = std::vector<uint8_t>;
  using S8 = std::vector<int8_t>;
  using S32 = std::vector<int32_t>;
  EXPECT_EQ(DotOf({kS32, kS32, kS32}, S32{INT32_MAX, 2}, S32{3, -5}, int32_t{7}), INT32_MAX - 5.0);
  EXPECT_EQ(DotOf({kS32, kS32, kS32}, S32{INT32_MIN}, S32{INT32_MIN}, int32_t{-1}), -1);
  EXPECT_EQ(DotOf({kU8, kS8, kS32}, U8{255, 255, 1}, S8{-128, 127, 1}, int32_t{0}), -254);
  EXPECT_EQ(DotOf({kS8, kS8, kS32}, S8{-128, -128}, S8{-128, -128}, int32_t{INT32_MAX}), INT32_MIN + 32767.0);
  EXPECT_EQ(DotOf({kU8, kS8, kS16}, U8{255, 255}, S8{127, 127}, int16_t{0}), 32767);
  EXPECT_EQ(DotOf({kU8, kS8, kS16}, U8{255, 255}, S8{-128, -128}, int16_t{0}), -32768);
  EXPECT_EQ(DotOf({kU8, kS8, kS16}, U8{255, 255, 255}, S8{127, 127, -128}, int16_t{0}), 32130);
  EXPECT_EQ(DotOf({kU8, kS8, kS16}, U8{255, 255}, S8{127, 127}, int16_t{-32768}), 32002);
}

TEST(ReferenceTest, NarrowFloatsAreWidened) {
  constexpr Dtype kF32 = Dtype::kF32, kBf16 = Dtype::kBf16, kF16 = Dtype::kF16;
  const std::vector<Bf16> bf16 = {ToBf16(1.5f), ToBf16(-3)};
  const std::vector<F16> f16 = {ToF16(0x1p-24f), ToF16(2049)};  // the least there is; 2048
  EXPECT_EQ(DotOf({kBf16, kBf16, kF32}, bf16, bf16, 0.25f), 11.5);
  EXPECT_EQ(DotOf({kBf16, kBf16, kBf16}, bf16, bf16, ToBf16(1024)), 1035.25);  // as yet unrounded
  EXPECT_EQ(DotOf({kF32, kBf16, kF32}, std::vector<float>{0.1f, 1}, bf16, 0.0f), 1.5 * double{0.1f} - 3);
  EXPECT_EQ(DotOf({kF16, kF16, kF32}, f16, f16, 1.0f), 2048.0 * 2048 + 1 + 0x1p-48);
}

// What sums of f64 lose, the reference keeps.
TEST(ReferenceTest, IsMoreExactThanF64) {
  const std::vector<double> lhs = {1, 0x1p-60, -1}, ones = {1, 1, 1};
  EXPECT_EQ(DotOf({Dtype::kF64, Dtype::kF64, Dtype::kF64}, lhs, ones, 0.0), 0x1p-60);
}

class EveryTypes : public ::testing::TestWithParam<MatmulTypes> {};
INSTANTIATE_TEST_SUITE_P(, EveryTypes, ::testing::ValuesIn(testing::EveryTypes()),
                         [](const auto& info) { return testing::NameOf(info.param); });

TEST_P(EveryTypes, RowsAgreeWithTheSlowEvaluator) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 40; ++round) {
    const Spec spec = testing::RandomMatmulSpec(
        {.max_side = round < 35 ? 40u : 300u, .max_flops = 2e6, .types = GetParam()}, &random);
    const InputKind kind =
        round % 2 == 1 && Suits(spec, InputKind::kFullRange) ? InputKind::kFullRange : InputKind::kIntegers;
    const Buffers operands = Filled(spec, kind);
    const Expected slow = Reference(spec, Pointers(operands));
    std::vector<int64_t> rows(spec.size[MatmulDims::kB] * spec.size[MatmulDims::kM]);
    std::iota(rows.begin(), rows.end(), 0);
    const Expected fast = ReferenceRows(spec, Pointers(operands), rows);
    EXPECT_EQ(slow.value, fast.value) << Describe(spec);
    EXPECT_EQ(slow.magnitude, fast.magnitude) << Describe(spec);
    // A choice of rows, in any order.
    const int64_t last = rows.back();
    const Expected some = ReferenceRows(spec, Pointers(operands), {last, 0});
    const size_t n = spec.size[MatmulDims::kN];
    for (size_t j = 0; j < n; ++j) {
      EXPECT_EQ(some.value[j], slow.value[static_cast<size_t>(last) * n + j]) << Describe(spec);
      EXPECT_EQ(some.value[n + j], slow.value[j]) << Describe(spec);
    }
  }
}

TEST(VerifyDataTest, IntegersStayExactAndAreNeverZero) {
  for (uint32_t k : {1u, 7u, 300u, 8192u, kMaxSide}) {
    const Spec spec = MatmulSpec({.m = 1, .k = k, .n = 1, .accumulate = true});
    const double limit = static_cast<double>(IntegerLimit(spec));
    EXPECT_GE(limit, 1) << k;
    EXPECT_LE(limit * limit * (k + 1.0), 0x1p24) << k;
    const Buffers operands = Filled(spec, InputKind::kIntegers);
    for (int operand = 0; operand < 3; ++operand)
      for (int64_t i = 0; i < RootElements(spec, operand); ++i) {
        const double x = LoadElement(Dtype::kF32, operands[static_cast<size_t>(operand)].data(), i);
        EXPECT_NE(x, 0);
        EXPECT_LE(std::abs(x), limit);
        EXPECT_EQ(x, std::rint(x));
      }
  }
}

TEST(VerifyDataTest, GapsAreFilledAndValuesAreReproducible) {
  const Spec spec = MatmulSpec({.m = 3, .k = 4, .n = 1, .lhs_gap = 2});
  std::vector<float> a(static_cast<size_t>(RootElements(spec, kLhs))), b = a;
  FillOperand(spec, kLhs, InputKind::kSpread, 5, -7, a.data());
  FillOperand(spec, kLhs, InputKind::kSpread, 5, -7, b.data());
  EXPECT_EQ(a, b);
  for (size_t i : {4u, 5u, 10u, 11u}) EXPECT_EQ(a[i], -7);
  for (size_t i : {0u, 3u, 6u, 15u}) EXPECT_NE(a[i], -7);
}

}  // namespace
}  // namespace kirsch
