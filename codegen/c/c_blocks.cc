// What codes and scales of blocks are read by, of CVectors. See LlvmVectors for how.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/c/c_intrinsics.h"
#include "codegen/c/c_vectors.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {

std::string CVectors::BroadcastPower(const Var& to, const std::string& from) const {
  const int bytes = BytesOf(to);
  const std::string byte = Cat("*(", from, ")");
  const std::string bits = Cat(byte, " < 2 ? 0x", absl::Hex(kLeastPowerBits), " << ", byte, " : (", byte,
                               " - 1) << ", kF32Mantissa);
  return Intrinsic(bytes, Cat("cast", Si(bytes), "_ps"), Intrinsic(bytes, "set1_epi32", bits));
}

std::string CVectors::LoadNibbles(const Var& to, const std::string& from) const {
  KIRSCH_CHECK(to.lanes == 32);
  const std::string twice =
      Intrinsic(32, "broadcastsi128_si256", LoadNarrow(from, Dtype::kU8, kXmmBytes, kXmmBytes));
  return Intrinsic(32, "and_si256",
                   Intrinsic(32, "srlv_epi64", twice, Intrinsic(32, "setr_epi64x", "0, 0, 4, 4")),
                   Intrinsic(32, "set1_epi8", "0x0f"));
}

std::string CVectors::Lookup(const Var& from, const std::array<uint8_t, 16>& table) const {
  const int bytes = BytesOf(from);
  const std::vector<int8_t> signed_bytes(table.begin(), table.end());
  const std::string entries =
      Intrinsic(kXmmBytes, "setr_epi8",
                absl::StrJoin(signed_bytes, ", ", [](std::string* text, int byte) { Append(text, byte); }));
  const auto repeated = [&](int size) {
    if (size == kXmmBytes) return entries;
    return Intrinsic(size, size == 32 ? "broadcastsi128_si256" : "broadcast_i32x4", entries);
  };
  if (bytes < 64 || program_.HasFeature("avx512bw"))
    return Intrinsic(bytes, "shuffle_epi8", repeated(bytes), Get(from));
  const auto half = [&](const std::string& value) {
    return Intrinsic(32, "shuffle_epi8", repeated(32), value);
  };
  return Intrinsic(64, "inserti64x4",
                   Intrinsic(64, "castsi256_si512", half(Intrinsic(64, "castsi512_si256", Get(from)))),
                   half(Intrinsic(64, "extracti64x4_epi64", Get(from), 1)), 1);
}

}  // namespace kirsch
