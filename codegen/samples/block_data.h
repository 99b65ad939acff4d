// SPDX-License-Identifier: Apache-2.0
// What kernels are tried on: the kinds of input, and operands of types of blocks, made of random words.
// Thread-safe: pure functions.
#ifndef KIRSCH_CODEGEN_SAMPLES_BLOCK_DATA_H_
#define KIRSCH_CODEGEN_SAMPLES_BLOCK_DATA_H_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "spec/dtype.h"

namespace kirsch {

enum class InputKind {
  kIntegers,  // non-zero, of both signs, so small that partial sums of an output are exact in f32 (of f16, in
              // that: SumsOfIntegersAreExact)
  kUniform,   // floats: [-1, 1]
  kWide,      // floats: [-8, 8]
  kSpread,    // floats: of both signs, magnitudes between 2^-16 and 2^16; of f16, between 2^-12 and 2^12, and
              // if sums are f16, between 2^-3 and 2^3
  kFullRange,  // integers: whatever the type holds, its two ends often; sums wrap around and saturate
};

// SplitMix64's finalizer: one independent-looking word per index.
inline uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Sign and mantissa from the upper bits; the exponent field (127 or 1023 stands for 2^0) from the lowest
// ones.
template <typename Number>
Number Spread(uint64_t word, uint32_t exponents) {
  const uint32_t power = static_cast<uint32_t>(word % exponents);
  if constexpr (std::is_same_v<Number, double>) {
    const uint64_t exponent = 1023 - exponents / 2 + power;
    return std::bit_cast<double>((word & 0x800fffffffffffffu) | exponent << 52);
  } else {
    const uint32_t exponent = 127 - exponents / 2 + power;
    return std::bit_cast<float>((static_cast<uint32_t>(word >> 32) & 0x807fffffu) | exponent << 23);
  }
}

// A block of any bits, but for its scales, which are no larger than a few powers of two. Of integers scales
// and their factors are 1.
void FillBlock(Dtype dtype, InputKind kind, uint64_t word, uint8_t* block);

// An array of blocks, number i made of word(i), in their order.
template <typename Words>
void FillBlocks(Dtype dtype, InputKind kind, int64_t blocks, const Words& word, void* data) {
  for (int64_t i = 0; i < blocks; ++i)
    FillBlock(dtype, kind, word(i), static_cast<uint8_t*>(data) + i * Bytes(dtype));
}

// The largest integers that elements of a block of integers are, but for the sign.
int64_t LargestCode(Dtype dtype);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_SAMPLES_BLOCK_DATA_H_
