// SPDX-License-Identifier: Apache-2.0
#include "codegen/samples/block_data.h"

#include "spec/block.h"
#include "spec/element.h"

namespace kirsch {
namespace {

// Returns a scale, or another number of a block, as the bits of an f16. It is one of the powers of two about
// 1, now and then a negative one. So elements are of about the size that those of other types have. For
// kSpread it is any of three quarters of the exponents that there are; for kIntegers it is 1.
uint16_t ScaleBits(InputKind kind, uint64_t word) {
  if (kind == InputKind::kIntegers) return ToF16(1).bits;
  const uint32_t exponents = kind == InputKind::kSpread ? 12 : 2;
  return ToF16(Spread<float>(word, exponents)).bits;
}

// Returns the scale's byte of a block whose scale is an exponent.
uint8_t ExponentByte(InputKind kind, uint64_t word) {
  constexpr int kOne = 127;
  if (kind == InputKind::kIntegers) return kOne + 1;  // codes are doubled
  return static_cast<uint8_t>(kOne - (kind == InputKind::kSpread ? word % 16 : word % 3));
}

// Numbers of blocks are little-endian (spec/block.h).
void PutF16(uint16_t bits, uint8_t* to) {
  to[0] = static_cast<uint8_t>(bits);
  to[1] = static_cast<uint8_t>(bits >> 8);
}

// Fills a block of gemma.cpp's floats with 0, 1 and -1: they have no other integers.
void FillWithOnes(uint64_t word, int bytes, uint8_t* block) {
  constexpr uint8_t kNumbers[] = {0, 0x78, 0xf8};
  for (int i = 0; i < bytes; ++i) block[i] = kNumbers[Mix(word + static_cast<uint64_t>(i)) % 3];
}

}  // namespace

void FillBlock(Dtype dtype, InputKind kind, uint64_t word, uint8_t* block) {
  const BlockFormat& format = FormatOf(dtype);
  const int bytes = Bytes(format.dtype);
  // Random bits first; what follows sets scales and factors.
  for (int i = 0; i < bytes; ++i) block[i] = static_cast<uint8_t>(Mix(word + static_cast<uint64_t>(i)) >> 32);
  const auto put = [&](const BlockBits& at, int value) {
    const auto mask = static_cast<uint8_t>(((1 << at.bits) - 1) << at.shift);
    block[at.byte] = static_cast<uint8_t>((block[at.byte] & ~mask) | (value << at.shift & mask));
    if (at.high_byte >= 0) block[at.high_byte] &= static_cast<uint8_t>(~(3 << at.high_shift));
  };
  const bool whole = kind == InputKind::kIntegers;
  if (format.codes == BlockCodes::kFloats8) return whole ? FillWithOnes(word, bytes, block) : void();
  // For integers the factors of all parts are 1: scale and offset are multiplied by them.
  for (int part = 0; whole && format.part != 0 && part < BlockOf(format.dtype) / format.part; ++part) {
    put(format.scale_factor(part), 1);
    if (format.offset_byte >= 0) put(format.offset_factor(part), 1);
  }
  if (format.scale == BlockScale::kExponent)
    block[format.scale_byte] = ExponentByte(kind, word);
  else
    PutF16(ScaleBits(kind, Mix(word)), block + format.scale_byte);
  if (format.offset_byte >= 0) PutF16(ScaleBits(kind, Mix(word + 1)), block + format.offset_byte);
}

int64_t LargestCode(Dtype dtype) {
  const BlockFormat& format = FormatOf(dtype);
  const int bits = format.code(0).all_bits();
  if (format.codes == BlockCodes::kFloats8) return 1;
  // FillBlock makes their scale 1, so elements are the doubled codes, which are integers.
  if (format.codes == BlockCodes::kFloats4) return TwiceFloatCode(7);
  // An offset is 1 or -1, and adds as much.
  return format.codes == BlockCodes::kSigned ? int64_t{1} << (bits - 1)
                                             : (int64_t{1} << bits) + (format.offset_byte >= 0 ? 1 : 0);
}

}  // namespace kirsch
