// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/block_decoder.h"

#include <array>

#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr int kBitsPerByte = 8;

// Returns a word all of whose elements of this type are `element`: 0x12121212 for the byte 0x12.
uint32_t Repeated(uint32_t element, Dtype dtype) {
  const uint32_t all = 0xffffffffu;
  const int bits = kBitsPerByte * Bytes(dtype);
  return bits == 32 ? element : all / ((1u << bits) - 1) * (element & ((1u << bits) - 1));
}

}  // namespace

Dtype BytesOfBlocks(Dtype blocks) {
  return FormatOf(blocks).codes == BlockCodes::kSigned ? Dtype::kS8 : Dtype::kU8;
}

Dtype CodeBytes(Dtype blocks) {
  return FormatOf(blocks).codes == BlockCodes::kSigned ? Dtype::kExcess8 : Dtype::kU8;
}

// Flipping the highest bit of a byte with a sign makes it 128 too much: 0xff, which is -1, becomes 127.
void AddSign(ProcedureBuilder& builder, VarId bytes) {
  const VarId sign = builder.Filled(Dtype::kS32, builder.var(bytes).lanes, 0x80);
  builder.Do(Binary{BinaryOp::kXor, bytes, bytes, sign});
  builder.Do(Binary{BinaryOp::kSub, bytes, bytes, sign});
}

BlockDecoder::BlockDecoder(ProcedureBuilder& builder, Dtype dtype, int lanes, Dtype code, int blocks)
    : builder_(builder),
      format_(FormatOf(dtype)),
      dtype_(dtype),
      code_(code),
      lanes_(lanes),
      blocks_(static_cast<size_t>(blocks)) {
  // Vectors of s32 and s16 lie within a run of neighbours, so that one load and one shift read them. Those of
  // bytes have 32 codes.
  KIRSCH_CHECK(code == Dtype::kS32   ? kBlockRun % lanes == 0
               : code == Dtype::kS16 ? Info(dtype).code_run % (lanes * WordElements(code)) == 0
                                     : lanes * WordElements(code) == BlockOf(Dtype::kQ8));
  if (format_.part != 0) prepared_ = builder.Array("parts", Dtype::kF32, kFactorRun, PreparedAt(blocks));
}

BlockDecoder::BlockDecoder(ProcedureBuilder& builder, Dtype dtype, Dtype number, int bytes, bool by_tables)
    : BlockDecoder(builder, dtype, bytes / kWordBytes) {
  if (format_.codes == BlockCodes::kFloats8) floats8_.emplace(builder, number, bytes, by_tables);
}

// Returns the vector, which is declared when it is first used.
VarId BlockDecoder::Made(VarId* vector, const char* name, Dtype dtype, int words) {
  if (*vector == kNoVar) *vector = builder_.Vector(name, dtype, words * WordElements(dtype));
  return *vector;
}

Address BlockDecoder::ByteAt(int byte) const {
  const Address& block = blocks_[static_cast<size_t>(number_)];
  return {block.pointer, Plus(block.offset, byte)};
}

// Returns a vector of codes that all are `value`.
VarId BlockDecoder::Integers(int64_t value) const {
  const auto word = static_cast<uint32_t>(value);
  return builder_.Filled(code_, lanes_ * WordElements(code_), Repeated(word, code_));
}

void BlockDecoder::Begin(int number, const Address& block, int elements) {
  KIRSCH_CHECK(floats8_ || elements == BlockOf(dtype_));
  if (floats8_) return floats8_->Begin(block, elements);
  blocks_[static_cast<size_t>(number)] = block;
  // The scale that Read() has is that of the block before.
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

// Stores the f16 at that byte times the factor of each part, kFactorRun parts at a time.
void BlockDecoder::PrepareFactors(int number, int scale_byte, BlockBits (*factor)(int part), bool has_sign,
                                  int64_t to) {
  const VarId whole = Made(&whole_, "whole", Dtype::kF32, kFactorRun),
              numbers = Made(&numbers_, "numbers", Dtype::kF32, kFactorRun);
  ReadWhole(whole, number, scale_byte);
  for (int part = 0; part < parts(); part += kFactorRun) {
    const VarId factors = ReadFactors(number, factor(part));
    if (has_sign) AddSign(builder_, factors);
    builder_.Do(Convert{numbers, factors});
    builder_.Do(Binary{BinaryOp::kMul, numbers, numbers, whole});
    builder_.Do(Store{numbers, At(prepared_, to + part), kFactorRun});
  }
}

void BlockDecoder::Read(VarId to, int number, int element) {
  if (floats8_) return floats8_->Read(to, element);
  KIRSCH_CHECK(element % lanes_ == 0 && code_ == Dtype::kS32);
  number_ = number;
  const VarId scale = Made(&scale_, "scale", Dtype::kF32, lanes_), codes = Codes();
  if (has_offset()) Made(&offset_, "offset", Dtype::kF32, lanes_);
  // Vectors of one part share scale and offset, which are read for the first of them.
  if (scaled_ != number || part_ != PartOf(element)) {
    ReadScale(scale, number, element);
    if (has_offset()) ReadOffset(offset_, number, element);
    scaled_ = number;
    part_ = PartOf(element);
  }
  ReadCodes(codes, number, element);
  if (bias() != 0) builder_.Do(Binary{BinaryOp::kSub, codes, codes, Integers(bias())});
  builder_.Do(Convert{to, codes});
  if (!has_offset()) return builder_.Do(Binary{BinaryOp::kMul, to, to, scale});
  builder_.Do(Fma{to, to, scale, offset_, takes_offset() ? FmaSign::kSubtract : FmaSign::kAdd});
}

int BlockDecoder::bias() const { return Bytes(code_) == Bytes(Dtype::kS16) ? 0 : StoredBias(); }

// Returns the bias that codes have as they are read, or as they are looked up.
int BlockDecoder::StoredBias() const {
  if (format_.codes == BlockCodes::kFloats4) return Bytes(code_) == 1 ? kPanelBias : kFloats4Bias;
  return format_.codes == BlockCodes::kSigned && Bytes(code_) == 1 ? kPanelBias : format_.bias;
}

// A vector that is longer than a run of neighbours has two runs, which are both halves of the same bytes.
void BlockDecoder::ReadCodes(VarId to, int number, int element) {
  number_ = number;
  const int run = Info(dtype_).code_run;
  if (builder_.var(to).lanes > run && run > 0) {
    const BlockBits at = format_.code(element), other = format_.code(element + run);
    KIRSCH_CHECK(at.byte == other.byte && at.shift == 0 && other.shift == 4 && at.high_byte < 0);
    builder_.Do(LoadNibbles{to, ByteAt(at.byte)});
  } else {
    ReadBits(to, &more_, format_.code(element));
  }
  if (format_.codes == BlockCodes::kFloats4) LookUpFloats4(to);
  // s16 has room for a sign, so the bias is subtracted right here.
  const int more = bias() - StoredBias();
  if (more != 0) builder_.Do(Binary{BinaryOp::kAdd, to, to, Integers(more)});
}

void BlockDecoder::ReadScale(VarId to, int number, int element) {
  number_ = number;
  if (format_.scale == BlockScale::kExponent)
    return builder_.Do(BroadcastPower{to, ByteAt(format_.scale_byte)});
  ReadNumber(to, number, format_.scale_byte, PreparedAt(number), element);
}

void BlockDecoder::ReadOffset(VarId to, int number, int element) {
  number_ = number;
  ReadNumber(to, number, format_.offset_byte, PreparedAt(number) + parts(), element);
}

void BlockDecoder::ReadScales(VarId to, int number, int element) {
  builder_.Do(Load{to, At(prepared_, PreparedAt(number) + PartOf(element)), kFactorRun});
}

void BlockDecoder::ReadOffsets(VarId to, int number, int element) {
  builder_.Do(Load{to, At(prepared_, PreparedAt(number) + parts() + PartOf(element)), kFactorRun});
}

void BlockDecoder::ReadWhole(VarId to, int number, int byte) {
  number_ = number;
  builder_.Do(Broadcast{to, ByteAt(byte), 1, Dtype::kF16});
}

VarId BlockDecoder::ReadFactors(int number, const BlockBits& first) {
  number_ = number;
  const VarId factors = Made(&factors_, "factors", Dtype::kS32, kFactorRun);
  ReadBits(factors, &more_factors_, first);
  return factors;
}

// Reads an f16 of the block, or, where parts have factors, the number of the part that Begin() has prepared.
void BlockDecoder::ReadNumber(VarId to, int number, int byte, int64_t prepared, int element) {
  KIRSCH_CHECK(number == number_);
  if (format_.part == 0)
    builder_.Do(Broadcast{to, ByteAt(byte), 1, Dtype::kF16});
  else
    builder_.Do(Broadcast{to, At(prepared_, prepared + PartOf(element)), 1});
}

// Reads the bits at `at` and those at the same places of the following bytes, one lane for each byte. `high`
// is a vector of the same type, for higher bits that are in other bytes.
void BlockDecoder::ReadBits(VarId to, VarId* high, const BlockBits& at) {
  constexpr int kHighBits = 3;
  const Var& type = builder_.var(to);
  const Dtype dtype = type.dtype;
  const int lanes = type.lanes;
  const auto mask = [&](VarId bits, uint32_t wanted) {
    builder_.Do(Binary{BinaryOp::kAnd, bits, bits, builder_.Filled(dtype, lanes, Repeated(wanted, dtype))});
  };
  // The lower bits: moved down, without what is beside them.
  builder_.Do(Load{to, ByteAt(at.byte), lanes});
  if (at.shift != 0) builder_.Do(Shift{to, to, -at.shift});
  if (at.shift + at.bits < kBitsPerByte) mask(to, (1u << at.bits) - 1);
  if (at.high_byte < 0) return;
  // The higher bits: moved to right above the lower ones, up or down.
  const VarId more = Made(high, high == &more_ ? "more" : "more_factors", dtype, lanes / WordElements(dtype));
  builder_.Do(Load{more, ByteAt(at.high_byte), lanes});
  if (const int left = at.bits - at.high_shift; left != 0) builder_.Do(Shift{more, more, left});
  mask(more, static_cast<uint32_t>(kHighBits) << at.bits);
  builder_.Do(Binary{BinaryOp::kOr, to, to, more});
}

// Replaces codes by what TwiceFloatCode says of them, plus the bias. The lookup goes byte by byte. In wider
// lanes, bytes beside those of codes get their highest bit set, so that it makes them 0.
void BlockDecoder::LookUpFloats4(VarId codes) {
  constexpr uint32_t kBeside = 0x80808080u, kByte = 0xff;
  std::array<uint8_t, 16> table;
  for (int code = 0; code < 16; ++code)
    table[static_cast<size_t>(code)] = static_cast<uint8_t>(TwiceFloatCode(code) + StoredBias());
  if (Bytes(code_) > 1) builder_.Do(Binary{BinaryOp::kOr, codes, codes, Integers(kBeside & ~kByte)});
  builder_.Do(Lookup{codes, codes, table});
}

}  // namespace kirsch
