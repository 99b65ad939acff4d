// SPDX-License-Identifier: Apache-2.0
// Computes gemma.cpp's MatMul by Kirsch's kernels: the same operands, in the same places, with the same
// scales.
#ifndef KIRSCH_EXAMPLES_GEMMA_MATMUL_H_
#define KIRSCH_EXAMPLES_GEMMA_MATMUL_H_

#include <cstddef>
#include <type_traits>

#include "compression/types.h"
#include "util/mat.h"
#include "weights.h"

namespace kirsch_gemma {

// The interface's type of gemma.cpp's elements; what is neither f32 nor bf16 is sfp.
template <typename T>
constexpr kirsch_type kTypeOf = std::is_same_v<T, float>        ? KIRSCH_F32
                                : std::is_same_v<T, gcpp::BF16> ? KIRSCH_BF16
                                                                : KIRSCH_SFP8;

// Describes the product. b has a row for each column of the result, so its rows are the n, its columns the k.
template <typename A, typename B, typename C>
products::Shape ShapeOf(const gcpp::MatPtrT<A>& a, const gcpp::MatPtrT<B>& b, const gcpp::MatPtrT<C>& c) {
  static_assert(
      std::is_same_v<B, float> || std::is_same_v<B, gcpp::BF16> || std::is_same_v<B, gcpp::SfpStream>,
      "weights are f32, bf16 or sfp");
  return {kTypeOf<A>,  kTypeOf<B>,     kTypeOf<C>, b.Cols(), b.Rows(), a.Stride(), b.Stride(), c.Stride(),
          /*rows=*/64, /*scaled=*/true};
}

// c = a b^T, times the scales of both. Weights are looked at where they lie, so `known` forgets those that
// go.
template <typename A, typename B, typename C>
kirsch::Result<kirsch::Done> MatMul(const gcpp::MatPtrT<A>& a, const gcpp::MatPtrT<B>& b, gcpp::MatPtrT<C>& c,
                                    products::WeightsByAddress& known, products::Workers& workers) {
  const kirsch::Result<products::Weights> weights = known.Find(ShapeOf(a, b, c), b.RowBytes(0));
  if (!weights) return weights.error();
  return weights->product->Run(a.Rows(), a.Row(0), weights->packed, c.Row(0), workers, a.Scale() * b.Scale());
}

}  // namespace kirsch_gemma

#endif  // KIRSCH_EXAMPLES_GEMMA_MATMUL_H_
