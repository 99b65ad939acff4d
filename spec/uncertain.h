// SPDX-License-Identifier: Apache-2.0
// Computes with values that may be off: how far off a kernel may be that computes in f32, or in f64, whatever
// the order of its sums and whether it fuses products and sums. Verification compares a kernel's results with
// such bounds. Values are doubles here, so where a kernel computes in f64, bounds have room for the roundings
// of both.
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

// Here and below, `type` is the type that the kernel computes in: f32, f64, or f16 where sums are f16.

// Adds the error of a rounding. Infinite values are exact.
Uncertain RoundedToFloat(Uncertain x, Dtype type = Dtype::kF32);

// One operation, with its result rounded.
Uncertain Add(Uncertain a, Uncertain b, Dtype type = Dtype::kF32);
Uncertain Sub(Uncertain a, Uncertain b, Dtype type = Dtype::kF32);
Uncertain Mul(Uncertain a, Uncertain b, Dtype type = Dtype::kF32);
Uncertain Div(Uncertain a, Uncertain b, Dtype type = Dtype::kF32);
Uncertain Max(Uncertain a, Uncertain b);
Uncertain Min(Uncertain a, Uncertain b);
Uncertain Neg(Uncertain a);
Uncertain Sqrt(Uncertain a, Dtype type = Dtype::kF32);

// A function, which is as far off as its composition; in f64 as far as its row of kOperations says. y is its
// second argument, or its option.
Uncertain FunctionOf(Operation op, Uncertain x, Uncertain y, Dtype type = Dtype::kF32);
inline Uncertain FunctionOf(Operation op, Uncertain x, double y = 0, Dtype type = Dtype::kF32) {
  return FunctionOf(op, x, Uncertain{y, 0}, type);
}

// Any operation on numbers; y is the second argument, or the option, z the third argument. Kernels may
// compute it by any terms that are the same but for roundings.
Uncertain ApplyOperation(Operation op, Uncertain x, Uncertain y, Uncertain z = {}, Dtype type = Dtype::kF32);

// An operation on integers, modulo 2^32. It is exact unless its arguments are off.
Uncertain ApplyToIntegers(Operation op, Uncertain x, Uncertain y);
// An s32 that is exactly `value`, but lies between these ends in a kernel; anything if it may wrap around.
Uncertain IntegerBetween(double value, double low, double high);

// The sum of `terms` values, in any order, whose sum, sum of magnitudes and sum of errors these are.
Uncertain SumOf(double sum, double magnitude, double error, double terms, Dtype type = Dtype::kF32);

// A value that is kept as one of the type: beyond the largest it may be infinite, and so anything.
Uncertain InRange(Uncertain x, Dtype type = Dtype::kF32);

// The value, one of f32 if `dtype` is not f64, as an element of `dtype`: rounded to nearest, and of integers
// saturated. Of floats, beyond the largest it may be anything.
Uncertain StoredAsElement(Dtype dtype, Uncertain x);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_UNCERTAIN_H_
