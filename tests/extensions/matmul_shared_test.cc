// SPDX-License-Identifier: Apache-2.0
// A batch that has one rhs: right from its text on, and refused where the transposed problem is another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/language/parser.h"
#include "spec/text/cat.h"
#include "tests/testing/called_kernel.h"

namespace kirsch::testing {
namespace {

// Small integers, whose sums are exact in any order.
Elements Numbers(size_t count, size_t seed) {
  Elements numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>((i * 7 + seed) % 11) - 5;
  return numbers;
}

struct Sizes4 {
  size_t batch, rows, steps, columns;
};

Elements Products(const Sizes4& sizes, const Elements& lhs, const Elements& rhs, bool by_columns) {
  Elements out;
  for (size_t row = 0; row < sizes.batch * sizes.rows; ++row)
    for (size_t column = 0; column < sizes.columns; ++column) {
      float sum = 0;
      for (size_t step = 0; step < sizes.steps; ++step)
        sum += lhs[row * sizes.steps + step] *
               rhs[by_columns ? column * sizes.steps + step : step * sizes.columns + column];
      out.push_back(sum);
    }
  return out;
}

TEST(MatmulShared, IsRightFromItsText) {
  for (const Sizes4& sizes : {Sizes4{1, 4, 4, 8}, {2, 1, 3, 5}, {3, 5, 7, 9}, {4, 17, 33, 40}, {2, 64, 100, 70}})
    for (const char* options : {"", " rhs=col", " epilogue=relu"}) {
      const std::string text = Cat("matmul_shared f32 ", sizes.batch, ":", sizes.rows, "x", sizes.steps, "x",
                                   sizes.columns, options);
      SCOPED_TRACE(text);
      const Elements lhs = Numbers(sizes.batch * sizes.rows * sizes.steps, 1),
                     rhs = Numbers(sizes.steps * sizes.columns, 5);
      Elements expected = Products(sizes, lhs, rhs, std::string_view(options) == " rhs=col");
      if (std::string_view(options) == " epilogue=relu")
        for (float& sum : expected) sum = std::max(sum, 0.0f);
      for (const char* target : kHosts) EXPECT_EQ(Called(text, {lhs, rhs}, target), expected) << target;
    }
}

TEST(MatmulShared, IsItsOwnOperation) {
  const char* const text = "matmul_shared f32 3:5x7x9";
  EXPECT_EQ(ParseSpec(text)->text, text);
  EXPECT_NE(ParseSpec(text)->spec, ParseSpec("matmul f32 3:5x7x9")->spec);
}

// The transposed problem has one lhs.
TEST(MatmulShared, HasRowsForItsOutput) {
  EXPECT_THAT(ParseSpec("matmul_shared f32 3:5x7x9 out=col").status().message(),
              ::testing::HasSubstr("its own transpose"));
}

}  // namespace
}  // namespace kirsch::testing
