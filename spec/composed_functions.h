// Functions made of what kernels compute directly: written once for row programs, epilogues and their costs.
// spec/uncertain_math.h, which both are checked against, states them on its own.
#ifndef KIRSCH_SPEC_COMPOSED_FUNCTIONS_H_
#define KIRSCH_SPEC_COMPOSED_FUNCTIONS_H_

#include "spec/check.h"
#include "spec/epilogue.h"

namespace kirsch {

// A `Math` makes values of others: Number(double), Mul, Max, Min, MulAdd (a * b + c, rounded once), Exp,
// Tanh, Erf, Sigmoid, Silu, Gelu and GeluTanh.

// y * min(x, 0) + max(x, 0), with -0 for 0: compilers would keep the zeros that accumulators begin with.
template <typename Math, typename Value>
Value ComposeLeakyRelu(Math& math, Value x, Value y) {
  const Value zero = math.Number(-0.0), negative = math.Min(x, zero);
  return math.MulAdd(negative, y, math.Max(x, zero));
}

// A function of an epilogue; y: the step's operand, if it takes one.
template <typename Math, typename Value>
Value ComposeFunction(Math& math, EpilogueOp op, Value x, Value y) {
  switch (op) {
    case EpilogueOp::kExp:
      return math.Exp(x);
    case EpilogueOp::kTanh:
      return math.Tanh(x);
    case EpilogueOp::kErf:
      return math.Erf(x);
    case EpilogueOp::kSigmoid:
      return math.Sigmoid(x);
    case EpilogueOp::kSilu:
      return math.Silu(x);
    case EpilogueOp::kGelu:
      return math.Gelu(x);
    case EpilogueOp::kGeluTanh:
      return math.GeluTanh(x);
    case EpilogueOp::kLeakyRelu:
      return ComposeLeakyRelu(math, x, y);
    default:
      break;
  }
  KIRSCH_CHECK(false && "not a function");
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_COMPOSED_FUNCTIONS_H_
