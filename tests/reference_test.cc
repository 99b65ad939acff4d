#include "spec/reference.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "codegen/verify_data.h"
#include "tests/testing/random_spec.h"

namespace kirsch {
namespace {

using testing::Describe;
using testing::MatmulShape;
using testing::MatmulSpec;

constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kOut = MatmulDims::kOut;

std::vector<std::vector<float>> Filled(const Spec& spec, InputKind kind) {
  std::vector<std::vector<float>> operands;
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    operands.emplace_back(static_cast<size_t>(RootElements(spec, operand)));
    FillOperand(spec, operand, kind, 1, 1e30f, operands.back().data());
  }
  return operands;
}

ConstOperands Pointers(const std::vector<std::vector<float>>& operands) {
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

TEST(ReferenceTest, RowsAgreeWithTheSlowEvaluator) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    const Spec spec =
        testing::RandomMatmulSpec({.max_side = round < 50 ? 40u : 300u, .max_flops = 4e6}, &random);
    const std::vector<std::vector<float>> operands = Filled(spec, InputKind::kIntegers);
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
    for (const std::vector<float>& operand : Filled(spec, InputKind::kIntegers))
      for (float x : operand) {
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
