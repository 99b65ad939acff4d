// Elements as numbers: the C++ type of each dtype, how elements become what is computed with, and back.
// Thread-safe: pure functions.
#ifndef KIRSCH_SPEC_ELEMENT_H_
#define KIRSCH_SPEC_ELEMENT_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "spec/check.h"
#include "spec/dtype.h"

namespace kirsch {

struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};
struct O8 {
  uint8_t bits;
};

// Every element as a number of the type that sums are kept in: float or int32_t. Always exact.
inline float Widen(float x) { return x; }
inline float Widen(Bf16 x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }
inline float Widen(F16 x) {
  const uint32_t magnitude = (x.bits & 0x7fffu) << 13, sign = (x.bits & 0x8000u) << 16;
  const uint32_t special = magnitude >= 0x7c00u << 13 ? 0x7f800000u : 0;  // infinity, NaN
  // The product moves the exponent to where a float has it, and gives subnormals one.
  const float moved = std::bit_cast<float>(magnitude) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(moved) | special | sign);
}
inline int32_t Widen(uint8_t x) { return x; }
inline int32_t Widen(int8_t x) { return x; }
inline int32_t Widen(O8 x) { return int32_t{x.bits} - 128; }
inline int32_t Widen(int16_t x) { return x; }
inline int32_t Widen(int32_t x) { return x; }

// The nearest Bf16, ties to even. A NaN stays one, and becomes quiet.
inline Bf16 ToBf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return {static_cast<uint16_t>(nan ? bits >> 16 | 0x40u : rounded)};
}

// The nearest F16, ties to even; 65520 and beyond is infinity. A NaN stays one, and becomes quiet.
inline F16 ToF16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x), magnitude = bits & 0x7fffffffu;
  const uint32_t sign = bits >> 16 & 0x8000u;
  uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  } else if (magnitude >= std::bit_cast<uint32_t>(65520.0f)) {
    half = 0x7c00u;
  } else if (magnitude < std::bit_cast<uint32_t>(0x1p-14f)) {
    // In [0.5, 1), floats are 2^-24 apart, as subnormals of F16 are.
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
  } else {
    half = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1)) >> 13;
  }
  return {static_cast<uint16_t>(sign | half)};
}

// The element that stands for a number: the nearest one, ties to even; of integers, the nearest there is.
template <typename Element, typename Number>
Element Narrow(Number x) {
  static_assert(std::is_same_v<Number, decltype(Widen(Element()))>);
  if constexpr (std::is_same_v<Element, Number>) {
    return x;
  } else if constexpr (std::is_same_v<Element, Bf16>) {
    return ToBf16(x);
  } else if constexpr (std::is_same_v<Element, F16>) {
    return ToF16(x);
  } else if constexpr (std::is_same_v<Element, O8>) {
    return {static_cast<uint8_t>(std::clamp<int32_t>(x, -128, 127) + 128)};
  } else {
    return static_cast<Element>(
        std::clamp<int32_t>(x, std::numeric_limits<Element>::min(), std::numeric_limits<Element>::max()));
  }
}

// Calls body(Element()) with the C++ type of `dtype`.
template <typename Body>
decltype(auto) WithElementOf(Dtype dtype, const Body& body) {
  switch (dtype) {
    case Dtype::kF32:
      return body(float());
    case Dtype::kBf16:
      return body(Bf16());
    case Dtype::kF16:
      return body(F16());
    case Dtype::kU8:
      return body(uint8_t());
    case Dtype::kS8:
      return body(int8_t());
    case Dtype::kS16:
      return body(int16_t());
    case Dtype::kS32:
      return body(int32_t());
    case Dtype::kO8:
      return body(O8());
  }
  KIRSCH_CHECK(false && "no such dtype");
}

// Element number `index` of an array of dtype; exact.
inline double LoadElement(Dtype dtype, const void* data, int64_t index) {
  return WithElementOf(dtype, [&](auto element) -> double {
    return Widen(static_cast<const decltype(element)*>(data)[index]);
  });
}

// Stores the element that stands for `value`, which is first made a float, or must be an int32_t.
inline void StoreElement(Dtype dtype, double value, void* data, int64_t index) {
  WithElementOf(dtype, [&](auto element) {
    using Element = decltype(element);
    static_cast<Element*>(data)[index] = Narrow<Element>(static_cast<decltype(Widen(element))>(value));
  });
}

// to[i] = element number first + i * stride, for i < count. Number: double, or an integer modulo its range.
template <typename Number>
void LoadRun(Dtype dtype, const void* data, int64_t first, int64_t stride, int64_t count, Number* to) {
  WithElementOf(dtype, [&](auto element) {
    const auto* from = static_cast<const decltype(element)*>(data) + first;
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Number>(Widen(from[i * stride]));
  });
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_ELEMENT_H_
