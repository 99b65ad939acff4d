// SPDX-License-Identifier: Apache-2.0
// Says where types of blocks keep their elements. A block is a number of elements that share scales.
//
// An element is scale * (code - bias) + offset, rounded once to f32. Its code is a few bits of the block;
// scale and offset follow from numbers in the block. The references and the code generator alike ask this
// file where those are, so that a type is described once. An example, q4_0 (32 elements in 18 bytes, bias 8):
//
//   byte     0   1   2            3            ...   17
//            scale   e16 | e0     e17 | e1           e31 | e15       each e is 4 bits, the lower half last
//   element 17 = f16 scale * (upper 4 bits of byte 3 - 8)
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

// The place of a code or a factor in a block: a few bits of a byte, and perhaps two bits more of another
// byte, above them.
struct BlockBits {
  int byte = 0, shift = 0, bits = 0;
  int high_byte = -1, high_shift = 0;  // -1: there are none

  constexpr int all_bits() const { return bits + (high_byte >= 0 ? 2 : 0); }
};

// The widest vector of elements that is read at once, in elements. In every type, so many neighbours have
// their codes in neighbouring bytes, with the same shifts; some types have longer runs (DtypeInfo::code_run).
// In types of panels, the words of four codes may be apart.
inline constexpr int kBlockRun = 16;

// The number that codes are multiplied by.
enum class BlockScale : uint8_t {
  kF16,
  kF32,       // one for each part, unless parts have factors
  kExponent,  // 2^(byte - 128): of mxfp4, whose codes are twice the numbers
  kNone       // of 1
};

// How the bits of a code stand for a number.
enum class BlockCodes : uint8_t {
  kUnsigned,
  kSigned,   // of 8 bits
  kFloats4,  // a sign, two bits of exponent, one of mantissa: twice the number it stands for
  kFloats8   // gemma.cpp's: see SwitchingFloat
};

// How a type of blocks lies: a row of kBlockFormats. Bytes are counted from the beginning of the block.
struct BlockFormat {
  Dtype dtype;
  BlockScale scale;
  BlockCodes codes;
  BlockBits (*code)(int element);  // where the code of an element is
  int scale_byte = 0;
  int scale_step = kWordBytes;  // from the scale of a part to that of the next, where each has its own
  int offset_byte = -1;         // an f16, or an f32 as the scale is; -1: there is none
  bool takes_offset = false;    // the offset is taken off
  int bias = 0;
  int part = 0;  // elements that share a factor of the scale, and of the offset; 0: there are none
  // Where the factors of a part are, if there are any. Four parts whose numbers differ only in the lowest two
  // bits have them in neighbouring bytes, with the same shifts.
  BlockBits (*scale_factor)(int part) = nullptr;
  BlockBits (*offset_factor)(int part) = nullptr;
  bool signed_factors = false;  // of 8 bits; of the scale
};

// So many neighbouring parts have their factors in neighbouring bytes.
inline constexpr int kFactorRun = 4;

// The layout of a block of type q8, which holds 32 elements of lhs, rounded:
//
//   byte   0       4            8             12             16, 20                  24 ... 55
//          scale   scaled sum   panel start   nibble start   starts of both halves   32 codes, s8
//
// `scaled sum` is the scale times the sum of the codes: an offset of rhs is multiplied by it. The starts are
// s32. A sum of products of integers begins with one, since codes of rhs are kept too large by a bias. The
// start takes off what that adds: minus the bias times the sum of the codes. There is one for each bias:
// kPanelBias, kNibbleBias, and for each half of the block kLongBias.
// A block of type q8_long is of 256 elements: eight scales, each of 32 elements; eight scaled sums; for each
// of the eight, eight s32 whose sum is its start for kLongBias; 256 codes. Of these eight s32, the first has
// the start of the first half, the fifth that of the second half; the others are 0.
inline constexpr int kQ8ScaledSum = 4, kQ8Start = 8, kQ8NibbleStart = 12, kQ8HalfStarts = 16, kQ8Codes = 24;
inline constexpr int kPanelBias = 128, kNibbleBias = 8, kLongBias = 32;
// Where a block of type q8_long has its scaled sums, starts and codes.
inline constexpr int kQ8SuperScaledSums = 32, kQ8SuperStarts = 64, kQ8SuperCodes = 320;
inline constexpr int kQ8SuperStartBytes = 32;

// Where a part of 32 elements of a block of p4_long has its codes:
//
//   byte   0        16                    28             92                     100            148
//          part 0   factors 0-3, scale,   parts 1 to 4   factors of parts 4-7   parts 5 to 7
//                   offset, factors 0-3
//
// The codes of part 0 are followed by the scale, the offset and the factors of four parts, those of part 4 by
// the other factors.
constexpr int P4LongCodes(int part) { return 16 * part + (part > 0 ? 12 : 0) + (part > 4 ? 8 : 0); }
// Where a quarter (64 elements) of a block of p6_long begins. It has words of lower and of higher bits of
// codes by turns, the factors of its four parts, in the first quarter the scale, and lower bits of more
// codes.
constexpr int P6LongQuarter(int quarter) { return 52 * quarter + (quarter > 0 ? 2 : 0); }

// A row for each type of blocks. Types of panels lie as they are read, so that memory is read in ascending
// order: codes, then the numbers of their part. Else hardware prefetchers lose track of them
// (bench/lab/2026-11-26.md).
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
                .code = [](int i) -> BlockBits { return {kQ8Codes + i, 0, 8}; }},
    BlockFormat{.dtype = Dtype::kPanel8,
                .scale = BlockScale::kF32,
                .codes = BlockCodes::kUnsigned,
                .code = [](int i) -> BlockBits { return {i, 0, 8}; },
                .scale_byte = 32,
                .bias = kPanelBias},
    BlockFormat{.dtype = Dtype::kPanel8Offset,
                .scale = BlockScale::kF32,
                .codes = BlockCodes::kUnsigned,
                .code = [](int i) -> BlockBits { return {i, 0, 8}; },
                .scale_byte = 32,
                .offset_byte = 36},
    BlockFormat{.dtype = Dtype::kPanel8Halves,
                .scale = BlockScale::kF32,
                .codes = BlockCodes::kUnsigned,
                .code = [](int i) -> BlockBits { return {i / 16 * 20 + i % 16, 0, 8}; },
                .scale_byte = 16,
                .scale_step = 20,
                .bias = kLongBias,
                .part = 16},
    BlockFormat{.dtype = Dtype::kQ8Super,
                .scale = BlockScale::kF32,
                .codes = BlockCodes::kSigned,
                .code = [](int i) -> BlockBits { return {kQ8SuperCodes + i, 0, 8}; },
                .part = 32},
    BlockFormat{.dtype = Dtype::kPanel4,
                .scale = BlockScale::kF16,
                .codes = BlockCodes::kUnsigned,
                .code = [](int i) -> BlockBits { return {i % 16, 4 * (i / 16), 4}; },
                .scale_byte = 16,
                .bias = kNibbleBias},
    BlockFormat{.dtype = Dtype::kPanel4Offset,
                .scale = BlockScale::kF16,
                .codes = BlockCodes::kUnsigned,
                .code = [](int i) -> BlockBits { return {i % 16, 4 * (i / 16), 4}; },
                .scale_byte = 16,
                .offset_byte = 18},
    BlockFormat{
        .dtype = Dtype::kPanel4Super,
        .scale = BlockScale::kF16,
        .codes = BlockCodes::kUnsigned,
        .code = [](int i) -> BlockBits { return {P4LongCodes(i / 32) + i % 16, i / 16 % 2 * 4, 4}; },
        .scale_byte = 20,
        .offset_byte = 22,
        .part = 32,
        .scale_factor = [](int part) -> BlockBits { return {part < 4 ? 16 + part : 88 + part, 0, 8}; },
        .offset_factor = [](int part) -> BlockBits { return {part < 4 ? 24 + part : 92 + part, 0, 8}; }},
    BlockFormat{
        .dtype = Dtype::kPanel6Super,
        .scale = BlockScale::kF16,
        .codes = BlockCodes::kUnsigned,
        .code = [](int i) -> BlockBits {
          const int begin = P6LongQuarter(i / 64), word = begin + i % 16 / 4 * 8 + i % 4;
          const int second = begin + 36 + (i < 64 ? 2 : 0);  // behind what is read with the first codes
          return {i % 64 < 32 ? word : second + i % 16, i / 16 % 2 * 4, 4, word + 4, i / 16 % 4 * 2};
        },
        .scale_byte = 36,
        .bias = kLongBias,
        .part = 16,
        .scale_factor = [](int part) -> BlockBits { return {P6LongQuarter(part / 4) + 32 + part % 4, 0, 8}; },
        .signed_factors = true},
};

// The row of a type of blocks; any other type is a bug.
constexpr const BlockFormat& FormatOf(Dtype dtype) {
  for (const BlockFormat& format : kBlockFormats)
    if (format.dtype == dtype) return format;
  KIRSCH_BUG("no type of blocks");
}

// The bytes of a panel block's numbers of 16 bits, which are side by side: its scale, and its offset if it
// has one. And where they begin. Both are 0 if it has none.
constexpr int BytesOfF16s(Dtype panels) {
  const BlockFormat& format = FormatOf(panels);
  if (format.scale != BlockScale::kF16) return 0;
  return Bytes(Dtype::kF16) * (format.offset_byte < 0 ? 1 : 2);
}
constexpr int F16sBegin(Dtype panels) { return BytesOfF16s(panels) == 0 ? 0 : FormatOf(panels).scale_byte; }

// The bits at a place of a block, as a number without a sign.
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

// Code generators keep TwiceFloatCode so much too large, as a byte without a sign.
inline constexpr int kFloats4Bias = 12;

inline float F16At(const uint8_t* bytes) {
  return Widen(F16{static_cast<uint16_t>(bytes[0] | bytes[1] << 8)});
}

// gemma.cpp's floats of 8 bits: a sign, then a bit that chooses between two forms. If it is set, there follow
// three bits of exponent, from 2^-7 to 1, and three of mantissa. If not, there follow four bits of exponent,
// from 2^-23 to 2^-8, and two of mantissa; but 0 is 0. bf16 holds every such number.
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

// The code of an element less the bias; of codes that are floats of 4 bits, twice the number.
inline int CodeOf(const BlockFormat& format, const uint8_t* block, int element) {
  const int code = BitsIn(block, format.code(element));
  if (format.codes == BlockCodes::kSigned) return static_cast<int8_t>(code);
  return format.codes == BlockCodes::kFloats4 ? TwiceFloatCode(code) : code - format.bias;
}

// A number of the block that parts have factors of: its scale or its offset.
inline float NumberAt(const BlockFormat& format, const uint8_t* block, int byte) {
  return format.scale == BlockScale::kF32 ? F32At(block + byte) : F16At(block + byte);
}

// The number that an element's code, less the bias, is multiplied by.
inline float ScaleOf(const BlockFormat& format, const uint8_t* block, int element) {
  const int part = format.part == 0 ? 0 : element / format.part;
  const uint8_t* const at = block + format.scale_byte;
  if (format.scale == BlockScale::kNone) return 1;
  if (format.scale == BlockScale::kExponent) return std::ldexp(1.0f, *at - 128);
  if (format.scale_factor == nullptr)
    return format.scale == BlockScale::kF32 ? F32At(at + part * format.scale_step) : F16At(at);
  const int factor = BitsIn(block, format.scale_factor(part));
  return NumberAt(format, block, format.scale_byte) *
         static_cast<float>(format.signed_factors ? static_cast<int8_t>(factor) : factor);
}

// The number that is then added, where there is an offset.
inline float OffsetOf(const BlockFormat& format, const uint8_t* block, int element) {
  float offset = NumberAt(format, block, format.offset_byte);
  if (format.offset_factor != nullptr)
    offset *= static_cast<float>(BitsIn(block, format.offset_factor(element / format.part)));
  return format.takes_offset ? -offset : offset;
}

// Returns element number `element` of a block, from 0 to BlockOf(dtype) - 1. If the scale is a NaN, so is the
// element. If the scale is infinite, the element is infinite, or a NaN where the code stands for 0.
inline float DecodeElement(Dtype dtype, const uint8_t* block, int element) {
  const BlockFormat& format = FormatOf(dtype);
  const int code = CodeOf(format, block, element);
  if (format.codes == BlockCodes::kFloats8) return SwitchingFloat(static_cast<uint8_t>(code));
  const float scale = ScaleOf(format, block, element);
  if (format.offset_byte < 0) return scale * static_cast<float>(code);
  return std::fma(scale, static_cast<float>(code), OffsetOf(format, block, element));
}

// Some neighbouring bytes of a block, which lie together in a panel. Beside them are the same bytes of the
// blocks of the panel's other columns.
struct PanelTurn {
  int begin = 0, bytes = 0;
};

// Returns the bytes of a block that lie together in a panel and include the byte `byte`.
// A panel has the blocks of several columns for the same steps of the reduction. Their words of 32 bits lie
// by turns, so that one vector load takes the same word of all columns. Numbers that are f16 lie by turns,
// too. With blocks of p8, which have 9 words, and 16 columns:
//
//   word 0 of column 0, word 0 of column 1, ... word 0 of column 15, word 1 of column 0, ... word 8 of 15
constexpr PanelTurn TurnOf(Dtype panels, int byte) {
  constexpr int kHalf = Bytes(Dtype::kF16);
  const int begin = F16sBegin(panels), end = begin + BytesOfF16s(panels);
  if (begin <= byte && byte < end) return {byte / kHalf * kHalf, kHalf};
  const int before = byte < begin ? 0 : end - begin;  // words are counted without
  return {before + (byte - before) / kWordBytes * kWordBytes, kWordBytes};
}
// Is the byte a part of a number that is f16?
constexpr bool IsOfF16s(Dtype panels, int byte) { return TurnOf(panels, byte).bytes < kWordBytes; }

// The type of blocks that copies have in panels, also copies of what is in panels already: codes of 8 bits,
// so that products take the fewest instructions.
constexpr Dtype InPanels(Dtype dtype) {
  const BlockFormat& format = FormatOf(dtype);
  if (format.offset_byte >= 0) return Dtype::kPanel8Offset;
  return format.part != 0 && format.part < BlockOf(Dtype::kPanel8) ? Dtype::kPanel8Halves : Dtype::kPanel8;
}

// Can blocks in panels be copied to other panels, with which products take fewer instructions?
constexpr bool GetsWider(Dtype dtype) { return IsInPanels(dtype) && InPanels(dtype) != dtype; }

// Does a byte have the codes of two elements, or the lower bits of these codes?
constexpr bool HasNibbles(Dtype blocks) { return FormatOf(blocks).code(0).bits == 4; }
// Does a code have bits in another byte?
constexpr bool HasHigherBits(Dtype blocks) { return FormatOf(blocks).code(0).high_byte >= 0; }
// Do parts have factors of the numbers of their block?
constexpr bool HasFactors(Dtype blocks) { return FormatOf(blocks).scale_factor != nullptr; }

// May copies of such blocks also be of the type `panels`? It has blocks as long, so that parts keep their
// factors, and codes with as many bits, or more. Such copies take fewer bytes than InPanels, and more
// instructions to multiply. So they are for what comes from memory in every run, as copies that are made
// ahead do.
constexpr bool KeepsBlocks(Dtype panels, Dtype dtype) {
  if (!IsInPanels(panels) || BlockOf(panels) != BlockOf(dtype) || panels == InPanels(dtype)) return false;
  const BlockFormat &to = FormatOf(panels), &from = FormatOf(dtype);
  return from.codes == BlockCodes::kUnsigned && to.code(0).all_bits() >= from.code(0).all_bits() &&
         (to.offset_byte >= 0) == (from.offset_byte >= 0) && to.part == from.part &&
         HasFactors(panels) == HasFactors(dtype);
}

// Writes to `to` a block of a type of panels: the elements of `block` from `first` on.
inline void RecodeForPanels(Dtype dtype, const uint8_t* block, int first, Dtype in_panels, uint8_t* to) {
  const BlockFormat &from = FormatOf(dtype), &panels = FormatOf(in_panels);
  std::memset(to, 0, static_cast<size_t>(Bytes(in_panels)));
  const auto put = [&](float number, int byte) {
    const F16 half = ToF16(number);
    if (panels.scale == BlockScale::kF16)
      std::memcpy(to + byte, &half, sizeof(half));
    else
      std::memcpy(to + byte, &number, sizeof(number));
  };
  const auto put_bits = [&](int bits, const BlockBits& at) {
    to[at.byte] = static_cast<uint8_t>(to[at.byte] | (bits & ((1 << at.bits) - 1)) << at.shift);
    if (at.high_byte >= 0)
      to[at.high_byte] = static_cast<uint8_t>(to[at.high_byte] | bits >> at.bits << at.high_shift);
  };
  // The scale and the offset come first. Where the panels have factors, the blocks agree in their parts, and
  // the numbers are copied as they are. Else each part gets the product of its block's number and its factor.
  const int count = BlockOf(panels.dtype), part = panels.part == 0 ? count : panels.part;
  if (HasFactors(in_panels)) {
    KIRSCH_CHECK(from.part == part && from.signed_factors == panels.signed_factors && first == 0);
    put(NumberAt(from, block, from.scale_byte), panels.scale_byte);
    const float offset = from.offset_byte < 0 ? 0 : NumberAt(from, block, from.offset_byte);
    if (panels.offset_byte >= 0) put(from.takes_offset ? -offset : offset, panels.offset_byte);
    for (int i = 0; i < count / part; ++i) {
      put_bits(BitsIn(block, from.scale_factor(i)), panels.scale_factor(i));
      if (panels.offset_factor != nullptr)
        put_bits(BitsIn(block, from.offset_factor(i)), panels.offset_factor(i));
    }
  } else {
    for (int i = 0; i < count; i += part)
      put(ScaleOf(from, block, first + i), panels.scale_byte + i / part * panels.scale_step);
    if (panels.offset_byte >= 0) put(OffsetOf(from, block, first), panels.offset_byte);
  }
  for (int i = 0; i < count; ++i) put_bits(CodeOf(from, block, first + i) + panels.bias, panels.code(i));
}

// Limits of rounding to 8-bit codes: the largest code, and the least magnitude that scales are made for. A
// block whose largest magnitude is less is rounded as if it were this one; for less, f32 could not hold
// largest code / magnitude.
inline constexpr int kLargestQ8Code = 127;
inline constexpr float kLeastQ8Magnitude = 0x1p-121f;

// A block of 32 elements, rounded to integers of 8 bits, and what follows from them.
struct RoundedElements {
  std::array<int8_t, BlockOf(Dtype::kQ8)> codes = {};
  float scale = 0, scaled_sum = 0;
  int sum = 0, half_sum = 0;  // of all codes, and of the first half
};

// Rounds each element to the nearest multiple of largest magnitude / 127, so codes are from -127 to 127. If
// an element is a NaN or infinite, the scale becomes a NaN, and with it every element of the block.
inline RoundedElements RoundElements(const float* elements) {
  RoundedElements rounded;
  const int count = static_cast<int>(rounded.codes.size());
  // 0 times an infinity or a NaN is a NaN, which `poison` keeps; times any other number it is 0.
  float largest = kLeastQ8Magnitude, poison = 0;
  for (int i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(elements[i]));
    poison += elements[i] * 0;
  }
  rounded.scale = (largest + poison) / kLargestQ8Code;
  const float per_scale = kLargestQ8Code / largest;
  for (int i = 0; i < count; ++i) {
    const float nearest = std::nearbyint(elements[i] * per_scale);
    const int code = std::abs(nearest) <= kLargestQ8Code ? static_cast<int>(nearest) : 0;
    rounded.codes[static_cast<size_t>(i)] = static_cast<int8_t>(code);
    rounded.sum += code;
    if (i < count / 2) rounded.half_sum += code;
  }
  rounded.scaled_sum = static_cast<float>(rounded.sum) * rounded.scale;
  return rounded;
}

// Writes the 32 elements as a block of type q8; the starts are explained at kQ8ScaledSum.
inline void EncodeQ8(const float* elements, uint8_t* block) {
  const RoundedElements rounded = RoundElements(elements);
  const auto put = [&](auto number, int byte) { std::memcpy(block + byte, &number, sizeof(number)); };
  put(rounded.scale, 0);
  put(rounded.scaled_sum, kQ8ScaledSum);
  put(int32_t{-kPanelBias * rounded.sum}, kQ8Start);
  put(int32_t{-kNibbleBias * rounded.sum}, kQ8NibbleStart);
  put(int32_t{-kLongBias * rounded.half_sum}, kQ8HalfStarts);
  put(int32_t{-kLongBias * (rounded.sum - rounded.half_sum)}, kQ8HalfStarts + kWordBytes);
  put(rounded.codes, kQ8Codes);
}

// Writes 256 elements as a block of type q8_long.
inline void EncodeQ8Long(const float* elements, uint8_t* block) {
  const auto put = [&](auto number, int byte) { std::memcpy(block + byte, &number, sizeof(number)); };
  constexpr int kPart = BlockOf(Dtype::kQ8);
  for (int part = 0; part < BlockOf(Dtype::kQ8Super) / kPart; ++part) {
    const RoundedElements rounded = RoundElements(elements + part * kPart);
    std::array<int32_t, kQ8SuperStartBytes / kWordBytes> starts = {};
    starts.front() = -kLongBias * rounded.half_sum;
    starts[starts.size() / 2] = -kLongBias * (rounded.sum - rounded.half_sum);
    put(rounded.scale, part * kWordBytes);
    put(rounded.scaled_sum, kQ8SuperScaledSums + part * kWordBytes);
    put(starts, kQ8SuperStarts + part * kQ8SuperStartBytes);
    put(rounded.codes, kQ8SuperCodes + part * kPart);
  }
}

// Writes BlockOf(dtype) elements as a block of `dtype`, a type for which IsRounded is true.
inline void EncodeRounded(Dtype dtype, const float* elements, uint8_t* block) {
  dtype == Dtype::kQ8 ? EncodeQ8(elements, block) : EncodeQ8Long(elements, block);
}

// Element number `index` of an array of blocks that follow each other.
inline float BlockElement(Dtype dtype, const void* data, int64_t index) {
  const int64_t block = BlockOf(dtype);
  return DecodeElement(dtype, static_cast<const uint8_t*>(data) + index / block * Bytes(dtype),
                       static_cast<int>(index % block));
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_BLOCK_H_
