// SPDX-License-Identifier: Apache-2.0
// Makes the operands that kernels are tried on: the kinds of input, and blocks of weights from random words.
// The same words give the same data everywhere. Thread-safe: pure functions.
#ifndef KIRSCH_CODEGEN_SAMPLES_BLOCK_DATA_H_
#define KIRSCH_CODEGEN_SAMPLES_BLOCK_DATA_H_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "spec/dtype.h"

namespace kirsch {

// Says what numbers an operand has. Sums of kIntegers are compared bit for bit, those of floats within
// derived bounds.
enum class InputKind {
  kIntegers,  // non-zero, of both signs, so small that partial sums of an output are exact in f32 (of f16, in
              // that: SumsOfIntegersAreExact)
  kUniform,   // floats: [-1, 1]
  kWide,      // floats: [-8, 8]
  kSpread,    // floats: of both signs, magnitudes between 2^-16 and 2^16; of f16, between 2^-12 and 2^12, and
              // if sums are f16, between 2^-3 and 2^3
  kFullRange,  // integers: whatever the type holds, its two ends often; sums wrap around and saturate
};

// SplitMix64's finalizer: one independent-looking word per index. So element i can be made without those
// before it.
inline uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Returns a number of random magnitude: 2^(p - exponents / 2) times 1 to 2, with p below `exponents`. Its
// sign and mantissa are bits of the word, p is the word's remainder. (127 is the exponent field of 2^0 as an
// f32, 1023 as an f64.)
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

// Fills one block with random bits. Its scales alone are chosen: no larger than a few powers of two. For
// kIntegers they and their factors are 1, so that elements are integers.
void FillBlock(Dtype dtype, InputKind kind, uint64_t word, uint8_t* block);

// Fills an array of so many blocks: block i is made of word(i).
template <typename Words>
void FillBlocks(Dtype dtype, InputKind kind, int64_t blocks, const Words& word, void* data) {
  for (int64_t i = 0; i < blocks; ++i)
    FillBlock(dtype, kind, word(i), static_cast<uint8_t*>(data) + i * Bytes(dtype));
}

// Returns a bound of the magnitudes that elements of a block have for kIntegers. The other operand is chosen
// so small that sums stay exact.
int64_t LargestCode(Dtype dtype);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_SAMPLES_BLOCK_DATA_H_
