// SPDX-License-Identifier: Apache-2.0
#include "bench/workload/element.h"

#include <type_traits>

#include "codegen/samples/block_data.h"
#include "spec/element.h"
#include "spec/element_array.h"

namespace kirsch {
namespace {

// Returns the bits of one element (SplitMix64 of the index). Any element can be had without those before it.
uint64_t BitsAt(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0xD1342543DE82EF95u + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// A multiple of 2^-23 in [-1, 1), which f32 holds exactly: 24 bits, sign included.
float FloatAt(uint64_t seed, uint64_t index) {
  return static_cast<float>(static_cast<int32_t>(BitsAt(seed, index) >> 40) - (1 << 23)) * 0x1p-23f;
}

// A multiple of 2^-52 in [-1, 1), which f64 holds exactly: 53 bits.
double DoubleAt(uint64_t seed, uint64_t index) {
  return static_cast<double>(static_cast<int64_t>(BitsAt(seed, index) >> 11) - (int64_t{1} << 52)) * 0x1p-52;
}

// The high bits, reduced to the width of the range.
int32_t IntegerAt(uint64_t seed, uint64_t index, IntegerRange range) {
  const uint64_t width = static_cast<uint64_t>(range.high - range.low) + 1;
  return static_cast<int32_t>(range.low + static_cast<int64_t>((BitsAt(seed, index) >> 32) % width));
}

}  // namespace

double LoadElement(const void* values, KirschType type, size_t index) {
  return LoadElement(static_cast<Dtype>(type), values, static_cast<int64_t>(index));
}

void FillElements(void* values, KirschType type, size_t count, uint64_t seed, IntegerRange range,
                  float scale) {
  const auto dtype = static_cast<Dtype>(type);
  if (IsOfBlocks(dtype)) {
    const auto word = [seed](int64_t block) { return BitsAt(seed, static_cast<uint64_t>(block)); };
    // Blocks are filled block by block, from one word of bits each.
    return FillBlocks(dtype, InputKind::kUniform, static_cast<int64_t>(count) / BlockOf(dtype), word, values);
  }
  // Narrow types are rounded from f32. Only f64 needs more bits than f32 has.
  WithElementOf(dtype, [&](auto element) {
    using Element = decltype(element);
    for (size_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<Element, double>) {
        static_cast<Element*>(values)[i] = scale * DoubleAt(seed, i);
      } else if constexpr (std::is_floating_point_v<decltype(Widen(element))>) {
        static_cast<Element*>(values)[i] = Narrow<Element>(scale * FloatAt(seed, i));
      } else {
        static_cast<Element*>(values)[i] = Narrow<Element>(IntegerAt(seed, i, range));
      }
    }
  });
}

}  // namespace kirsch
