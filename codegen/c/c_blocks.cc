// SPDX-License-Identifier: Apache-2.0
// Prints the operations of CVectors that read codes and scales of blocks. LlvmVectors has the same ones and
// says how they work.
#include "absl/strings/str_cat.h"
#include "codegen/c/c_intrinsics.h"
#include "codegen/c/c_vectors.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {

// The bits of 2^(byte - 128) as an f32: from 2 on the exponent is byte - 1, and the mantissa 0. Powers for 0
// and 1 are subnormal: one bit of the mantissa.
std::string CVectors::BroadcastPower(const Var& to, const std::string& from) const {
  const int bytes = to.bytes();
  const std::string byte = Cat("*(", from, ")");
  const std::string bits = Cat(byte, " < 2 ? 0x", absl::Hex(kLeastPowerBits), " << ", byte, " : (", byte,
                               " - 1) << ", kF32Mantissa);
  return OfIntegers(Dtype::kF32, bytes, Intrinsic(bytes, "set1_epi32", bits));
}

// The 16 bytes are in both halves. The upper half is shifted by 4 bits, then all bytes are cut to 4 bits.
// Words of 64 bits are shifted: bits that come in from a neighbour are cut off.
std::string CVectors::LoadNibbles(const Var& to, const std::string& from) const {
  KIRSCH_CHECK(to.lanes == 32);
  const std::string twice =
      Intrinsic(32, "broadcastsi128_si256", LoadNarrow(from, Dtype::kU8, kXmmBytes, kXmmBytes));
  return Intrinsic(32, "and_si256",
                   Intrinsic(32, "srlv_epi64", twice, Intrinsic(32, "setr_epi64x", "0, 0, 4, 4")),
                   Intrinsic(32, "set1_epi8", "0x0f"));
}

// A shuffle of bytes within each 16 of them looks up 16 entries, so each 16 bytes get the table. Without
// AVX512BW there is none for vectors of 64 bytes.
std::string CVectors::Lookup(const Var& from, const std::array<uint8_t, 16>& table) const {
  const int bytes = from.bytes();
  const std::vector<int8_t> signed_bytes(table.begin(), table.end());
  const std::string entries =
      Intrinsic(kXmmBytes, "setr_epi8", Join(signed_bytes, ", ", [](int byte) { return byte; }));
  const auto repeated = [&](int size) {
    if (size == kXmmBytes) return entries;
    return Intrinsic(size, size == 32 ? "broadcastsi128_si256" : "broadcast_i32x4", entries);
  };
  // One shuffle does it.
  if (bytes < 64 || program_.HasFeature("avx512bw"))
    return Intrinsic(bytes, "shuffle_epi8", repeated(bytes), Get(from));
  // Then the halves are shuffled one after the other, and joined.
  const auto half = [&](const std::string& value) {
    return Intrinsic(32, "shuffle_epi8", repeated(32), value);
  };
  return Intrinsic(64, "inserti64x4",
                   Intrinsic(64, "castsi256_si512", half(Intrinsic(64, "castsi512_si256", Get(from)))),
                   half(Intrinsic(64, "extracti64x4_epi64", Get(from), 1)), 1);
}

std::string CVectors::FillBytes(const std::array<uint8_t, kTableBytes / 2>& bytes) const {
  // The intrinsic takes words of 64 bits, the lowest byte first.
  constexpr size_t kInWord = 8;
  std::string words;
  for (size_t first = 0; first < bytes.size(); first += kInWord) {
    uint64_t word = 0;
    for (size_t i = 0; i < kInWord; ++i) word |= uint64_t{bytes[first + i]} << 8 * i;
    Append(&words, first == 0 ? "" : ", ", "(long long)0x", absl::Hex(word), "ull");
  }
  return Intrinsic(64, "setr_epi64", words);
}

std::string CVectors::LookupPair(const Var& from, const Var& first, const Var& second) const {
  return Intrinsic(from.bytes(), "permutex2var_epi8", Get(first), Get(from), Get(second));
}

// The instructions take elements by turns within each 16 bytes, which is what the statement says.
std::string CVectors::Unpack(const Var& to, const Var& low, const Var& high, bool second) const {
  const int bytes = to.bytes();
  const std::string unpacked = Intrinsic(
      bytes, Cat(second ? "unpackhi_epi" : "unpacklo_epi", 8 * Bytes(low.dtype)), Get(low), Get(high));
  return to.dtype == Dtype::kF32 ? OfIntegers(Dtype::kF32, bytes, unpacked) : unpacked;
}

// Orders pieces of 8 or 4 bytes. Each 16 bytes get the pieces of their number: first the ones from the first
// part of the vector, then from the next part. For 32 bytes and times = 1, pieces 0 1 2 3 become 0 2 1 3.
std::string CVectors::ForUnpacking(const Var& from, int times) const {
  const int bytes = from.bytes(), in_xmm = 1 << times, xmms = bytes / kXmmBytes;
  // This one order has an instruction that needs no vector for it.
  if (bytes == 32 && times == 1) return Intrinsic(bytes, "permute4x64_epi64", Get(from), "0xd8");
  std::string pieces;
  for (int piece = 0; piece < in_xmm * xmms; ++piece)
    Append(&pieces, piece == 0 ? "" : ", ", piece % in_xmm * xmms + piece / in_xmm);
  const std::string order = Intrinsic(bytes, times == 1 ? "setr_epi64" : "setr_epi32", pieces);
  if (bytes == 32) return Intrinsic(bytes, "permutevar8x32_epi32", Get(from), order);
  return Intrinsic(bytes, times == 1 ? "permutexvar_epi64" : "permutexvar_epi32", order, Get(from));
}

}  // namespace kirsch
