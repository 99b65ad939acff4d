#include "codegen/kernels/block_decoder.h"

#include <bit>

#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr int kByteBits = 8;
constexpr uint32_t kSignBit = 0x80000000u;

}  // namespace

Dtype BytesOfBlocks(Dtype blocks) {
  return FormatOf(blocks).codes == BlockCodes::kSigned ? Dtype::kS8 : Dtype::kU8;
}

BlockDecoder::BlockDecoder(ProcedureBuilder& builder, Dtype dtype, int lanes, Dtype code, int blocks)
    : builder_(builder),
      format_(FormatOf(dtype)),
      dtype_(dtype),
      code_(code),
      lanes_(lanes),
      blocks_(static_cast<size_t>(blocks)),
      codes_(builder.Vector("codes", code, lanes * WordElements(code))),
      more_(builder.Vector("more", code, lanes * WordElements(code))),
      scale_(builder.Vector("scale", Dtype::kF32, lanes)) {
  KIRSCH_CHECK(code == Dtype::kS32 ? kBlockRun % lanes == 0
                                   : Info(dtype).code_run % (lanes * WordElements(code)) == 0);
  if (has_offset()) offset_ = builder.Vector("offset", Dtype::kF32, lanes);
  if (format_.scale == BlockScale::kExponent) {
    exponent_ = builder.Vector("exponent", Dtype::kS32, lanes);
    half_ = builder.Vector("half", Dtype::kS32, lanes);
    power_ = builder.Vector("power", Dtype::kF32, lanes);
  }
  if (format_.codes == BlockCodes::kFloats4) {
    sign_ = builder.Vector("sign", code, lanes * WordElements(code));
    sum_ = builder.Vector("sum", code, lanes * WordElements(code));
  } else if (format_.codes == BlockCodes::kFloats8) {
    sign_ = builder.Vector("sign", Dtype::kS32, lanes);
    numbers_ = builder.Vector("numbers", Dtype::kF32, lanes);
  }
  if (format_.part == 0) return;
  prepared_ = builder.Array("parts", Dtype::kF32, kFactorRun, PreparedAt(blocks));
  factors_ = builder.Vector("factors", Dtype::kS32, kFactorRun);
  more_factors_ = builder.Vector("more_factors", Dtype::kS32, kFactorRun);
  numbers_ = builder.Vector("numbers", Dtype::kF32, kFactorRun);
  whole_ = builder.Vector("whole", Dtype::kF32, kFactorRun);
}

Address BlockDecoder::ByteAt(int byte) const {
  const Address& block = blocks_[static_cast<size_t>(number_)];
  return {block.pointer, Plus(block.offset, byte)};
}

// A vector of codes that all are this one.
VarId BlockDecoder::Integers(int64_t value) const {
  const auto word = static_cast<uint32_t>(value);
  const int in_word = WordElements(code_);
  return builder_.Filled(code_, lanes_ * in_word, in_word == 1 ? word : (word & 0xffff) | word << 16);
}

void BlockDecoder::Begin(int number, const Address& block) {
  blocks_[static_cast<size_t>(number)] = block;
  if (number == scaled_) scaled_ = -1;
  number_ = number;
  if (format_.part != 0) PrepareParts(number);
}

void BlockDecoder::PrepareParts(int number) {
  const int64_t scales = PreparedAt(number);
  PrepareFactors(number, format_.scale_byte, format_.scale_factor, format_.signed_factors, scales);
  if (has_offset())
    PrepareFactors(number, format_.offset_byte, format_.offset_factor, false, scales + parts());
}

// The f16 at that byte times the factors of all parts, a few at a time.
void BlockDecoder::PrepareFactors(int number, int scale_byte, BlockBits (*factor)(int part), bool has_sign,
                                  int64_t to) {
  number_ = number;
  builder_.Do(Broadcast{whole_, ByteAt(scale_byte), 1, Dtype::kF16});
  for (int part = 0; part < parts(); part += kFactorRun) {
    const BlockBits at = factor(part);
    ReadBits(factors_, more_factors_, at);
    if (has_sign) {  // what is 128 too much with its highest bit turned
      const VarId sign = builder_.Filled(Dtype::kS32, kFactorRun, 0x80);
      builder_.Do(Binary{BinaryOp::kXor, factors_, factors_, sign});
      builder_.Do(Binary{BinaryOp::kSub, factors_, factors_, sign});
    }
    builder_.Do(Convert{numbers_, factors_});
    builder_.Do(Binary{BinaryOp::kMul, numbers_, numbers_, whole_});
    builder_.Do(Store{numbers_, At(prepared_, to + part), kFactorRun});
  }
}

void BlockDecoder::Read(VarId to, int number, int element) {
  KIRSCH_CHECK(element % lanes_ == 0 && code_ == Dtype::kS32);
  number_ = number;
  if (format_.codes == BlockCodes::kFloats8) return ReadFloats8(to, element);
  if (scaled_ != number || part_ != PartOf(element)) {
    ReadScale(scale_, number, element);
    if (has_offset()) ReadOffset(offset_, number, element);
    scaled_ = number;
    part_ = PartOf(element);
  }
  ReadCodes(codes_, element);
  if (format_.bias != 0) builder_.Do(Binary{BinaryOp::kSub, codes_, codes_, Integers(format_.bias)});
  builder_.Do(Convert{to, codes_});
  if (!has_offset()) return builder_.Do(Binary{BinaryOp::kMul, to, to, scale_});
  builder_.Do(Fma{to, to, scale_, offset_, takes_offset() ? FmaSign::kSubtract : FmaSign::kAdd});
}

void BlockDecoder::ReadCodes(VarId to, int element) {
  ReadBits(to, more_, format_.code(element));
  if (format_.codes == BlockCodes::kFloats4) ReadFloats4(to);
}

void BlockDecoder::ReadScale(VarId to, int number, int element) {
  number_ = number;
  if (format_.scale == BlockScale::kExponent) return ReadExponent(to);
  ReadNumber(to, number, format_.scale_byte, PreparedAt(number), element);
}

void BlockDecoder::ReadOffset(VarId to, int number, int element) {
  number_ = number;
  ReadNumber(to, number, format_.offset_byte, PreparedAt(number) + parts(), element);
}

// An f16 of the block, or the part's of those that have been prepared.
void BlockDecoder::ReadNumber(VarId to, int number, int byte, int64_t prepared, int element) {
  KIRSCH_CHECK(number == number_);
  if (format_.part == 0)
    builder_.Do(Broadcast{to, ByteAt(byte), 1, Dtype::kF16});
  else
    builder_.Do(Broadcast{to, At(prepared_, prepared + PartOf(element)), 1});
}

// Bits of bytes that are neighbours, as many as `to` has lanes; `more`: of its type.
void BlockDecoder::ReadBits(VarId to, VarId more, const BlockBits& at) {
  constexpr int kHighBits = 3;
  const Var& type = builder_.var(to);
  const Dtype dtype = type.dtype;
  const int lanes = type.lanes;
  const auto mask = [&](VarId bits, uint32_t wanted) {
    const uint32_t word = WordElements(dtype) == 1 ? wanted : wanted | wanted << 16;
    builder_.Do(Binary{BinaryOp::kAnd, bits, bits, builder_.Filled(dtype, lanes, word)});
  };
  builder_.Do(Load{to, ByteAt(at.byte), lanes});
  if (at.shift != 0) builder_.Do(Shift{to, to, -at.shift});
  if (at.shift + at.bits < kByteBits) mask(to, (1u << at.bits) - 1);
  if (at.high_byte < 0) return;
  builder_.Do(Load{more, ByteAt(at.high_byte), lanes});
  if (const int left = at.bits - at.high_shift; left != 0) builder_.Do(Shift{more, more, left});
  mask(more, static_cast<uint32_t>(kHighBits) << at.bits);
  builder_.Do(Binary{BinaryOp::kOr, to, to, more});
}

// 2^(byte - 128), as a product of two numbers that are normal whatever the byte is.
void BlockDecoder::ReadExponent(VarId to) {
  constexpr uint32_t kBiasLessHalf = 127 - 64;
  constexpr int kMantissa = 23;
  const VarId bias = builder_.Filled(Dtype::kS32, lanes_, kBiasLessHalf);
  const auto power = [&](VarId exponent, VarId number) {
    builder_.Do(Binary{BinaryOp::kAdd, exponent, exponent, bias});
    builder_.Do(Shift{exponent, exponent, kMantissa});
    builder_.Do(Bits{number, exponent});
  };
  builder_.Do(Broadcast{exponent_, ByteAt(format_.scale_byte), 1, Dtype::kU8});
  builder_.Do(Shift{half_, exponent_, -1});
  builder_.Do(Binary{BinaryOp::kSub, exponent_, exponent_, half_});
  power(exponent_, to);
  power(half_, power_);
  builder_.Do(Binary{BinaryOp::kMul, to, to, power_});
}

// codes = what TwiceFloatCode says of them: the magnitude, x, becomes x + max(x - 4, 0) + 2 max(x - 6, 0).
void BlockDecoder::ReadFloats4(VarId codes) {
  constexpr int kSign = 3, kMagnitudes = 7;
  const VarId sign = sign_, sum = sum_;
  const auto add_beyond = [&](int64_t least, int times) {
    builder_.Do(Binary{BinaryOp::kSub, more_, codes, Integers(least)});
    builder_.Do(Binary{BinaryOp::kMax, more_, more_, Integers(0)});
    if (times == 2) builder_.Do(Shift{more_, more_, 1});
    builder_.Do(Binary{BinaryOp::kAdd, sum, sum, more_});
  };
  builder_.Do(Shift{sign, codes, -kSign});
  builder_.Do(Binary{BinaryOp::kSub, sign, Integers(0), sign});  // 0, or all ones
  builder_.Do(Binary{BinaryOp::kAnd, codes, codes, Integers(kMagnitudes)});
  builder_.Do(Binary{BinaryOp::kAnd, sum, codes, codes});
  add_beyond(4, 1);
  add_beyond(6, 2);
  builder_.Do(Binary{BinaryOp::kXor, codes, sum, sign});
  builder_.Do(Binary{BinaryOp::kSub, codes, codes, sign});
}

// What SwitchingFloat says of them: with a magnitude x, the bits are the lesser of those of both forms; that
// of 0 is the lesser of theirs and 0, and any other x is beyond all of them.
void BlockDecoder::ReadFloats8(VarId to, int element) {
  constexpr int kMagnitudes = 0x7f, kToSign = 24, kFine = 21, kCoarse = 20;
  constexpr int64_t kFineZero = 0x34000000, kCoarseZero = 0x38000000;
  ReadBits(codes_, more_, format_.code(element));
  builder_.Do(Shift{sign_, codes_, kToSign});
  builder_.Do(Binary{BinaryOp::kAnd, sign_, sign_, Integers(kSignBit)});
  builder_.Do(Binary{BinaryOp::kAnd, codes_, codes_, Integers(kMagnitudes)});
  builder_.Do(Convert{numbers_, codes_});
  builder_.Do(Shift{more_, codes_, kFine});
  builder_.Do(Binary{BinaryOp::kAdd, more_, more_, Integers(kFineZero)});
  builder_.Do(Shift{codes_, codes_, kCoarse});
  builder_.Do(Binary{BinaryOp::kAdd, codes_, codes_, Integers(kCoarseZero)});
  builder_.Do(Binary{BinaryOp::kMin, codes_, codes_, more_});
  builder_.Do(Bits{to, codes_});
  builder_.Do(Binary{BinaryOp::kMin, to, to, numbers_});
  builder_.Do(Bits{codes_, to});
  builder_.Do(Binary{BinaryOp::kOr, codes_, codes_, sign_});
  builder_.Do(Bits{to, codes_});
}

}  // namespace kirsch
