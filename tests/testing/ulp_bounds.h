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
  switch (op) {
    case Operation::kAdd:
    case Operation::kSub:
    case Operation::kMul:
    case Operation::kDiv:
    case Operation::kSqrt:
    case Operation::kSum:
    case Operation::kLeakyRelu:
    case Operation::kRelu:
    case Operation::kMax:
    case Operation::kMin:
    case Operation::kMaxNum:
    case Operation::kMinNum:
      return 0.5;
    case Operation::kExp:
      return 1;
    case Operation::kTanh:
    case Operation::kErf:
    case Operation::kElu:
      return 2;
    case Operation::kSigmoid:
    case Operation::kSoftplus:
      return 2.5;
    case Operation::kHardswish:
      return 3;
    case Operation::kSilu:
      return 4;
    case Operation::kGelu:
      return 6;
    case Operation::kGeluTanh:
      return 5 + (x < 0 ? 4 * -x * (1 + x * x / 16) : 0);
    default:
      return 0;
  }
}

}  // namespace kirsch

#endif  // KIRSCH_TESTS_TESTING_ULP_BOUNDS_H_
