// SPDX-License-Identifier: Apache-2.0
// Lists the combinations of element types that a matmul may have.
#ifndef KIRSCH_SPEC_MATMUL_TYPES_H_
#define KIRSCH_SPEC_MATMUL_TYPES_H_

#include <algorithm>
#include <array>
#include <iterator>

#include "spec/dtype.h"

namespace kirsch {

// Products and sums are of AccumulatorOf(lhs): f32, f64, f16, or s32, which wraps around. A narrower output
// is made at the end, from the whole sum (and the old output, if it is added to): bf16 by rounding to
// nearest, ties to even; s16 by saturation.
struct MatmulTypes {
  Dtype lhs, rhs, out;
  friend constexpr bool operator==(const MatmulTypes&, const MatmulTypes&) = default;
};

// Lhs and rhs may also be exchanged: the transposed problem has them so.
inline constexpr MatmulTypes kBaseMatmulTypes[] = {
    {Dtype::kF32, Dtype::kF32, Dtype::kF32},
    {Dtype::kBf16, Dtype::kBf16, Dtype::kF32},
    {Dtype::kBf16, Dtype::kBf16, Dtype::kBf16},
    {Dtype::kF32, Dtype::kBf16, Dtype::kF32},
    {Dtype::kF32, Dtype::kBf16, Dtype::kBf16},
    {Dtype::kF16, Dtype::kF16, Dtype::kF32},
    {Dtype::kF32, Dtype::kF16, Dtype::kF32},
    {Dtype::kU8, Dtype::kS8, Dtype::kS32},
    {Dtype::kS8, Dtype::kS8, Dtype::kS32},
    {Dtype::kU8, Dtype::kS8, Dtype::kS16},
    {Dtype::kS32, Dtype::kS32, Dtype::kS32},
    {Dtype::kF64, Dtype::kF64, Dtype::kF64},
    {Dtype::kF16Sums, Dtype::kF16Sums, Dtype::kF16Sums},
};

// These, and those of weights.
// Each type of weights stands beside f32 and beside bf16.
inline constexpr auto kMatmulTypes = [] {
  constexpr auto kWeights = std::ranges::count_if(kDtypes, &DtypeInfo::is_weights);
  std::array<MatmulTypes, std::size(kBaseMatmulTypes) + 2 * kWeights> all = {};
  auto next = std::copy(std::begin(kBaseMatmulTypes), std::end(kBaseMatmulTypes), all.begin());
  for (const DtypeInfo& info : kDtypes)
    for (Dtype beside : {Dtype::kF32, Dtype::kBf16})
      if (info.is_weights) *next++ = {beside, info.dtype, Dtype::kF32};
  return all;
}();

// Weights of blocks beside f32 and bf16. They are rhs, as their blocks are along the reduction, and are not
// exchanged.
inline constexpr auto kBlockMatmulTypes = [] {
  constexpr auto kIsOne = [](const DtypeInfo& info) { return info.block > 1 && !info.ours; };
  std::array<MatmulTypes, 2 * std::ranges::count_if(kDtypes, kIsOne)> all = {};
  auto next = all.begin();
  for (const DtypeInfo& info : kDtypes)
    for (Dtype beside : {Dtype::kF32, Dtype::kBf16})
      if (kIsOne(info)) *next++ = {beside, info.dtype, Dtype::kF32};
  return all;
}();

constexpr bool IsSupported(const MatmulTypes& types) {
  for (const MatmulTypes& supported : kBlockMatmulTypes)
    if (types == supported) return true;
  for (const MatmulTypes& supported : kMatmulTypes)
    if (types == supported || MatmulTypes{types.rhs, types.lhs, types.out} == supported) return true;
  return false;
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MATMUL_TYPES_H_
