#include "codegen/kernels/block_decoder.h"

#include <bit>

#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {

Dtype BytesOfBlocks(Dtype blocks) { return FormatOf(blocks).signed_codes ? Dtype::kS8 : Dtype::kU8; }

BlockDecoder::BlockDecoder(ProcedureBuilder& builder, Dtype dtype, int lanes)
    : builder_(builder),
      format_(FormatOf(dtype)),
      dtype_(dtype),
      lanes_(lanes),
      codes_(builder.Vector("codes", Dtype::kS32, lanes)),
      more_(builder.Vector("more", Dtype::kS32, lanes)),
      scale_(builder.Vector("scale", Dtype::kF32, lanes)) {
  KIRSCH_CHECK(kBlockRun % lanes == 0);
  const bool has_parts = format_.part != 0, has_offset = format_.offset_byte >= 0;
  const auto vector = [&](const char* name) { return builder.Vector(name, Dtype::kF32, lanes); };
  if (has_parts || format_.scale == BlockScale::kExponent) whole_scale_ = vector("whole_scale");
  if (has_offset) offset_ = vector("offset");
  if (has_offset && has_parts) whole_offset_ = vector("whole_offset");
  if (!format_.float_codes) return;
  sign_ = vector("sign");
  sign_bits_ = builder.Vector("sign_bits", Dtype::kS32, lanes);
}

Address BlockDecoder::ByteAt(int byte) const { return {block_.pointer, Plus(block_.offset, byte)}; }

void BlockDecoder::Begin(const Address& block) {
  block_ = block;
  part_ = -1;
}

void BlockDecoder::Read(VarId to, int element) {
  KIRSCH_CHECK(element % lanes_ == 0);
  const int part = format_.part == 0 ? 0 : element / format_.part;
  if (part != part_) ReadScales(part);
  ReadBits(codes_, CodeOf(dtype_, element), true);
  if (format_.float_codes) TwiceFloats();
  if (format_.bias != 0)
    builder_.Do(Binary{BinaryOp::kSub, codes_, codes_,
                       builder_.Filled(Dtype::kS32, lanes_, static_cast<uint32_t>(format_.bias))});
  builder_.Do(Convert{to, codes_});
  if (format_.float_codes) builder_.Do(Binary{BinaryOp::kXor, to, to, sign_});
  if (format_.offset_byte < 0) return builder_.Do(Binary{BinaryOp::kMul, to, to, scale_});
  builder_.Do(Fma{to, to, scale_, offset_, format_.takes_offset ? FmaSign::kSubtract : FmaSign::kAdd});
}

// The numbers of the part, those of the block at first.
void BlockDecoder::ReadScales(int part) {
  const bool first = part_ < 0, has_parts = format_.part != 0, has_offset = format_.offset_byte >= 0;
  part_ = part;
  if (format_.scale == BlockScale::kExponent) return ReadExponent();
  const auto read = [&](int byte, VarId whole, VarId to) {
    if (first) builder_.Do(Broadcast{whole == kNoVar ? to : whole, ByteAt(byte), 1, Dtype::kF16});
  };
  read(format_.scale_byte, whole_scale_, scale_);
  if (has_offset) read(format_.offset_byte, whole_offset_, offset_);
  if (!has_parts) return;
  ReadFactor(ScaleFactorOf(dtype_, part), HasSignedFactors(dtype_), scale_);
  builder_.Do(Binary{BinaryOp::kMul, scale_, scale_, whole_scale_});
  if (!has_offset) return;
  ReadFactor(OffsetFactorOf(dtype_, part), false, offset_);
  builder_.Do(Binary{BinaryOp::kMul, offset_, offset_, whole_offset_});
}

// scale = a small integer, in all lanes.
void BlockDecoder::ReadFactor(const BlockBits& at, bool has_sign, VarId scale) {
  if (has_sign)
    builder_.Do(Broadcast{codes_, ByteAt(at.byte), 1, Dtype::kS8});
  else
    ReadBits(codes_, at, false);
  builder_.Do(Convert{scale, codes_});
}

// Bits of bytes that are neighbours, or of one byte in all lanes.
void BlockDecoder::ReadBits(VarId to, const BlockBits& at, bool all_lanes) {
  constexpr int kByte = 8, kHighBits = 3;
  const auto mask = [&](VarId bits, uint32_t wanted) {
    builder_.Do(Binary{BinaryOp::kAnd, bits, bits, builder_.Filled(Dtype::kS32, lanes_, wanted)});
  };
  const auto read = [&](VarId bits, int byte) {
    if (all_lanes)
      builder_.Do(Load{bits, ByteAt(byte), lanes_});
    else
      builder_.Do(Broadcast{bits, ByteAt(byte), 1, Dtype::kU8});
  };
  read(to, at.byte);
  if (at.shift != 0) builder_.Do(Shift{to, to, -at.shift});
  if (at.shift + at.bits < kByte) mask(to, (1u << at.bits) - 1);
  if (at.high_byte < 0) return;
  read(more_, at.high_byte);
  if (const int left = at.bits - at.high_shift; left != 0) builder_.Do(Shift{more_, more_, left});
  mask(more_, static_cast<uint32_t>(kHighBits) << at.bits);
  builder_.Do(Binary{BinaryOp::kOr, to, to, more_});
}

// 2^(byte - 128), as a product of two numbers that are normal whatever the byte is.
void BlockDecoder::ReadExponent() {
  constexpr uint32_t kBiasLessHalf = 127 - 64;
  constexpr int kMantissa = 23;
  const VarId bias = builder_.Filled(Dtype::kS32, lanes_, kBiasLessHalf);
  const auto power = [&](VarId exponent, VarId to) {
    builder_.Do(Binary{BinaryOp::kAdd, exponent, exponent, bias});
    builder_.Do(Shift{exponent, exponent, kMantissa});
    builder_.Do(Bits{to, exponent});
  };
  builder_.Do(Broadcast{codes_, ByteAt(format_.scale_byte), 1, Dtype::kU8});
  builder_.Do(Shift{more_, codes_, -1});
  builder_.Do(Binary{BinaryOp::kSub, codes_, codes_, more_});
  power(codes_, scale_);
  power(more_, whole_scale_);
  builder_.Do(Binary{BinaryOp::kMul, scale_, scale_, whole_scale_});
}

// codes = what TwiceFloatCode says of them, but for their signs.
void BlockDecoder::TwiceFloats() {
  const auto word = [&](uint32_t number) { return builder_.Filled(Dtype::kS32, lanes_, number); };
  constexpr int kToSign = 28;
  builder_.Do(Shift{sign_bits_, codes_, kToSign});
  builder_.Do(Binary{BinaryOp::kAnd, sign_bits_, sign_bits_, word(0x80000000u)});
  builder_.Do(Bits{sign_, sign_bits_});
  builder_.Do(Binary{BinaryOp::kAnd, codes_, codes_, word(7)});
  builder_.Do(Binary{BinaryOp::kSub, more_, codes_, word(6)});
  builder_.Do(Binary{BinaryOp::kMax, more_, more_, word(0)});
  builder_.Do(Shift{more_, more_, 1});
  builder_.Do(Binary{BinaryOp::kAdd, more_, more_, codes_});
  builder_.Do(Binary{BinaryOp::kSub, codes_, codes_, word(4)});
  builder_.Do(Binary{BinaryOp::kMax, codes_, codes_, word(0)});
  builder_.Do(Binary{BinaryOp::kAdd, codes_, codes_, more_});
}

}  // namespace kirsch
