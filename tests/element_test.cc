// Elements and numbers: exhaustively over all bit patterns of 16 bits, against the formats' definitions.
#include "spec/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace kirsch {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

uint16_t Bits(uint32_t bits) { return static_cast<uint16_t>(bits); }
float FloatOf(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t BitsOf(float x) { return std::bit_cast<uint32_t>(x); }

// What a 16-bit float with so many bits of exponent means, by definition.
double Meaning(uint32_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>((bits & 0x7fff) >> mantissa_bits);
  const double fraction = static_cast<double>(bits & ((1u << mantissa_bits) - 1)) / (1 << mantissa_bits);
  const double sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction == 0 ? sign * kInfinity : std::numeric_limits<double>::quiet_NaN();
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
}

struct Format {
  int exponent_bits;
  float (*widen)(uint16_t bits);
  uint16_t (*narrow)(float x);
};

class EveryFormat : public ::testing::TestWithParam<Format> {
 protected:
  double Meaning(uint32_t bits) const { return kirsch::Meaning(bits, GetParam().exponent_bits); }
  // The bit patterns of infinity, and of the largest finite number.
  uint32_t Infinity() const { return 0x8000u - (1u << (15 - GetParam().exponent_bits)); }
};
INSTANTIATE_TEST_SUITE_P(, EveryFormat,
                         ::testing::Values(Format{8, [](uint16_t bits) { return Widen(Bf16{bits}); },
                                                  [](float x) { return ToBf16(x).bits; }},
                                           Format{5, [](uint16_t bits) { return Widen(F16{bits}); },
                                                  [](float x) { return ToF16(x).bits; }}),
                         [](const auto& info) { return info.param.exponent_bits == 8 ? "Bf16" : "F16"; });

TEST_P(EveryFormat, WidensEveryBitPattern) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float got = GetParam().widen(Bits(bits));
    const double expected = Meaning(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(got, expected) << bits;
    }
    ASSERT_EQ(std::signbit(got), bits >> 15 != 0) << bits;
  }
}

TEST_P(EveryFormat, NarrowsBackEveryBitPattern) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint16_t got = GetParam().narrow(GetParam().widen(Bits(bits)));
    if (std::isnan(Meaning(bits))) {
      ASSERT_TRUE(std::isnan(Meaning(got))) << bits;
      ASSERT_EQ(got >> 15, bits >> 15);
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
      const uint32_t top = sign >> 16;
      ASSERT_EQ(GetParam().narrow(FloatOf(sign | BitsOf(middle))), top | even) << bits;
      ASSERT_EQ(GetParam().narrow(FloatOf(sign | (BitsOf(middle) - 1))), top | bits) << bits;
      ASSERT_EQ(GetParam().narrow(FloatOf(sign | (BitsOf(middle) + 1))), top | (bits + 1)) << bits;
    }
  }
}

TEST_P(EveryFormat, NarrowsWhatIsBeyondAnyNumber) {
  EXPECT_EQ(GetParam().narrow(kInfinity), Infinity());
  EXPECT_EQ(GetParam().narrow(-kInfinity), 0x8000u | Infinity());
  EXPECT_EQ(GetParam().narrow(std::numeric_limits<float>::max()), Infinity());
  for (uint32_t nan : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu})
    EXPECT_TRUE(std::isnan(Meaning(GetParam().narrow(FloatOf(nan))))) << nan;
  EXPECT_EQ(GetParam().narrow(std::numeric_limits<float>::denorm_min()), 0);
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
