// SPDX-License-Identifier: Apache-2.0
// Turns elements into numbers and back: the C++ type of each dtype, widening and rounding. Thread-safe: pure
// functions.
//
// The references and the interpreter read operands by these, without any instruction that kernels convert
// with.
#ifndef KIRSCH_SPEC_ELEMENT_H_
#define KIRSCH_SPEC_ELEMENT_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "spec/check.h"
#include "spec/dtype.h"

namespace kirsch {

// The C++ type of a float that is narrower than f32: its bits.
template <Dtype kDtype>
struct NarrowFloat {
  std::conditional_t<Bytes(kDtype) == 2, uint16_t, uint8_t> bits;
};
using Bf16 = NarrowFloat<Dtype::kBf16>;
using F16 = NarrowFloat<Dtype::kF16>;
struct O8 {
  uint8_t bits;
};

// Returns an element as a number: float, double or int32_t. Always exact.
inline float Widen(float x) { return x; }
inline double Widen(double x) { return x; }
template <Dtype kDtype>
float Widen(NarrowFloat<kDtype> x) {
  constexpr int kSignShift = 32 - 8 * Bytes(kDtype), kShift = 23 - Info(kDtype).mantissa;
  if constexpr (WidensByShift(kDtype)) return std::bit_cast<float>(uint32_t{x.bits} << kShift);
  const uint32_t magnitude = x.bits & (SignBit(kDtype) - 1), sign = (x.bits & SignBit(kDtype)) << kSignShift;
  const uint32_t special = magnitude >= FirstSpecialBits(kDtype) ? FirstSpecialBits(Dtype::kF32) : 0;
  // The product moves the exponent to where a float has it, and gives subnormals one.
  constexpr int kMove = BiasOf(Dtype::kF32) - BiasOf(kDtype);
  const float moved =
      std::bit_cast<float>(magnitude << kShift) * std::bit_cast<float>(PowerOfTwoBits(Dtype::kF32, kMove));
  return std::bit_cast<float>(std::bit_cast<uint32_t>(moved) | special | sign);
}
inline int32_t Widen(uint8_t x) { return x; }
inline int32_t Widen(int8_t x) { return x; }
inline int32_t Widen(O8 x) { return int32_t{x.bits} - 128; }
inline int32_t Widen(int16_t x) { return x; }
inline int32_t Widen(int32_t x) { return x; }

// Rounds to the nearest narrow float, ties to even. Beyond the largest it is infinity, or NaN if there is
// none. A NaN stays one, and becomes quiet.
template <Dtype kDtype>
NarrowFloat<kDtype> ToNarrow(float x) {
  constexpr int kShift = 23 - Info(kDtype).mantissa;
  constexpr uint32_t kMove = static_cast<uint32_t>(BiasOf(Dtype::kF32) - BiasOf(kDtype)) << 23;
  const uint32_t bits = std::bit_cast<uint32_t>(x), magnitude = bits & 0x7fffffffu;
  const uint32_t sign = (bits & 0x80000000u) >> (32 - 8 * Bytes(kDtype));
  uint32_t narrow;
  if (magnitude > FirstSpecialBits(Dtype::kF32)) {
    constexpr uint32_t kQuiet = (MantissaBits(kDtype) + 1) / 2;
    narrow = FirstSpecialBits(kDtype) | kQuiet | (magnitude >> kShift & MantissaBits(kDtype));
  } else if (kMove != 0 && magnitude < kMove + (1u << 23)) {
    // Floats from this one to twice it are as far apart as subnormals are.
    constexpr uint32_t kUnit = PowerOfTwoBits(Dtype::kF32, 1 - BiasOf(kDtype) + kShift);
    narrow = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kUnit)) - kUnit;
  } else {
    const uint32_t half = (1u << (kShift - 1)) - 1 + (magnitude >> kShift & 1);
    const uint32_t rounded = (magnitude - kMove + half) >> kShift;
    narrow = std::min(rounded, FirstSpecialBits(kDtype));
  }
  return {static_cast<decltype(NarrowFloat<kDtype>::bits)>(sign | narrow)};
}
inline Bf16 ToBf16(float x) { return ToNarrow<Dtype::kBf16>(x); }
inline F16 ToF16(float x) { return ToNarrow<Dtype::kF16>(x); }

template <typename Element>
inline constexpr Dtype kDtypeOf = std::is_same_v<Element, double> ? Dtype::kF64 : Dtype::kF32;
template <Dtype kDtype>
inline constexpr Dtype kDtypeOf<NarrowFloat<kDtype>> = kDtype;

// The precision of a type of floats: half the distance of 1 and the next number, the least number above 0,
// and the largest one. For bf16, `unit` is 2^-8.
struct Precision {
  double unit, least, most;
};
inline Precision PrecisionOf(Dtype dtype) {
  const int mantissa = Info(dtype).mantissa, bias = BiasOf(dtype);
  return {std::ldexp(1, -mantissa - 1), std::ldexp(1, 1 - bias - mantissa),
          std::ldexp(2 - std::ldexp(1, -mantissa), bias)};
}

// Rounds a double to the nearest number that a float of the type holds, ties to even; beyond the largest it
// is infinity.
template <Dtype kDtype>
double RoundedTo(double x) {
  if constexpr (kDtype == Dtype::kF32) return static_cast<float>(x);
  constexpr int kCut = 52 - Info(kDtype).mantissa, kLeastNormal = 1 - BiasOf(kDtype);
  if constexpr (kCut == 0) {
    return x;
  } else {
    constexpr double kLeast = std::bit_cast<double>(uint64_t{1023 + kLeastNormal} << 52);
    constexpr double kLimit = std::bit_cast<double>(uint64_t{1023 + BiasOf(kDtype) + 1} << 52);
    // Added to a smaller number, it leaves no bits below the least subnormal one.
    constexpr double kShift = std::bit_cast<double>(uint64_t{1023 + kLeastNormal + kCut} << 52) * 1.5;
    const auto bits = std::bit_cast<uint64_t>(x);
    const uint64_t half = (uint64_t{1} << (kCut - 1)) - 1 + (bits >> kCut & 1);
    const auto normal = std::bit_cast<double>((bits + half) & ~uint64_t{0} << kCut);
    const double subnormal = std::copysign(x + kShift - kShift, x);
    const double rounded = std::abs(x) < kLeast ? subnormal : normal;
    return std::abs(x) >= kLimit || std::abs(rounded) >= kLimit ? x * HUGE_VAL : std::isnan(x) ? x : rounded;
  }
}

// The bits of a number that is an f32, an s32 or an f64.
inline uint64_t WordOf(Dtype type, double number) {
  if (type == Dtype::kF64) return std::bit_cast<uint64_t>(number);
  return type == Dtype::kF32 ? std::bit_cast<uint32_t>(static_cast<float>(number))
                             : static_cast<uint32_t>(static_cast<int32_t>(number));
}

// Rounds a number to an element: to the nearest one, ties to even; of integers, to the nearest there is.
template <typename Element, typename Number>
Element Narrow(Number x) {
  static_assert(std::is_same_v<Number, decltype(Widen(Element()))>);
  if constexpr (std::is_same_v<Element, Number>) {
    return x;
  } else if constexpr (std::is_same_v<Number, float>) {
    return ToNarrow<kDtypeOf<Element>>(x);
  } else if constexpr (std::is_same_v<Element, O8>) {
    return {static_cast<uint8_t>(std::clamp<int32_t>(x, -128, 127) + 128)};
  } else {
    return static_cast<Element>(
        std::clamp<int32_t>(x, std::numeric_limits<Element>::min(), std::numeric_limits<Element>::max()));
  }
}

// Returns a value of the C++ type of a dtype, for its type alone.
template <Dtype kDtype>
constexpr auto ElementOf() {
  if constexpr (kDtype == Dtype::kExcess8) {
    return O8();
  } else if constexpr (kDtype == Dtype::kF32) {  // NOLINT(bugprone-branch-clone): their types differ
    return float();
  } else if constexpr (kDtype == Dtype::kF64) {
    return double();
  } else if constexpr (IsFloating(kDtype)) {
    return NarrowFloat<kDtype>();
  } else if constexpr (Bytes(kDtype) == 4) {
    return int32_t();
  } else if constexpr (Bytes(kDtype) == 2) {
    return int16_t();
  } else {
    return std::conditional_t<Info(kDtype).has_sign, int8_t, uint8_t>();
  }
}

// Calls body(Element()) with the C++ type of `dtype`, which is not of blocks.
template <size_t kIndex = 0, typename Body>
decltype(auto) WithElementOf(Dtype dtype, const Body& body) {
  constexpr auto kDtype = static_cast<Dtype>(kIndex);
  constexpr bool kIsLast = std::all_of(kDtypes.begin() + kIndex + 1, kDtypes.end(),
                                       [](const DtypeInfo& info) { return info.block > 1; });
  if constexpr (IsOfBlocks(kDtype)) {
    return WithElementOf<kIndex + 1>(dtype, body);
  } else {
    if constexpr (!kIsLast)
      if (dtype != kDtype) return WithElementOf<kIndex + 1>(dtype, body);
    KIRSCH_CHECK(dtype == kDtype);
    return body(ElementOf<kDtype>());
  }
}

// RoundedTo for a type that is known at run time only; it is one of floats.
inline double RoundedTo(Dtype type, double x) {
  return WithElementOf(type, [x](auto element) { return RoundedTo<kDtypeOf<decltype(element)>>(x); });
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_ELEMENT_H_
