// SPDX-License-Identifier: Apache-2.0
// Elements and numbers: exhaustively over all bit patterns of narrow floats, against the formats'
// definitions.
#include "spec/element.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/element_array.h"

namespace kirsch {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float FloatOf(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t BitsOf(float x) { return std::bit_cast<uint32_t>(x); }

struct Format {
  std::string_view name;
  int bits, exponent_bits;
  bool infinities;  // else the largest exponent is of numbers, but for NaN, which is all ones
  float (*widen)(uint32_t bits);
  uint32_t (*narrow)(float x);

  uint32_t sign_bit() const { return 1u << (bits - 1); }
};

// What a float of the format means, by definition.
double Meaning(uint32_t bits, const Format& format) {
  const int exponent_bits = format.exponent_bits, mantissa_bits = format.bits - 1 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t magnitude = bits & (format.sign_bit() - 1);
  const int exponent = static_cast<int>(magnitude >> mantissa_bits);
  const double fraction = static_cast<double>(bits & ((1u << mantissa_bits) - 1)) / (1 << mantissa_bits);
  const double sign = bits != magnitude ? -1 : 1;
  if (format.infinities && exponent == (1 << exponent_bits) - 1)
    return fraction == 0 ? sign * kInfinity : std::numeric_limits<double>::quiet_NaN();
  if (!format.infinities && magnitude == format.sign_bit() - 1)
    return std::numeric_limits<double>::quiet_NaN();
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
}

template <Dtype kDtype>
Format FormatOf(std::string_view name, int bits, int exponent_bits, bool infinities) {
  using Element = NarrowFloat<kDtype>;
  return {name,
          bits,
          exponent_bits,
          infinities,
          [](uint32_t x) { return Widen(Element{static_cast<decltype(Element::bits)>(x)}); },
          [](float x) -> uint32_t { return ToNarrow<kDtype>(x).bits; }};
}

class EveryFormat : public ::testing::TestWithParam<Format> {
 protected:
  double Meaning(uint32_t bits) const { return kirsch::Meaning(bits, GetParam()); }
  uint32_t Patterns() const { return 2 * GetParam().sign_bit(); }
  // The bit pattern of infinity, or of NaN if there is none.
  uint32_t Infinity() const {
    const Format& format = GetParam();
    return format.sign_bit() - (format.infinities ? 1u << (format.bits - 1 - format.exponent_bits) : 1u);
  }
};

// Those that are defined here, and others as their rows say.
template <size_t... kIndices>
std::vector<Format> Formats(std::index_sequence<kIndices...>) {
  std::vector<Format> formats = {
      FormatOf<Dtype::kBf16>("bf16", 16, 8, true), FormatOf<Dtype::kF16>("f16", 16, 5, true),
      FormatOf<Dtype::kF8E4M3>("f8_e4m3", 8, 4, false), FormatOf<Dtype::kF8E5M2>("f8_e5m2", 8, 5, true)};
  const auto add = [&]<size_t kIndex>(std::integral_constant<size_t, kIndex>) {
    constexpr DtypeInfo kInfo = kDtypes[kIndex];
    if constexpr (kInfo.exponent > 0 && kInfo.block == 1 && IsNarrow(kInfo.dtype))
      if (std::none_of(formats.begin(), formats.end(),
                       [&](const Format& format) { return format.name == kInfo.name; }))
        formats.push_back(
            FormatOf<kInfo.dtype>(kInfo.name, 8 * kInfo.bytes, kInfo.exponent, kInfo.infinities));
  };
  (add(std::integral_constant<size_t, kIndices>()), ...);
  return formats;
}
INSTANTIATE_TEST_SUITE_P(, EveryFormat,
                         ::testing::ValuesIn(Formats(std::make_index_sequence<kDtypes.size()>())),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(EveryFormat, WidensEveryBitPattern) {
  for (uint32_t bits = 0; bits < Patterns(); ++bits) {
    const float got = GetParam().widen(bits);
    const double expected = Meaning(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(got, expected) << bits;
    }
    ASSERT_EQ(std::signbit(got), bits >= GetParam().sign_bit()) << bits;
  }
}

TEST_P(EveryFormat, NarrowsBackEveryBitPattern) {
  for (uint32_t bits = 0; bits < Patterns(); ++bits) {
    const uint32_t got = GetParam().narrow(GetParam().widen(bits));
    if (std::isnan(Meaning(bits))) {
      ASSERT_TRUE(std::isnan(Meaning(got))) << bits;
      ASSERT_EQ(got & GetParam().sign_bit(), bits & GetParam().sign_bit());
    } else {
      ASSERT_EQ(got, bits);
    }
  }
}

// Between any two neighbours: just below the middle, the middle, and just above it. Beyond the largest, too,
// where infinity stands for the next power of two.
TEST_P(EveryFormat, RoundsToNearestTiesToEven) {
  for (uint32_t bits = 0; bits < Infinity(); ++bits) {
    const double low = Meaning(bits);
    const double high = bits + 1 == Infinity() ? 2 * low - Meaning(bits - 1) : Meaning(bits + 1);
    const auto middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(middle, (low + high) / 2);
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    for (uint32_t sign : {0u, 0x80000000u}) {
      const uint32_t top = sign != 0 ? GetParam().sign_bit() : 0;
      ASSERT_EQ(GetParam().narrow(FloatOf(sign | BitsOf(middle))), top | even) << bits;
      ASSERT_EQ(GetParam().narrow(FloatOf(sign | (BitsOf(middle) - 1))), top | bits) << bits;
      ASSERT_EQ(GetParam().narrow(FloatOf(sign | (BitsOf(middle) + 1))), top | (bits + 1)) << bits;
    }
  }
}

TEST_P(EveryFormat, NarrowsWhatIsBeyondAnyNumber) {
  EXPECT_EQ(GetParam().narrow(kInfinity), Infinity());
  EXPECT_EQ(GetParam().narrow(-kInfinity), GetParam().sign_bit() | Infinity());
  EXPECT_EQ(GetParam().narrow(std::numeric_limits<float>::max()), Infinity());
  for (uint32_t nan : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu})
    EXPECT_TRUE(std::isnan(Meaning(GetParam().narrow(FloatOf(nan))))) << nan;
  EXPECT_EQ(GetParam().narrow(std::numeric_limits<float>::denorm_min()), 0);
}

// Of the OCP's specification of 8-bit floats, table 1.
TEST(NarrowTest, EightBitFloatsAreThoseOfTheSpecification) {
  const auto e4m3 = [](uint8_t bits) { return Widen(NarrowFloat<Dtype::kF8E4M3>{bits}); };
  const auto e5m2 = [](uint8_t bits) { return Widen(NarrowFloat<Dtype::kF8E5M2>{bits}); };
  EXPECT_EQ(e4m3(0x7e), 448);
  EXPECT_EQ(e4m3(0x08), 0x1p-6f);
  EXPECT_EQ(e4m3(0x07), 0.875f * 0x1p-6f);
  EXPECT_EQ(e4m3(0x01), 0x1p-9f);
  EXPECT_TRUE(std::isnan(e4m3(0x7f)) && std::isnan(e4m3(0xff)));
  EXPECT_EQ(e5m2(0x7b), 57344);
  EXPECT_EQ(e5m2(0x04), 0x1p-14f);
  EXPECT_EQ(e5m2(0x03), 0.75f * 0x1p-14f);
  EXPECT_EQ(e5m2(0x01), 0x1p-16f);
  EXPECT_EQ(e5m2(0xfc), -kInfinity);
  for (uint8_t bits : {0x7d, 0x7e, 0x7f}) EXPECT_TRUE(std::isnan(e5m2(bits)));
}

// As the compiler rounds, from numbers of all 53 bits: halfway, beside that, subnormal and too large.
TEST(RoundedTo, IsTheNearestF16) {
  std::mt19937_64 random(1);
  const auto expect = [](double x) {
    const auto expected = static_cast<double>(static_cast<_Float16>(x));
    ASSERT_EQ(RoundedTo(Dtype::kF16Sums, x), expected) << x;
    ASSERT_EQ(std::signbit(RoundedTo(Dtype::kF16Sums, x)), std::signbit(expected)) << x;
  };
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double low = Widen(F16{static_cast<uint16_t>(bits)}),
                 high = bits == 0x7bff ? 65536 : Widen(F16{static_cast<uint16_t>(bits + 1)}),
                 middle = (low + high) / 2;
    for (double x : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      expect(x);
      expect(-x);
    }
  }
  for (int i = 0; i < 100'000; ++i)
    expect(std::ldexp(std::uniform_real_distribution<double>(-2, 2)(random),
                      static_cast<int>(random() % 60) - 40));
  expect(HUGE_VAL);
  expect(1e300);
  EXPECT_TRUE(std::isnan(RoundedTo(Dtype::kF16Sums, std::nan(""))));
}

TEST(NarrowTest, IntegersAreSaturated) {
  EXPECT_EQ(Narrow<int16_t>(32767), 32767);
  EXPECT_EQ(Narrow<int16_t>(32768), 32767);
  EXPECT_EQ(Narrow<int16_t>(INT32_MIN), -32768);
  EXPECT_EQ(Narrow<uint8_t>(-1), 0);
  EXPECT_EQ(Narrow<uint8_t>(256), 255);
  EXPECT_EQ(Narrow<int8_t>(-129), -128);
  EXPECT_EQ(Narrow<int32_t>(INT32_MIN), INT32_MIN);
}

TEST(ElementTest, LoadsWhatWasStored) {
  for (const DtypeInfo& info : kDtypes) {
    if (IsOfBlocks(info.dtype)) continue;  // nothing stores them
    std::vector<char> data(static_cast<size_t>(4 * info.bytes));
    for (int64_t i = 0; i < 4; ++i)
      StoreElement(info.dtype, static_cast<double>(i) + (info.has_sign ? -2 : 2), data.data(), i);
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_EQ(LoadElement(info.dtype, data.data(), i), static_cast<double>(i) + (info.has_sign ? -2 : 2))
          << info.name;
    std::vector<double> run(2);
    LoadRun(info.dtype, data.data(), 1, 2, 2, run.data());
    EXPECT_EQ(run[1] - run[0], 2) << info.name;
  }
}

}  // namespace
}  // namespace kirsch
