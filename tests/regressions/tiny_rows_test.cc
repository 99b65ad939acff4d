// SPDX-License-Identifier: Apache-2.0
// Rows of small numbers that became zeros where they were rounded to integers of 8 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "spec/block.h"
#include "spec/text/cat.h"
#include "tests/testing/called_kernel.h"

namespace kirsch::testing {
namespace {

// Blocks of q8_0 whose scale, and codes, are 1.
Elements Ones(size_t blocks) {
  constexpr size_t kBytes = 34;
  std::vector<uint8_t> bytes(blocks * kBytes, 1);
  const uint16_t one = 0x3c00;
  for (size_t i = 0; i < blocks; ++i) std::memcpy(&bytes[i * kBytes], &one, sizeof(one));
  Elements elements((bytes.size() + 3) / 4);
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

TEST(TinyRows, KeepHalfAScale) {
  for (size_t rows : {size_t{1}, size_t{3}})
    for (float element : {1e-30f, 1e-33f, 3e-35f, 1e-36f}) {
      const std::string spec = Cat("matmul f32*q8_0->f32 ", rows, "x32x16 rhs=col lhs-as=q8_0");
      for (float sum : Called(spec, {Elements(rows * 32, element), Ones(16)}))
        EXPECT_NEAR(sum, 32 * element, 32 * element / 254) << spec << " " << element;
    }
}

TEST(TinyRows, KeepHalfOfTheLeastScale) {
  float element = kLeastQ8Magnitude;
  std::vector<float> block(32, 0);
  for (int i = 0; i < 8; ++i, element /= 2) {
    block[5] = element;
    const RoundedElements rounded = RoundElements(block.data());
    EXPECT_NEAR(rounded.codes[5] * rounded.scale, element, 0x1p-121 / 254 * (1 + 1e-6)) << element;
  }
}

}  // namespace
}  // namespace kirsch::testing
