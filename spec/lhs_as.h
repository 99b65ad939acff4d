// SPDX-License-Identifier: Apache-2.0
// Says what a matmul may round beside its sums. Engines make these roundings, too; docs/spec.md has the
// limits of each.
#ifndef KIRSCH_SPEC_LHS_AS_H_
#define KIRSCH_SPEC_LHS_AS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/dtype.h"

namespace kirsch {

// The type to which copies of lhs may be rounded. Only copies are rounded: an lhs that is read as it lies
// stays exact.
enum class LhsAs : uint8_t {
  kItself,
  kBf16,  // rhs, too, if it is of blocks
  kQ8,    // or bf16; to integers of 8 bits, 32 of a row sharing a scale; rhs is of blocks of integers
  kF16    // rhs is of f16; what is too large for that may become infinite
};
inline constexpr std::array kRoundings = {LhsAs::kBf16, LhsAs::kF16, LhsAs::kQ8};

constexpr std::string_view NameOf(LhsAs as) {
  constexpr std::array<std::string_view, 4> kNames = {"itself", "bf16", "q8_0", "f16"};
  return kNames[static_cast<size_t>(as)];
}

// The float that an element may be rounded to by itself, without a scale.
constexpr Dtype ElementAs(LhsAs as) { return as == LhsAs::kF16 ? Dtype::kF16 : Dtype::kBf16; }

// Checks the operands' types: returns what they would have to be for lhs to be rounded so, or nothing if it
// may be.
// Beside a rounding to bf16, rhs is of no more than that, or may be rounded, too; so for f16. Beside a
// rounding to integers, rhs is of blocks of them.
constexpr std::string_view WantedBesideRounding(LhsAs as, Dtype lhs, Dtype rhs) {
  if (as == LhsAs::kItself) return "";
  if (as == LhsAs::kQ8) {
    if (lhs != Dtype::kF32) return "an lhs of f32 to be rounded";
    return HasIntegerCodes(rhs) ? "" : "an rhs of blocks of integers beside an lhs that is rounded to q8_0";
  }
  if (as == LhsAs::kF16) {
    if (lhs != Dtype::kF32) return "an lhs of f32 to be rounded to f16";
    return rhs == Dtype::kF16 ? "" : "an rhs of f16 beside an lhs that is rounded to f16";
  }
  if (lhs != Dtype::kF32 && !(lhs == Dtype::kBf16 && IsOfBlocks(rhs)))
    return "an lhs of f32, or of bf16 beside blocks, to be rounded";
  if (rhs != Dtype::kBf16 && !IsOfBlocks(rhs))
    return "an rhs of bf16 or of blocks beside an lhs that is rounded to bf16";
  return "";
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LHS_AS_H_
