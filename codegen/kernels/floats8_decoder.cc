// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/floats8_decoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "spec/block.h"
#include "spec/check.h"

namespace kirsch {
namespace {

constexpr int kInOrder = 16;  // so few bytes stay in order when they are unpacked
constexpr uint8_t kSign = 0x80, kMagnitude = 0x7f;
constexpr uint8_t kThreeBits = 0x40;  // magnitudes that have it have three bits of mantissa, others two

// Returns the bf16 of a code: the upper half of its f32, whose lower half is 0.
uint16_t WordOf(int code) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(SwitchingFloat(static_cast<uint8_t>(code))) >> 16);
}

uint8_t LowByte(int code) { return static_cast<uint8_t>(WordOf(code)); }
uint8_t HighByte(int code) { return static_cast<uint8_t>(WordOf(code) >> 8); }

// Returns a table of byte_of(first), byte_of(first + step), and so on.
template <size_t kSize, typename ByteOf>
std::array<uint8_t, kSize> Table(const ByteOf& byte_of, int first, int step = 1) {
  std::array<uint8_t, kSize> table;
  for (size_t i = 0; i < kSize; ++i) table[i] = byte_of(first + step * static_cast<int>(i));
  return table;
}

}  // namespace

Floats8Decoder::Floats8Decoder(ProcedureBuilder& builder, Dtype number, int bytes, bool by_tables)
    : builder_(builder),
      bytes_(bytes),
      times_(number == Dtype::kBf16 ? 1 : 2),
      by_tables_(by_tables),
      codes_(Bytes("codes")),
      low_(Bytes("low")),
      high_(Bytes("high")),
      other_(by_tables ? kNoVar : Bytes("other")),
      words_(times_ == 1 ? kNoVar : builder.Vector("words", Dtype::kBf16, bytes / 2)) {
  KIRSCH_CHECK(number == Dtype::kBf16 || number == Dtype::kF32);
  // Two tables of 128 bytes, one entry for each magnitude, as two vectors each.
  if (!by_tables) return;
  constexpr int kHalf = kTableBytes / 2;
  static_assert(kHalf == 64 && kMagnitude + 1 == kTableBytes);
  for (size_t half = 0; half < 2; ++half) {
    const int first = static_cast<int>(half) * kHalf;
    tables_[half] = builder.Vector("low_bytes", Dtype::kU8, kHalf);
    tables_[2 + half] = builder.Vector("high_bytes", Dtype::kU8, kHalf);
    builder.Do(FillBytes{tables_[half], Table<kHalf>(LowByte, first)});
    builder.Do(FillBytes{tables_[2 + half], Table<kHalf>(HighByte, first)});
  }
}

VarId Floats8Decoder::AllBytes(uint8_t byte) const {
  return builder_.Filled(Dtype::kU8, bytes_, byte * 0x01010101u);
}

void Floats8Decoder::Begin(const Address& codes, int count) {
  from_ = codes;
  count_ = count;
  made_ = unpacked_ = -1;
}

void Floats8Decoder::Read(VarId to, int first) {
  const int lanes = builder_.var(to).lanes, code = first / bytes_ * bytes_,
            word = first - first % (bytes_ / 2);
  KIRSCH_CHECK(lanes << times_ == bytes_ && first % lanes == 0 && first + lanes <= count_);
  // The bytes are those of a whole vector of codes; the half that is unpacked follows from `first`.
  if (made_ != code) MakeBytes(code);
  if (times_ == 1) return builder_.Do(Unpack{to, low_, high_, word != code});
  if (unpacked_ != word) builder_.Do(Unpack{words_, low_, high_, word != code});
  unpacked_ = word;
  builder_.Do(Unpack{to, builder_.Filled(Dtype::kBf16, bytes_ / 2, 0), words_, word != first});
}

// Makes the lower and upper bytes of a vector of codes, of those that there are. A code has its sign where
// the upper byte has it.
void Floats8Decoder::MakeBytes(int first) {
  made_ = first;
  builder_.Do(Load{codes_, {from_.pointer, Plus(from_.offset, first)}, std::min(bytes_, count_ - first)});
  if (bytes_ > kInOrder) builder_.Do(ForUnpacking{codes_, codes_, times_});
  by_tables_ ? LookUpBytes() : ComputeBytes();
  builder_.Do(Binary{BinaryOp::kAnd, codes_, codes_, AllBytes(kSign)});
  builder_.Do(Binary{BinaryOp::kOr, high_, high_, codes_});
}

void Floats8Decoder::LookUpBytes() {
  builder_.Do(LookupPair{low_, codes_, tables_[0], tables_[1]});
  builder_.Do(LookupPair{high_, codes_, tables_[2], tables_[3]});
}

// Makes the bytes of a magnitude m, of 7 bits, by tables of 16.
//
// The upper byte follows from m >> 3, the upper four bits of m. Only for m = 0 it does not: that byte is 0.
// But m - 1 is negative then, hence the minimum of both, and is looked up as 0. For any other m, m - 1 is no
// less than m >> 3.
//
// The lower four bits of m are looked up as the lower byte. Beside two bits of mantissa (m < 64) the byte is
// twice that, and one bit shifts out. For other m, m + 64 is negative, so it is looked up as 0 and adds
// nothing.
void Floats8Decoder::ComputeBytes() {
  constexpr int kLowBits = 4, kToHigh = 3;
  const std::array<uint8_t, 16> high = Table<16>(HighByte, 1, 1 << kToHigh),
                                low = Table<16>(LowByte, kThreeBits);
  builder_.Do(Binary{BinaryOp::kAnd, low_, codes_, AllBytes(kMagnitude)});
  builder_.Do(Shift{high_, low_, -kToHigh});
  builder_.Do(Binary{BinaryOp::kSub, other_, low_, AllBytes(1)});
  builder_.Do(Binary{BinaryOp::kMin, high_, high_, other_});
  builder_.Do(Lookup{high_, high_, high});
  static_assert(kThreeBits << 1 == kSign && 1 << kLowBits == low.size());
  builder_.Do(Binary{BinaryOp::kAdd, other_, low_, AllBytes(kThreeBits)});  // negative beside three bits
  builder_.Do(Lookup{low_, low_, low});
  builder_.Do(Lookup{other_, other_, low});
  builder_.Do(Binary{BinaryOp::kAdd, low_, low_, other_});
}

}  // namespace kirsch
