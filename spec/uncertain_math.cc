#include "spec/uncertain_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spec/scalar_meaning.h"
#include "spec/vector_math.h"

namespace kirsch {
namespace {

constexpr double kUnit = 0x1p-24;  // of f32: half the distance of 1 and the next number
constexpr double kSubnormal = 0x1p-149;

// A result of f32 that may be wrong by `ulps` beside what its arguments' errors make of it.
Uncertain WithUlps(double value, double error, double ulps) {
  // An argument that may as well be infinite leaves infinities open, too: they may cancel.
  if (!std::isfinite(value)) return {value, std::isinf(error) ? HUGE_VAL : 0};
  // What no f32 holds: whatever comes of it is as good as any.
  if (std::abs(value) + error > std::numeric_limits<float>::max()) return {value, HUGE_VAL};
  return {value, error + 2 * ulps * kUnit * (std::abs(value) + error) + ulps * kSubnormal};
}

Uncertain Rounded(double value, double error) { return WithUlps(value, error, 1); }

// Of a function that grows with its argument.
Uncertain Growing(RowOp op, Uncertain a) {
  const double value = ScalarMeaning(op, a.value);
  const double error =
      std::max(ScalarMeaning(op, a.value + a.error) - value, value - ScalarMeaning(op, a.value - a.error));
  return WithUlps(value, error, UlpBound(op));
}

// Of x * sigmoid(x) and the like, which turn between -2 and 0, and whose slope is 1.13 at most.
Uncertain Activated(RowOp op, Uncertain a) {
  const double value = ScalarMeaning(op, a.value), least = a.value - a.error, most = a.value + a.error;
  const bool turns = least < 0 && most > -2;
  const double error = turns ? 1.13 * a.error
                             : std::max(std::abs(ScalarMeaning(op, most) - value),
                                        std::abs(ScalarMeaning(op, least) - value));
  return WithUlps(value, error, UlpBound(op, a.value));
}

}  // namespace

Uncertain RoundedToFloat(Uncertain x) { return Rounded(x.value, x.error); }
Uncertain Add(Uncertain a, Uncertain b) { return Rounded(a.value + b.value, a.error + b.error); }
Uncertain Sub(Uncertain a, Uncertain b) { return Rounded(a.value - b.value, a.error + b.error); }

Uncertain Mul(Uncertain a, Uncertain b) {
  const double error = std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error;
  return Rounded(a.value * b.value, error);
}

Uncertain Div(Uncertain a, Uncertain b) {
  const double value = a.value / b.value, least = std::abs(b.value) - b.error;
  if (!(least > 0)) return {value, std::isfinite(value) ? HUGE_VAL : 0};
  return Rounded(value, (a.error + std::abs(value) * b.error) / least);
}

Uncertain Max(Uncertain a, Uncertain b) {
  return {a.value > b.value ? a.value : b.value, std::max(a.error, b.error)};
}
Uncertain Min(Uncertain a, Uncertain b) {
  return {a.value < b.value ? a.value : b.value, std::max(a.error, b.error)};
}
Uncertain Neg(Uncertain a) { return {-a.value, a.error}; }

Uncertain Sqrt(Uncertain a) {
  const auto root = [&](double x) { return std::sqrt(a.value < 0 ? x : std::max(x, 0.0)); };
  const double value = root(a.value);
  return Rounded(value, std::max(root(a.value + a.error) - value, value - root(a.value - a.error)));
}
Uncertain Exp(Uncertain a) { return Growing(RowOp::kExp, a); }
Uncertain Tanh(Uncertain a) { return Growing(RowOp::kTanh, a); }
Uncertain Erf(Uncertain a) { return Growing(RowOp::kErf, a); }
Uncertain Sigmoid(Uncertain a) { return Growing(RowOp::kSigmoid, a); }

Uncertain LeakyRelu(Uncertain a, Uncertain slope) { return Add(Max(a, {}), Mul(Min(a, {}), slope)); }
Uncertain Gelu(Uncertain a) { return Activated(RowOp::kGelu, a); }
Uncertain GeluTanh(Uncertain a) { return Activated(RowOp::kGeluTanh, a); }
Uncertain Silu(Uncertain a) { return Activated(RowOp::kSilu, a); }

Uncertain SumOf(double sum, double magnitude, double error, double terms) {
  if (magnitude > std::numeric_limits<float>::max()) return {sum, HUGE_VAL};  // parts of it may be infinite
  return Rounded(sum, error + 2 * terms * kUnit * (magnitude + error));
}

Uncertain StoredAsElement(Dtype dtype, Uncertain x) {
  if (dtype == Dtype::kF32) return x;
  if (!IsFloating(dtype)) {
    const auto least = static_cast<double>(LeastOf(dtype));
    if (std::isnan(x.value)) return {least, x.error};
    return {std::clamp(std::nearbyint(x.value), least, static_cast<double>(MostOf(dtype))),
            std::floor(x.error + 1)};
  }
  const int mantissa = Info(dtype).mantissa;
  const double subnormals = std::ldexp(1, 1 - BiasOf(dtype) - mantissa);  // how far apart they are
  return {x.value, x.error + std::ldexp(std::abs(x.value) + x.error, -mantissa - 1) + subnormals};
}

}  // namespace kirsch
