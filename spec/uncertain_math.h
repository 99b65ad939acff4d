// Arithmetic on values that may be off: what a kernel that computes in f32 may get, whatever the order of its
// sums and whether it fuses products and sums.
#ifndef KIRSCH_SPEC_UNCERTAIN_MATH_H_
#define KIRSCH_SPEC_UNCERTAIN_MATH_H_

#include "spec/dtype.h"
#include "spec/row_program.h"
#include "spec/uncertain.h"

namespace kirsch {

// What rounding to f32 adds; infinite values are exact.
Uncertain RoundedToFloat(Uncertain x);

// The functions of spec/row_program.h, rounded to f32.
Uncertain Add(Uncertain a, Uncertain b);
Uncertain Sub(Uncertain a, Uncertain b);
Uncertain Mul(Uncertain a, Uncertain b);
Uncertain Div(Uncertain a, Uncertain b);
Uncertain Max(Uncertain a, Uncertain b);
Uncertain Min(Uncertain a, Uncertain b);
Uncertain Neg(Uncertain a);
Uncertain Sqrt(Uncertain a);
Uncertain Exp(Uncertain a);
Uncertain Tanh(Uncertain a);
Uncertain Erf(Uncertain a);
Uncertain Sigmoid(Uncertain a);

// One of these functions, and of those below; as far off as its composition.
Uncertain FunctionOf(RowOp op, Uncertain x);

// As spec/graph.h defines them; kernels may compute them by any terms that are the same but for roundings.
Uncertain LeakyRelu(Uncertain a, Uncertain slope);
Uncertain Gelu(Uncertain a);
Uncertain GeluTanh(Uncertain a);
Uncertain Silu(Uncertain a);

// The sum of `terms` values whose sum, sum of magnitudes and sum of errors these are.
Uncertain SumOf(double sum, double magnitude, double error, double terms);

// A value that is kept as an f32: beyond the largest it may be infinite, and so anything.
Uncertain InRange(Uncertain x);

// As an element of `dtype`: rounded to nearest, and of integers saturated; of floats beyond the largest it
// may be anything.
Uncertain StoredAsElement(Dtype dtype, Uncertain x);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_UNCERTAIN_MATH_H_
