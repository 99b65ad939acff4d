// Types of blocks: a number of elements that share scales. An element is scale * (code - bias) + offset,
// rounded once to f32: its code is a few bits of the block, scale and offset follow from numbers in the
// block. Everybody who reads such elements, the references and the code generator alike, asks this file where
// those are.
//
// The layouts are ggml's (block_q8_0 and so on in its ggml-common.h, which is their definition); those of
// mxfp4 are OCP's microscaling formats, as ggml stores them. Numbers of several bytes are little-endian.
#ifndef KIRSCH_SPEC_BLOCK_H_
#define KIRSCH_SPEC_BLOCK_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "spec/check.h"
#include "spec/dtype.h"
#include "spec/element.h"

namespace kirsch {

// A few bits of a byte, and perhaps two bits more of another one, above them.
struct BlockBits {
  int byte = 0, shift = 0, bits = 0;
  int high_byte = -1, high_shift = 0;  // -1: there are none

  constexpr int all_bits() const { return bits + (high_byte >= 0 ? 2 : 0); }
};

// Vectors of elements are read no wider than this, so that the codes of each are in bytes that are
// neighbours, with the same shifts: of every type, so many elements have them so (of some,
// DtypeInfo::code_run).
inline constexpr int kBlockRun = 16;

// What elements are multiples of.
enum class BlockScale : uint8_t {
  kF16,
  kF32,
  kExponent,  // 2^(byte - 128): of mxfp4, whose codes are twice the numbers
  kNone       // of 1
};

// What codes are.
enum class BlockCodes : uint8_t {
  kUnsigned,
  kSigned,   // of 8 bits
  kFloats4,  // a sign, two bits of exponent, one of mantissa: twice the number it stands for
  kFloats8   // gemma.cpp's: see SwitchingFloat
};

struct BlockFormat {
  Dtype dtype;
  BlockScale scale;
  BlockCodes codes;
  BlockBits (*code)(int element);  // where the code of an element is
  int scale_byte = 0;
  int offset_byte = -1;       // an f16; -1: there is none
  bool takes_offset = false;  // the offset is taken off
  int bias = 0;
  int part = 0;  // elements that share a factor of the scale, and of the offset; 0: there are none
  // Where the factors of a part are. Of parts whose numbers differ only in the lowest two bits, they are in
  // bytes that are neighbours, with the same shifts.
  BlockBits (*scale_factor)(int part) = nullptr;
  BlockBits (*offset_factor)(int part) = nullptr;
  bool signed_factors = false;  // of 8 bits; of the scale
};

inline constexpr int kFactorRun = 4;

inline constexpr std::array kBlockFormats = {
    BlockFormat{.dtype = Dtype::kQ8_0,
                .scale = BlockScale::kF16,
                .codes = BlockCodes::kSigned,
                .code = [](int i) -> BlockBits { return {2 + i, 0, 8}; }},
    BlockFormat{.dtype = Dtype::kQ4_0,
                .scale = BlockScale::kF16,
                .codes = BlockCodes::kUnsigned,
                .code = [](int i) -> BlockBits { return {2 + i % 16, 4 * (i / 16), 4}; },
                .bias = 8},
    BlockFormat{.dtype = Dtype::kQ4_1,
                .scale = BlockScale::kF16,
                .codes = BlockCodes::kUnsigned,
                .code = [](int i) -> BlockBits { return {4 + i % 16, 4 * (i / 16), 4}; },
                .offset_byte = 2},
    BlockFormat{.dtype = Dtype::kQ4K,
                .scale = BlockScale::kF16,
                .codes = BlockCodes::kUnsigned,
                .code = [](int i) -> BlockBits { return {16 + i / 64 * 32 + i % 32, i / 32 % 2 * 4, 4}; },
                .offset_byte = 2,
                .takes_offset = true,
                .part = 32,
                .scale_factor = [](int part) -> BlockBits {
                  if (part < 4) return {4 + part, 0, 6};
                  return {8 + part, 0, 4, part, 6};
                },
                .offset_factor = [](int part) -> BlockBits {
                  if (part < 4) return {8 + part, 0, 6};
                  return {8 + part, 4, 4, 4 + part, 6};
                }},
    BlockFormat{.dtype = Dtype::kQ6K,
                .scale = BlockScale::kF16,
                .codes = BlockCodes::kUnsigned,
                .code = [](int i) -> BlockBits {
                  return {i / 128 * 64 + i % 64, i / 64 % 2 * 4, 4, 128 + i / 128 * 32 + i % 32,
                          i / 32 % 4 * 2};
                },
                .scale_byte = 208,
                .bias = 32,
                .part = 16,
                .scale_factor = [](int part) -> BlockBits { return {192 + part, 0, 8}; },
                .signed_factors = true},
    BlockFormat{.dtype = Dtype::kMxfp4,
                .scale = BlockScale::kExponent,
                .codes = BlockCodes::kFloats4,
                .code = [](int i) -> BlockBits { return {1 + i % 16, 4 * (i / 16), 4}; }},
    BlockFormat{.dtype = Dtype::kSfp8,
                .scale = BlockScale::kNone,
                .codes = BlockCodes::kFloats8,
                .code = [](int i) -> BlockBits { return {i, 0, 8}; }},
    BlockFormat{.dtype = Dtype::kQ8,
                .scale = BlockScale::kF32,
                .codes = BlockCodes::kSigned,
                .code = [](int i) -> BlockBits { return {4 + i, 0, 8}; }},
};

constexpr const BlockFormat& FormatOf(Dtype dtype) {
  for (const BlockFormat& format : kBlockFormats)
    if (format.dtype == dtype) return format;
  KIRSCH_BUG("no type of blocks");
}

constexpr int BitsIn(const uint8_t* block, const BlockBits& at) {
  const int low = block[at.byte] >> at.shift & ((1 << at.bits) - 1);
  return at.high_byte < 0 ? low : low | (block[at.high_byte] >> at.high_shift & 3) << at.bits;
}

// Twice the number that a code of sign, exponent and mantissa stands for: 0 to 4 by ones, then 6, 8, 12.
constexpr int TwiceFloatCode(int code) {
  const int magnitude = code & 7;
  const int twice = magnitude + std::max(magnitude - 4, 0) + 2 * std::max(magnitude - 6, 0);
  return (code & 8) != 0 ? -twice : twice;
}

// Code generators keep that number so much too large, as a byte without a sign.
inline constexpr int kFloats4Bias = 12;

inline float F16At(const uint8_t* bytes) {
  return Widen(F16{static_cast<uint16_t>(bytes[0] | bytes[1] << 8)});
}

// gemma.cpp's floats of 8 bits: a sign, then, by the next bit, an exponent of 2^-7 to 1 and three bits of
// mantissa (1), or one of 2^-23 to 2^-8 and two bits; but 0 is 0. Each is a number of bf16's.
inline float SwitchingFloat(uint8_t code) {
  const uint32_t magnitude = code & 0x7fu, sign = (code & 0x80u) << 24;
  const uint32_t bits = magnitude == 0   ? 0
                        : magnitude < 64 ? 0x34000000u + (magnitude << 21)
                                         : 0x38000000u + (magnitude << 20);
  return std::bit_cast<float>(sign | bits);
}

inline float F32At(const uint8_t* bytes) {
  return std::bit_cast<float>(static_cast<uint32_t>(bytes[0] | bytes[1] << 8 | bytes[2] << 16) |
                              static_cast<uint32_t>(bytes[3]) << 24);
}

// Element number `element` of a block, in 0 .. BlockOf(dtype) - 1. A scale that is no number makes elements
// that are none; one that is infinite, infinite ones, and NaN of 0.
inline float DecodeElement(Dtype dtype, const uint8_t* block, int element) {
  const BlockFormat& format = FormatOf(dtype);
  int code = BitsIn(block, format.code(element)) - format.bias;
  if (format.codes == BlockCodes::kSigned) code = static_cast<int8_t>(code);
  if (format.codes == BlockCodes::kFloats8) return SwitchingFloat(static_cast<uint8_t>(code));
  if (format.codes == BlockCodes::kFloats4)
    return std::ldexp(static_cast<float>(TwiceFloatCode(code)), block[format.scale_byte] - 128);
  float scale =
      format.scale == BlockScale::kF32 ? F32At(block + format.scale_byte) : F16At(block + format.scale_byte);
  float offset = format.offset_byte < 0 ? 0 : F16At(block + format.offset_byte);
  if (format.part != 0) {
    const int part = element / format.part;
    const int factor = BitsIn(block, format.scale_factor(part));
    scale *= static_cast<float>(format.signed_factors ? static_cast<int8_t>(factor) : factor);
    if (format.offset_byte >= 0) offset *= static_cast<float>(BitsIn(block, format.offset_factor(part)));
  }
  const float product = scale * static_cast<float>(code);
  if (format.offset_byte < 0) return product;
  return std::fma(scale, static_cast<float>(code), format.takes_offset ? -offset : offset);
}

// The scale of what a block of numbers whose largest magnitude is `largest` is rounded to, so that codes are
// of 8 bits. What is next to nothing beside everything else has one that codes can still be divided by.
inline constexpr int kLargestQ8Code = 127;
inline constexpr float kLeastQ8Magnitude = 0x1p-100f;

// Rounds a block of type q8: element i is the nearest multiple of a 127th of the largest magnitude, of which
// there are no more than 127. Where one of them is no number, or infinite, none is a number.
inline void EncodeQ8(const float* elements, uint8_t* block) {
  const int count = BlockOf(Dtype::kQ8);
  float largest = kLeastQ8Magnitude, poison = 0;
  for (int i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(elements[i]));
    poison += elements[i] * 0;
  }
  const float scale = (largest + poison) / kLargestQ8Code, per_scale = kLargestQ8Code / largest;
  std::memcpy(block, &scale, sizeof(scale));
  for (int i = 0; i < count; ++i) {
    const float code = std::nearbyint(elements[i] * per_scale);
    block[4 + i] = static_cast<uint8_t>(std::abs(code) <= kLargestQ8Code ? static_cast<int>(code) : 0);
  }
}

// Element number `index` of an array of blocks.
inline float BlockElement(Dtype dtype, const void* data, int64_t index) {
  const int64_t block = BlockOf(dtype);
  return DecodeElement(dtype, static_cast<const uint8_t*>(data) + index / block * Bytes(dtype),
                       static_cast<int>(index % block));
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_BLOCK_H_
