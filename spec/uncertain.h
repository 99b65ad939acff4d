// SPDX-License-Identifier: Apache-2.0
// Arithmetic on values that may be off: what a kernel that computes in f32 may get, whatever the order of its
// sums and whether it fuses products and sums.
#ifndef KIRSCH_SPEC_UNCERTAIN_H_
#define KIRSCH_SPEC_UNCERTAIN_H_

#include "spec/dtype.h"
#include "spec/operation.h"

namespace kirsch {

// A value that may be off by `error`.
struct Uncertain {
  double value = 0;
  double error = 0;
};

// What rounding to f32 adds; infinite values are exact.
Uncertain RoundedToFloat(Uncertain x);

// Rounded to f32.
Uncertain Add(Uncertain a, Uncertain b);
Uncertain Sub(Uncertain a, Uncertain b);
Uncertain Mul(Uncertain a, Uncertain b);
Uncertain Div(Uncertain a, Uncertain b);
Uncertain Max(Uncertain a, Uncertain b);
Uncertain Min(Uncertain a, Uncertain b);
Uncertain Neg(Uncertain a);
Uncertain Sqrt(Uncertain a);

// A function, which is as far off as its composition; y: its option.
Uncertain FunctionOf(Operation op, Uncertain x, double y = 0);

// Any operation on numbers; y: the second argument, or the option. Kernels may compute it by any terms that
// are the same but for roundings.
Uncertain ApplyOperation(Operation op, Uncertain x, Uncertain y);

// Likewise on integers, modulo 2^32: exactly, unless what they are made of is off.
Uncertain ApplyToIntegers(Operation op, Uncertain x, Uncertain y);
// An s32 that differs from an exact one by what lies between these ends; anything if it may wrap around.
Uncertain IntegerBetween(double value, double low, double high);

// The sum of `terms` values whose sum, sum of magnitudes and sum of errors these are.
Uncertain SumOf(double sum, double magnitude, double error, double terms);

// A value that is kept as an f32: beyond the largest it may be infinite, and so anything.
Uncertain InRange(Uncertain x);

// As an element of `dtype`: rounded to nearest, and of integers saturated; of floats beyond the largest it
// may be anything.
Uncertain StoredAsElement(Dtype dtype, Uncertain x);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_UNCERTAIN_H_
