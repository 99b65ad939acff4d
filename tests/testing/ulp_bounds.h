// SPDX-License-Identifier: Apache-2.0
// How far the functions of row programs may be off, as docs/exactness.md states it.
#ifndef KIRSCH_TESTS_TESTING_ULP_BOUNDS_H_
#define KIRSCH_TESTS_TESTING_ULP_BOUNDS_H_

#include "spec/operation.h"

namespace kirsch {

// The most that the f32 a kernel computes differs from the exact result for the f32 arguments it got, in
// units of the distance of the f32s around the exact result (2^-149 at least). Of what reduces, of one
// addition. Results that are infinite or no number are so exactly. tests/codegen/vector_math_test.cc holds
// the code to it.
//
// `x`, the argument, matters for gelu_tanh alone: far below 0 that is what an exponential makes of the
// roundings of its exponent.
constexpr double UlpBound(Operation op, double x = 0) {
  const double more = op == Operation::kGeluTanh && x < 0 ? 4 * -x * (1 + x * x / 16) : 0;
  return Info(op).ulps + more;
}

}  // namespace kirsch

#endif  // KIRSCH_TESTS_TESTING_ULP_BOUNDS_H_
