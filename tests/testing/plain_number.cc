// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/plain_number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "spec/check.h"
#include "spec/dtype.h"

namespace kirsch::testing {
namespace {

constexpr double kLargestFloat = std::numeric_limits<float>::max();
constexpr double kLargestDouble = std::numeric_limits<double>::max();
constexpr double kLeastInt = -0x1p31, kMostInt = 0x1p31 - 1;

// Bits of a float's format from its number, and back: a sign, an exponent, precision - 1 bits of a fraction.
uint64_t BitsOf(const PlainType& type, double x) {
  const int fraction_bits = type.precision - 1;
  const uint64_t sign = std::signbit(x) ? uint64_t{1} << (8 * type.bytes - 1) : 0;
  const int exponents = 8 * type.bytes - type.precision;  // bits of the exponent
  if (std::isnan(x)) return (uint64_t{1} << (8 * type.bytes - 1)) - 1;
  if (std::isinf(x)) return sign | ((uint64_t{1} << exponents) - 1) << fraction_bits;
  const double magnitude = std::abs(x);
  const int exponent =
      magnitude == 0 ? type.least_exponent : std::max(std::ilogb(magnitude), type.least_exponent);
  const auto significand = static_cast<uint64_t>(std::ldexp(magnitude, fraction_bits - exponent));
  const auto biased = static_cast<uint64_t>(exponent - type.least_exponent);
  // A normal number's leading bit is one more of the exponent.
  return sign | ((biased << fraction_bits) + significand);
}

double NumberOf(const PlainType& type, uint64_t bits) {
  const int fraction_bits = type.precision - 1;
  const int exponents = 8 * type.bytes - type.precision;
  const bool negative = (bits >> (8 * type.bytes - 1) & 1) != 0;
  const uint64_t exponent = bits >> fraction_bits & ((uint64_t{1} << exponents) - 1);
  const uint64_t fraction = bits & ((uint64_t{1} << fraction_bits) - 1);
  double magnitude;
  const bool all_ones = fraction == (uint64_t{1} << fraction_bits) - 1;
  if (exponent == (uint64_t{1} << exponents) - 1 && (type.infinities || all_ones)) {
    magnitude = fraction == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  } else {
    const uint64_t significand = exponent == 0 ? fraction : fraction | uint64_t{1} << fraction_bits;
    const int scale =
        type.least_exponent + static_cast<int>(std::max(exponent, uint64_t{1})) - 1 - fraction_bits;
    magnitude = std::ldexp(static_cast<double>(significand), scale);
  }
  return negative ? -magnitude : magnitude;
}

int32_t Wrapped(uint32_t x) { return std::bit_cast<int32_t>(x); }
uint32_t Unwrapped(double x) { return static_cast<uint32_t>(static_cast<int64_t>(x)); }

Bounds InRangeOfIntegers(double low, double high) {
  if (low < kLeastInt || high > kMostInt) return {kLeastInt, kMostInt};
  return {low, high};
}

// A float as a row of the table says it, for types that kDefined has not.
PlainType ByItsRow(const DtypeInfo& info) {
  PlainType type;
  type.name = info.name;
  type.bytes = info.bytes;
  type.precision = info.mantissa + 1;
  const int bias = (1 << (info.exponent - 1)) - 1;
  type.least_exponent = 1 - bias;
  const int greatest = (1 << info.exponent) - 1 - bias - (info.infinities ? 1 : 0);
  // All ones, but the last where that is the NaN.
  type.most = std::ldexp(2 - std::ldexp(info.infinities ? 1 : 2, -info.mantissa), greatest);
  type.least = -type.most;
  type.infinities = info.infinities;
  type.is_result = info.is_result;
  return type;
}

}  // namespace

const std::vector<PlainType>& PlainTypes() {
  static const std::vector<PlainType> kDefined = {
      {"f32", 4, 24, -126, -kLargestFloat, kLargestFloat},
      {"bf16", 2, 8, -126, -0x1.fep127, 0x1.fep127},
      {"f16", 2, 11, -14, -65504, 65504},
      {"u8", 1, 0, 0, 0, 255},
      {"s8", 1, 0, 0, -128, 127},
      {"s16", 2, 0, 0, -32768, 32767},
      {"s32", 4, 0, 0, kLeastInt, kMostInt},
      {"f8_e4m3", 1, 4, -6, -448, 448, false, false},
      {"f8_e5m2", 1, 3, -14, -57344, 57344, true, false},
      {"f64", 8, 53, -1022, -kLargestDouble, kLargestDouble},
  };
  static const std::vector<PlainType> types = [] {
    std::vector<PlainType> all = kDefined;
    for (const DtypeInfo& info : kDtypes) {
      const bool defined = std::any_of(kDefined.begin(), kDefined.end(),
                                       [&](const PlainType& type) { return type.name == info.name; });
      if (IsOfGraphs(info.dtype) && info.block == 1 && info.exponent > 0 && !defined)
        all.push_back(ByItsRow(info));
    }
    return all;
  }();
  return types;
}

const PlainType& PlainTypeOf(std::string_view name) {
  for (const PlainType& type : PlainTypes())
    if (type.name == name) return type;
  KIRSCH_BUG("no such type");
}

double RoundTo(const PlainType& type, double x) {
  if (std::isnan(x)) return x;
  if (!IsFloat(type)) return std::clamp(std::nearbyint(x), type.least, type.most);
  if (x == 0 || std::isinf(x)) return x;
  const int exponent = std::max(std::ilogb(x), type.least_exponent);
  const int scale = type.precision - 1 - exponent;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, scale)), -scale);
  if (std::abs(rounded) <= type.most) return rounded;
  return type.infinities ? std::copysign(HUGE_VAL, x) : std::numeric_limits<double>::quiet_NaN();
}

double LoadPlain(const PlainType& type, const void* data, int64_t index) {
  uint64_t bits = 0;
  memcpy(&bits, static_cast<const char*>(data) + index * type.bytes, static_cast<size_t>(type.bytes));
  if (IsFloat(type)) return NumberOf(type, bits);
  const auto unsigned_value = static_cast<double>(bits);
  return unsigned_value > type.most ? unsigned_value - std::ldexp(1, 8 * type.bytes) : unsigned_value;
}

void StorePlain(const PlainType& type, double x, void* data, int64_t index) {
  const uint64_t bits = IsFloat(type) ? BitsOf(type, x) : Unwrapped(x);
  memcpy(static_cast<char*>(data) + index * type.bytes, &bits, static_cast<size_t>(type.bytes));
}

Bounds Exactly(double x) { return {x, x}; }
Bounds Anything() {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return {kNan, kNan};
}
bool IsAnything(const Bounds& bounds) { return std::isnan(bounds.low) || std::isnan(bounds.high); }
bool IsExact(const Bounds& bounds) { return bounds.low == bounds.high; }
double MagnitudeOf(const Bounds& bounds) { return std::max(std::abs(bounds.low), std::abs(bounds.high)); }

const PlainType& ComputedIn(const PlainType& type) {
  static const PlainType &f32 = PlainTypeOf("f32"), &f64 = PlainTypeOf("f64");
  return type.name == f64.name ? f64 : f32;
}
double UlpOf(const PlainType& type) { return std::ldexp(1, 1 - type.precision); }

Bounds Widened(double low, double high, double ulps, double absolute, const PlainType& type) {
  constexpr double kOwnUlps = 2;  // of double
  const double all = ulps + (type.name == "f64" ? kOwnUlps : 0), ulp = UlpOf(type);
  const double slack = all * std::ldexp(ulp, type.least_exponent) + absolute;
  const Bounds wide = {low - all * ulp * std::abs(low) - slack, high + all * ulp * std::abs(high) + slack};
  return MagnitudeOf(wide) <= type.most ? wide : Anything();  // neither is NaN within the range
}

Bounds SumOf(const std::vector<Bounds>& terms, const PlainType& type) {
  double low = 0, high = 0, magnitude = 0;
  for (const Bounds& term : terms) {
    if (IsAnything(term)) return Anything();
    low += term.low;
    high += term.high;
    magnitude += MagnitudeOf(term);
  }
  if (!(magnitude <= type.most)) return Anything();  // parts of it may be infinite
  return Widened(low, high, 1, static_cast<double>(terms.size()) * UlpOf(type) * magnitude, type);
}

Bounds IntegerSumOf(const std::vector<Bounds>& terms) {
  uint32_t sum = 0;
  double low = 0, high = 0;
  bool exact = true;
  for (const Bounds& term : terms) {
    exact &= IsExact(term);
    sum += Unwrapped(term.low);
    low += term.low;
    high += term.high;
  }
  return exact ? Exactly(Wrapped(sum)) : InRangeOfIntegers(low, high);
}

Bounds CastTo(const PlainType& type, const Bounds& x) {
  if (IsAnything(x)) return IsFloat(type) ? x : Bounds{type.least, type.most};
  // An integer, or an f64, may be made an f32 before it is what it shall be.
  const PlainType& f32 = PlainTypeOf("f32");
  const bool direct = !IsFloat(type) || type.name == "f64";
  const double low = RoundTo(type, x.low), high = RoundTo(type, x.high);
  if (direct) return {low, high};
  return {std::min(low, RoundTo(type, RoundTo(f32, x.low))),
          std::max(high, RoundTo(type, RoundTo(f32, x.high)))};
}

Bounds IntegerArithmetic(char operation, const Bounds& a, const Bounds& b) {
  const auto apply = [operation](auto x, auto y) {
    return operation == '+' ? x + y : operation == '-' ? x - y : x * y;
  };
  if (IsExact(a) && IsExact(b)) return Exactly(Wrapped(apply(Unwrapped(a.low), Unwrapped(b.low))));
  const Bounds result = AtCorners(a, b, [&](double x, double y) { return apply(x, y); });
  return InRangeOfIntegers(result.low, result.high);
}

}  // namespace kirsch::testing
