// SPDX-License-Identifier: Apache-2.0
// Computes with values that may be off: how far off a kernel may be that computes in f32, whatever the order
// of its sums and whether it fuses products and sums. Verification compares a kernel's results with such
// bounds.
#ifndef KIRSCH_SPEC_UNCERTAIN_H_
#define KIRSCH_SPEC_UNCERTAIN_H_

#include "spec/dtype.h"
#include "spec/operation.h"

namespace kirsch {

// A value that may be off by `error`. HUGE_VAL: it may be anything.
struct Uncertain {
  double value = 0;
  double error = 0;
};

// Rounds to f32: adds the error of the rounding. Infinite values are exact.
Uncertain RoundedToFloat(Uncertain x);

// One operation, with its result rounded to f32.
Uncertain Add(Uncertain a, Uncertain b);
Uncertain Sub(Uncertain a, Uncertain b);
Uncertain Mul(Uncertain a, Uncertain b);
Uncertain Div(Uncertain a, Uncertain b);
Uncertain Max(Uncertain a, Uncertain b);
Uncertain Min(Uncertain a, Uncertain b);
Uncertain Neg(Uncertain a);
Uncertain Sqrt(Uncertain a);

// A function, which is as far off as its composition. y is its second argument, or its option.
Uncertain FunctionOf(Operation op, Uncertain x, Uncertain y);
inline Uncertain FunctionOf(Operation op, Uncertain x, double y = 0) {
  return FunctionOf(op, x, Uncertain{y, 0});
}

// Any operation on numbers; y is the second argument, or the option, z the third argument. Kernels may
// compute it by any terms that are the same but for roundings.
Uncertain ApplyOperation(Operation op, Uncertain x, Uncertain y, Uncertain z = {});

// An operation on integers, modulo 2^32. It is exact unless its arguments are off.
Uncertain ApplyToIntegers(Operation op, Uncertain x, Uncertain y);
// An s32 that is exactly `value`, but lies between these ends in a kernel; anything if it may wrap around.
Uncertain IntegerBetween(double value, double low, double high);

// The sum of `terms` values, in any order, whose sum, sum of magnitudes and sum of errors these are.
Uncertain SumOf(double sum, double magnitude, double error, double terms);

// A value that is kept as an f32: beyond the largest it may be infinite, and so anything.
Uncertain InRange(Uncertain x);

// The value as an element of `dtype`: rounded to nearest, and of integers saturated. Of floats, beyond the
// largest it may be anything.
Uncertain StoredAsElement(Dtype dtype, Uncertain x);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_UNCERTAIN_H_
