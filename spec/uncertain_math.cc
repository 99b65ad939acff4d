#include "spec/uncertain_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
template <typename Function>
Uncertain Growing(Uncertain a, double ulps, const Function& function) {
  const double value = function(a.value);
  const double error = std::max(function(a.value + a.error) - value, value - function(a.value - a.error));
  return WithUlps(value, error, ulps);
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
  return Growing(a, 1, [&](double x) { return std::sqrt(a.value < 0 ? x : std::max(x, 0.0)); });
}
Uncertain Exp(Uncertain a) {
  return Growing(a, UlpBound(RowOp::kExp), [](double x) { return std::exp(x); });
}
Uncertain Tanh(Uncertain a) {
  return Growing(a, UlpBound(RowOp::kTanh), [](double x) { return std::tanh(x); });
}
Uncertain Erf(Uncertain a) {
  return Growing(a, UlpBound(RowOp::kErf), [](double x) { return std::erf(x); });
}
Uncertain Sigmoid(Uncertain a) {
  return Growing(a, UlpBound(RowOp::kSigmoid), [](double x) { return 1 / (1 + std::exp(-x)); });
}

Uncertain LeakyRelu(Uncertain a, Uncertain slope) { return Add(Max(a, {}), Mul(Min(a, {}), slope)); }
Uncertain Gelu(Uncertain a) {
  return Mul(Mul(a, {0.5, 0}), Add({1, 0}, Erf(Mul(a, RoundedToFloat({1 / std::sqrt(2.0), 0})))));
}
Uncertain GeluTanh(Uncertain a) {
  const Uncertain cube = Mul(Mul(Mul(a, a), a), RoundedToFloat({0.044715, 0}));
  const Uncertain inner = Mul(RoundedToFloat({std::sqrt(2 / M_PI), 0}), Add(a, cube));
  return Mul(Mul(a, {0.5, 0}), Add({1, 0}, Tanh(inner)));
}
Uncertain Silu(Uncertain a) { return Mul(a, Sigmoid(a)); }

Uncertain SumOf(double sum, double magnitude, double error, double terms) {
  if (magnitude > std::numeric_limits<float>::max()) return {sum, HUGE_VAL};  // parts of it may be infinite
  return Rounded(sum, error + 2 * terms * kUnit * (magnitude + error));
}

Uncertain StoredAsElement(Dtype dtype, Uncertain x) {
  if (dtype == Dtype::kF32) return x;
  if (!IsFloating(dtype))
    return {std::clamp(std::nearbyint(x.value), static_cast<double>(LeastOf(dtype)),
                       static_cast<double>(MostOf(dtype))),
            std::floor(x.error + 1)};
  const int mantissa = Info(dtype).mantissa;
  const double subnormals = std::ldexp(1, 1 - BiasOf(dtype) - mantissa);  // how far apart they are
  return {x.value, x.error + std::ldexp(std::abs(x.value) + x.error, -mantissa - 1) + subnormals};
}

}  // namespace kirsch
