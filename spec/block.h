// Types of blocks: a number of elements that share scales. An element is scale * (code - bias) + offset,
// rounded once to f32: its code is a few bits of the block, scale and offset follow from numbers in the
// block. Everybody who reads such elements, the references and the code generator alike, asks this file where
// those are.
//
// The layouts are ggml's (block_q8_0 and so on in its ggml-common.h, which is their definition); those of
// mxfp4 are OCP's microscaling formats, as ggml stores them. Numbers of several bytes are little-endian.
#ifndef KIRSCH_SPEC_BLOCK_H_
#define KIRSCH_SPEC_BLOCK_H_

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

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

// Elements that are neighbours have codes in bytes that are neighbours, with the same shifts, as far as they
// are in the same run of so many.
inline constexpr int kBlockRun = 16;

enum class BlockScale : uint8_t {
  kF16,       // an f16
  kExponent,  // 2^(byte - 128): of mxfp4, whose codes are twice the numbers
};

struct BlockFormat {
  Dtype dtype;
  BlockScale scale;
  int scale_byte;
  int offset_byte = -1;       // an f16; -1: there is none
  bool takes_offset = false;  // the offset is taken off
  int bias = 0;
  bool signed_codes = false;  // of 8 bits
  bool float_codes = false;   // a sign, two bits of exponent, one of mantissa: twice the number it stands for
  int part = 0;  // elements that share a factor of the scale, and of the offset; 0: there are none
};

inline constexpr std::array kBlockFormats = {
    BlockFormat{.dtype = Dtype::kQ8_0, .scale = BlockScale::kF16, .scale_byte = 0, .signed_codes = true},
    BlockFormat{.dtype = Dtype::kQ4_0, .scale = BlockScale::kF16, .scale_byte = 0, .bias = 8},
    BlockFormat{.dtype = Dtype::kQ4_1, .scale = BlockScale::kF16, .scale_byte = 0, .offset_byte = 2},
    BlockFormat{.dtype = Dtype::kQ4K,
                .scale = BlockScale::kF16,
                .scale_byte = 0,
                .offset_byte = 2,
                .takes_offset = true,
                .part = 32},
    BlockFormat{.dtype = Dtype::kQ6K, .scale = BlockScale::kF16, .scale_byte = 208, .bias = 32, .part = 16},
    BlockFormat{.dtype = Dtype::kMxfp4, .scale = BlockScale::kExponent, .scale_byte = 0, .float_codes = true},
};

constexpr const BlockFormat& FormatOf(Dtype dtype) {
  for (const BlockFormat& format : kBlockFormats)
    if (format.dtype == dtype) return format;
  KIRSCH_BUG("no type of blocks");
}

// Where the code of an element is.
constexpr BlockBits CodeOf(Dtype dtype, int element) {
  const int i = element;
  switch (dtype) {
    case Dtype::kQ8_0:
      return {2 + i, 0, 8};
    case Dtype::kQ4_0:
      return {2 + i % 16, 4 * (i / 16), 4};
    case Dtype::kQ4_1:
      return {4 + i % 16, 4 * (i / 16), 4};
    case Dtype::kMxfp4:
      return {1 + i % 16, 4 * (i / 16), 4};
    case Dtype::kQ4K:
      return {16 + i / 64 * 32 + i % 32, i / 32 % 2 * 4, 4};
    case Dtype::kQ6K:
      return {i / 128 * 64 + i % 64, i / 64 % 2 * 4, 4, 128 + i / 128 * 32 + i % 32, i / 32 % 4 * 2};
    default:
      KIRSCH_BUG("no type of blocks");
  }
}

// Where the factor of the scale is that a part's elements share. Of q6_k it has a sign.
constexpr BlockBits ScaleFactorOf(Dtype dtype, int part) {
  constexpr int kScales = 4, kSignedScales = 192;
  if (dtype == Dtype::kQ6K) return {kSignedScales + part, 0, 8};
  if (part < 4) return {kScales + part, 0, 6};
  return {kScales + part + 4, 0, 4, kScales + part - 4, 6};
}
constexpr bool HasSignedFactors(Dtype dtype) { return dtype == Dtype::kQ6K; }

// And that of the offset.
constexpr BlockBits OffsetFactorOf(Dtype, int part) {
  constexpr int kScales = 4;
  if (part < 4) return {kScales + 4 + part, 0, 6};
  return {kScales + part + 4, 4, 4, kScales + part, 6};
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

inline float F16At(const uint8_t* bytes) {
  return Widen(F16{static_cast<uint16_t>(bytes[0] | bytes[1] << 8)});
}

// Element number `element` of a block, in 0 .. BlockOf(dtype) - 1. A scale that is no number makes elements
// that are none; one that is infinite, infinite ones, and NaN of 0.
inline float DecodeElement(Dtype dtype, const uint8_t* block, int element) {
  const BlockFormat& format = FormatOf(dtype);
  int code = BitsIn(block, CodeOf(dtype, element)) - format.bias;
  if (format.signed_codes) code = static_cast<int8_t>(code);
  if (format.float_codes)
    return std::ldexp(static_cast<float>(TwiceFloatCode(code)), block[format.scale_byte] - 128);
  float scale = F16At(block + format.scale_byte);
  float offset = format.offset_byte < 0 ? 0 : F16At(block + format.offset_byte);
  if (format.part != 0) {
    const int part = element / format.part;
    const int factor = BitsIn(block, ScaleFactorOf(dtype, part));
    scale *= static_cast<float>(HasSignedFactors(dtype) ? static_cast<int8_t>(factor) : factor);
    if (format.offset_byte >= 0) offset *= static_cast<float>(BitsIn(block, OffsetFactorOf(dtype, part)));
  }
  const float product = scale * static_cast<float>(code);
  if (format.offset_byte < 0) return product;
  return std::fma(scale, static_cast<float>(code), format.takes_offset ? -offset : offset);
}

// Element number `index` of an array of blocks.
inline float BlockElement(Dtype dtype, const void* data, int64_t index) {
  const int64_t block = BlockOf(dtype);
  return DecodeElement(dtype, static_cast<const uint8_t*>(data) + index / block * Bytes(dtype),
                       static_cast<int>(index % block));
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_BLOCK_H_
