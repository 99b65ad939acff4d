// Sums of a million of f32 were single chains of additions, and off by a per cent.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

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
