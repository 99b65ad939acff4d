// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/plain_block.h"

#include <algorithm>
#include <cmath>

#include "spec/check.h"
#include "tests/testing/plain_number.h"

namespace kirsch::testing {
namespace {

// Numbers of few bits, so that products of them are exact.
double ScaleOf(int64_t block, int exponent) {
  return std::ldexp(block % 3 == 1 ? -1 : 1, exponent) * (8 + static_cast<double>(block % 7));
}
double OffsetOf(int64_t block, int exponent) { return ScaleOf(block + 1, exponent); }
int FactorOf(int64_t block, int part) { return static_cast<int>((5 * block + 17 * part) % 63) + 1; }
int OffsetFactorOf(int64_t block, int part) { return static_cast<int>((3 * block + 11 * part) % 64); }
int SignedFactorOf(int64_t block, int part) {
  const int factor = static_cast<int>((11 * block + 37 * part) % 256) - 128;
  return factor == 0 ? 1 : factor;
}

void PutF16(double x, uint8_t* bytes) { StorePlain(PlainTypeOf("f16"), x, bytes, 0); }

// Of the types whose first 16 elements are the lower halves of bytes, the others the upper ones.
template <int first>
void PutHalf(int element, int code, uint8_t* bytes) {
  bytes[first + element % 16] |= static_cast<uint8_t>(code << (element / 16 * 4));
}

// Factors of 6 bits in 12 bytes: the first four of each kind in the lower bits of bytes, whose upper ones are
// those of the others.
void PutFactorsOfQ4K(int64_t block, uint8_t* bytes) {
  for (int part = 0; part < 4; ++part) {
    const int scale = FactorOf(block, part + 4), offset = OffsetFactorOf(block, part + 4);
    bytes[part] = static_cast<uint8_t>(FactorOf(block, part) | scale >> 4 << 6);
    bytes[part + 4] = static_cast<uint8_t>(OffsetFactorOf(block, part) | offset >> 4 << 6);
    bytes[part + 8] = static_cast<uint8_t>((scale & 15) | (offset & 15) << 4);
  }
}

// By 128 elements: the lower 4 bits of 64 each in halves of 64 bytes, the upper 2 bits in quarters of 32.
void PutCodeOfQ6K(int element, int code, uint8_t* bytes) {
  const int half = element / 128, quarter = element % 128 / 32, place = element % 32;
  bytes[64 * half + 32 * (quarter % 2) + place] |= static_cast<uint8_t>((code & 15) << (quarter / 2 * 4));
  bytes[128 + 32 * half + place] |= static_cast<uint8_t>(code >> 4 << (2 * quarter));
}

double FloatOf4Bits(int code) {
  constexpr double kMagnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code < 8 ? kMagnitudes[code] : -kMagnitudes[code - 8];
}

double SwitchingFloatOf(int code) {
  const int bits = code % 128;
  const double magnitude = bits == 0   ? 0
                           : bits < 64 ? std::ldexp(4 + bits % 4, bits / 4 - 23 - 2)
                                       : std::ldexp(8 + bits % 8, bits / 8 - 15 - 3);
  return code < 128 ? magnitude : -magnitude;
}

}  // namespace

const std::vector<PlainBlockType>& PlainBlockTypes() {
  static const std::vector<PlainBlockType> types = {
      {"q8_0", 32, 34, 256, true,
       [](int64_t block, int, int code) { return ScaleOf(block, -9) * (code - 128); },
       [](int64_t block, uint8_t* bytes) { PutF16(ScaleOf(block, -9), bytes); },
       [](int i, int code, uint8_t* bytes) { bytes[2 + i] = static_cast<uint8_t>(code - 128); }},
      {"q4_0", 32, 18, 16, true, [](int64_t block, int, int code) { return ScaleOf(block, -5) * (code - 8); },
       [](int64_t block, uint8_t* bytes) { PutF16(ScaleOf(block, -5), bytes); }, PutHalf<2>},
      {"q4_1", 32, 20, 16, true,
       [](int64_t block, int, int code) { return ScaleOf(block, -5) * code + OffsetOf(block, -3); },
       [](int64_t block, uint8_t* bytes) {
         PutF16(ScaleOf(block, -5), bytes);
         PutF16(OffsetOf(block, -3), bytes + 2);
       },
       PutHalf<4>},
      {"q4_k", 256, 144, 16, true,
       [](int64_t block, int i, int code) {
         return ScaleOf(block, -12) * FactorOf(block, i / 32) * code -
                OffsetOf(block, -9) * OffsetFactorOf(block, i / 32);
       },
       [](int64_t block, uint8_t* bytes) {
         PutF16(ScaleOf(block, -12), bytes);
         PutF16(OffsetOf(block, -9), bytes + 2);
         PutFactorsOfQ4K(block, bytes + 4);
       },
       [](int i, int code, uint8_t* bytes) {
         bytes[16 + i / 64 * 32 + i % 32] |= static_cast<uint8_t>(code << (i / 32 % 2 * 4));
       }},
      {"q6_k", 256, 210, 64, true,
       [](int64_t block, int i, int code) {
         return ScaleOf(block, -13) * SignedFactorOf(block, i / 16) * (code - 32);
       },
       [](int64_t block, uint8_t* bytes) {
         for (int part = 0; part < 16; ++part)
           bytes[192 + part] = static_cast<uint8_t>(SignedFactorOf(block, part));
         PutF16(ScaleOf(block, -13), bytes + 208);
       },
       PutCodeOfQ6K},
      {"mxfp4", 32, 17, 16, true,
       [](int64_t block, int, int code) {
         return std::ldexp(FloatOf4Bits(code), static_cast<int>(block % 5) - 3);
       },
       [](int64_t block, uint8_t* bytes) { bytes[0] = static_cast<uint8_t>(127 + block % 5 - 3); },
       PutHalf<1>},
      {"sfp8", 32, 32, 256, false, [](int64_t, int, int code) { return SwitchingFloatOf(code); },
       [](int64_t, uint8_t*) {},
       [](int i, int code, uint8_t* bytes) { bytes[i] = static_cast<uint8_t>(code); }},
  };
  return types;
}

const PlainBlockType* FindPlainBlockType(std::string_view name) {
  for (const PlainBlockType& type : PlainBlockTypes())
    if (type.name == name) return &type;
  return nullptr;
}

std::vector<double> RandomBlocks(const PlainBlockType& type, int64_t elements, std::mt19937& random) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < elements; ++i)
    numbers.push_back(type.number(i / type.elements, static_cast<int>(i % type.elements),
                                  static_cast<int>(random() % static_cast<uint32_t>(type.codes))));
  return numbers;
}

void StoreBlocks(const PlainBlockType& type, const std::vector<double>& elements, void* data) {
  uint8_t* bytes = static_cast<uint8_t*>(data);
  for (size_t at = 0; at < elements.size(); bytes += type.bytes) {
    const auto block = static_cast<int64_t>(at) / type.elements;
    std::fill_n(bytes, type.bytes, uint8_t{0});
    type.put_scales(block, bytes);
    for (int i = 0; i < type.elements; ++i, ++at) {
      int code = 0;
      while (code < type.codes && type.number(block, i, code) != elements[at]) ++code;
      KIRSCH_CHECK(code < type.codes);
      type.put_code(i, code, bytes);
    }
  }
}

}  // namespace kirsch::testing
