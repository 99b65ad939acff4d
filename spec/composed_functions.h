// Activation functions, made of what kernels compute directly: written once for row programs, epilogues and
// their costs. spec/uncertain_math.h, which both are checked against, states them on its own.
#ifndef KIRSCH_SPEC_COMPOSED_FUNCTIONS_H_
#define KIRSCH_SPEC_COMPOSED_FUNCTIONS_H_

#include <cmath>

#include "spec/check.h"
#include "spec/epilogue.h"

namespace kirsch {

// A `Math` makes values of others: Number(double), Add, Mul, Max, Min, MulAdd (a * b + c, rounded once), Exp,
// Tanh, Erf and Sigmoid.

// y * min(x, 0) + max(x, 0), with -0 for 0: compilers would keep the zeros that accumulators begin with.
template <typename Math, typename Value>
Value ComposeLeakyRelu(Math& math, Value x, Value y) {
  const Value zero = math.Number(-0.0), negative = math.Min(x, zero);
  return math.MulAdd(negative, y, math.Max(x, zero));
}

template <typename Math, typename Value>
Value ComposeGelu(Math& math, Value x) {
  const Value half = math.Mul(x, math.Number(0.5));
  return math.MulAdd(half, math.Erf(math.Mul(x, math.Number(1 / std::sqrt(2.0)))), half);
}

template <typename Math, typename Value>
Value ComposeGeluTanh(Math& math, Value x) {
  const double factor = std::sqrt(2 / M_PI);
  const Value half = math.Mul(x, math.Number(0.5)), square = math.Mul(x, x);
  const Value slope = math.MulAdd(square, math.Number(factor * 0.044715), math.Number(factor));
  return math.MulAdd(half, math.Tanh(math.Mul(x, slope)), half);
}

template <typename Math, typename Value>
Value ComposeSilu(Math& math, Value x) {
  return math.Mul(x, math.Sigmoid(x));
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
      return ComposeSilu(math, x);
    case EpilogueOp::kGelu:
      return ComposeGelu(math, x);
    case EpilogueOp::kGeluTanh:
      return ComposeGeluTanh(math, x);
    case EpilogueOp::kLeakyRelu:
      return ComposeLeakyRelu(math, x, y);
    default:
      break;
  }
  KIRSCH_CHECK(false && "not a function");
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_COMPOSED_FUNCTIONS_H_
