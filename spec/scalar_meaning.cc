#include "spec/scalar_meaning.h"

#include <cmath>

#include "spec/check.h"

namespace kirsch {
namespace {

// a * sigmoid(u), u having the sign of a.
double TimesSigmoid(double a, double u) { return u < -700 ? -0.0 : a / (1 + std::exp(-u)); }

}  // namespace

double ScalarMeaning(RowOp op, double a, double b) {
  switch (op) {
    case RowOp::kAdd:
      return a + b;
    case RowOp::kSub:
      return a - b;
    case RowOp::kMul:
      return a * b;
    case RowOp::kDiv:
      return a / b;
    case RowOp::kMax:
      return a > b ? a : b;
    case RowOp::kMin:
      return a < b ? a : b;
    case RowOp::kNeg:
      return -a;
    case RowOp::kSqrt:
      return std::sqrt(a);
    case RowOp::kExp:
      return std::exp(a);
    case RowOp::kTanh:
      return std::tanh(a);
    case RowOp::kErf:
      return std::erf(a);
    case RowOp::kSigmoid:
      return 1 / (1 + std::exp(-a));
    case RowOp::kAbs:
      return std::abs(a);
    case RowOp::kGelu:  // a times the share of a normal distribution below it
      return a < -50 ? -0.0 : a / 2 * std::erfc(-a / std::sqrt(2.0));
    case RowOp::kGeluTanh:
      return TimesSigmoid(a, std::sqrt(8 / M_PI) * (a + 0.044715 * a * a * a));
    case RowOp::kSilu:
      return TimesSigmoid(a, a);
    default:
      break;
  }
  KIRSCH_CHECK(false && "no operation on elements");
}

}  // namespace kirsch
