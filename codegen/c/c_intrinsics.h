// SPDX-License-Identifier: Apache-2.0
// Builds names and calls of intrinsics, for the files that print C. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_C_C_INTRINSICS_H_
#define KIRSCH_CODEGEN_C_C_INTRINSICS_H_

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "codegen/loop/loop_program.h"
#include "spec/text/cat.h"

namespace kirsch {

// "_mm256_name(arguments)", for vectors of `bytes`.
template <typename... Arguments>
std::string Intrinsic(int bytes, const std::string& name, const Arguments&... arguments) {
  std::string text = Cat(bytes <= kXmmBytes ? "_mm_" : bytes == 32 ? "_mm256_" : "_mm512_", name, "(");
  [[maybe_unused]] const char* separator = "";
  ((Append(&text, separator, arguments), separator = ", "), ...);
  return text + ")";
}

// The type of vectors of integers. Vectors shorter than 16 bytes are the lower part of an __m128i.
inline std::string IntegerType(int bytes) {
  return bytes <= kXmmBytes ? "__m128i" : bytes == 32 ? "__m256i" : "__m512i";
}

// How intrinsics call integers of the type's width: "epi16", or, as unsigned ones, "epu16".
inline std::string Epi(Dtype dtype, bool with_sign = true) {
  return Cat(with_sign ? "epi" : "epu", 8 * Bytes(dtype));
}

// True if vectors of the type are vectors of floats to C.
inline bool IsReal(Dtype dtype) { return dtype == Dtype::kF32 || dtype == Dtype::kF64; }

// Variables of h16 are vectors of floats to its arithmetic, and vectors of integers to all other intrinsics.
inline bool IsOfHalves(const Var& var) { return var.dtype == Dtype::kF16Sums; }

// "si256": how intrinsics call a vector of integers.
inline std::string Si(int bytes) { return Cat("si", 8 * std::max(bytes, kXmmBytes)); }

// How intrinsics call a vector of f32, f64 or h16, and one element of the first two.
inline const char* RealSuffix(Dtype dtype) {
  return dtype == Dtype::kF64 ? "pd" : dtype == Dtype::kF16Sums ? "ph" : "ps";
}
inline const char* ScalarSuffix(Dtype dtype) { return dtype == Dtype::kF64 ? "sd" : "ss"; }

// A vector of floats as integers, and back.
inline std::string AsIntegers(Dtype dtype, int bytes, const std::string& floats) {
  return Intrinsic(bytes, Cat("cast", RealSuffix(dtype), "_", Si(bytes)), floats);
}
inline std::string OfIntegers(Dtype dtype, int bytes, const std::string& integers) {
  return Intrinsic(bytes, Cat("cast", Si(bytes), "_", RealSuffix(dtype)), integers);
}

// The lower (0) or upper (1) half of a vector of 64 or 32 bytes. Halves of zmm are taken under a mask:
// unmasked, they would trip GCC 12's warning about uninitialised variables in its own header.
inline std::string HalfOf(Dtype dtype, int bytes, const std::string& value, int half) {
  if (bytes == 64 && dtype == Dtype::kF32)
    return Cat("_mm256_castpd_ps(", HalfOf(Dtype::kF64, bytes, Cat("_mm512_castps_pd(", value, ")"), half),
               ")");
  if (bytes == 64)
    return Intrinsic(bytes, Cat("maskz_extract", dtype == Dtype::kF64 ? "f64x4_pd" : "i64x4_epi64"), "0xff",
                     value, half);
  const std::string type = IsReal(dtype) ? RealSuffix(dtype) : "si";
  if (half == 0) return Intrinsic(bytes, Cat("cast", type, "256_", type, "128"), value);
  return Intrinsic(bytes, IsReal(dtype) ? "extractf128_" + type : "extracti128_si256", value, half);
}

// The mask register whose first `count` bits are set.
inline std::string Mask(int lanes, int count) {
  return Cat("(__mmask", std::max(lanes, 8), ")0x", absl::Hex((uint64_t{1} << count) - 1));
}

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_INTRINSICS_H_
