// SPDX-License-Identifier: Apache-2.0
// Matmul root specs for tests, given or drawn at random.
#ifndef KIRSCH_TESTS_TESTING_RANDOM_SPEC_H_
#define KIRSCH_TESTS_TESTING_RANDOM_SPEC_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "spec/matmul_types.h"
#include "spec/spec.h"

namespace kirsch::testing {

struct MatmulShape {
  uint32_t b = 1, m = 1, k = 1, n = 1;
  Order lhs = Order::kRow, rhs = Order::kRow;
  uint32_t lhs_gap = 0, rhs_gap = 0, out_gap = 0;  // leading dimension minus row length
  bool accumulate = false;
  MatmulTypes types = {Dtype::kF32, Dtype::kF32, Dtype::kF32};
  int constant = -1;  // operand; -1: none
  LhsAs lhs_as = LhsAs::kItself;
};

// All of kMatmulTypes that every target sums, with lhs and rhs in either order.
std::vector<MatmulTypes> EveryTypes();

// "bf16_bf16_f32", to name a test.
std::string NameOf(const MatmulTypes& types);

// The root spec, serial, everything in RAM.
Spec MatmulSpec(const MatmulShape& shape);

struct RandomSpecOptions {
  uint32_t max_side = 300;
  uint32_t max_batch = 3;
  double max_flops = 1e18;
  MatmulTypes types = {Dtype::kF32, Dtype::kF32, Dtype::kF32};
  bool constants = false;         // lhs or rhs is constant in two of three specs without a batch
  bool constant_batches = false;  // and of those with one
};

// Sides are drawn so that short and long ones are about as frequent; orders, gaps, batch, accumulate and what
// lhs may be rounded to mixed.
Spec RandomMatmulSpec(const RandomSpecOptions& options, std::mt19937_64* random);

// The same matmul with a random epilogue, and an output of a type that goes with it; it accumulates only
// where sums can be added to that.
Spec WithRandomEpilogue(const Spec& spec, std::mt19937_64* random);

// The spec of another size along a dim. What was contiguous along it is so still.
Spec WithSize(Spec spec, int dim, uint32_t size);

// "matmul f32 b1 2x3x4 lhs=row/4 rhs=col/3 out=row/9 accumulate", to name a failing case.
std::string Describe(const Spec& spec);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_RANDOM_SPEC_H_
