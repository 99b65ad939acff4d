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

// The mask register whose first `count` bits are set.
inline std::string Mask(int lanes, int count) {
  return Cat("(__mmask", std::max(lanes, 8), ")0x", absl::Hex((uint64_t{1} << count) - 1));
}

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_INTRINSICS_H_
