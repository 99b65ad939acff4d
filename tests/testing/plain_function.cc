// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/plain_function.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "spec/check.h"
#include "spec/language/functions.h"

namespace kirsch::testing {
namespace {

constexpr double kFunctionUlps = 4;

using Function = std::function<double(double)>;

// x times something between 0 and 1: a function that falls, and from `dip` on rises.
struct Gate {
  double (*function)(double);
  double dip;
};

// Between -4 and 0, by thirds.
double DipOf(double (*function)(double)) {
  double low = -4, high = 0;
  for (int i = 0; i < 200; ++i) {
    const double left = low + (high - low) / 3, right = high - (high - low) / 3;
    if (function(left) < function(right))
      high = right;
    else
      low = left;
  }
  return low;
}

double Gelu(double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); }
// 1 + tanh(y) = 2 / (1 + exp(-2 y))
double GeluTanh(double x) {
  return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double Silu(double x) { return x / (1 + std::exp(-x)); }

double Hardswish(double x) { return x < -3 ? 0 : x * std::min(x + 3, 6.0) / 6; }

// 1 or 0; both where the arguments may be on either side of each other.
Bounds Comparison(std::string_view op, const Bounds& a, const Bounds& b) {
  if (IsAnything(a) || IsAnything(b)) return {0, 1};
  const bool apart = a.high < b.low || b.high < a.low;
  if (op == "equal") return apart ? Exactly(0) : IsExact(a) && IsExact(b) ? Exactly(1) : Bounds{0, 1};
  const bool equal_is_less = op == "less_equal";
  if (equal_is_less ? a.high <= b.low : a.high < b.low) return Exactly(1);
  return (equal_is_less ? b.high < a.low : b.high <= a.low) ? Exactly(0) : Bounds{0, 1};
}

Bounds Magnitude(const Bounds& x) {
  const bool has_zero = x.low <= 0 && x.high >= 0;
  return {has_zero ? 0 : std::min(std::abs(x.low), std::abs(x.high)), MagnitudeOf(x)};
}

double Sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
// To nearest: a tie is halfway between two, and goes to the even one.
double NearestInteger(double x) { return x - std::remainder(x, 1); }

// What functions make of numbers of a type, f32 or f64.
class Functions {
 public:
  explicit Functions(const PlainType& type) : type_(type) {}

  Bounds Of(std::string_view op, const Bounds& a, const Bounds& b, double option) const {
    if (op == "add" || op == "sub" || op == "mul" || op == "div" || op.starts_with("max") ||
        op.starts_with("min"))
      return Arithmetic(op, a, b);
    if (op == "equal" || op.starts_with("less")) return Comparison(op, a, b);
    if (op == "pow") return Power(a, b);
    if (IsAnything(a)) return a;
    if (op == "neg") return {-a.high, -a.low};
    if (op == "relu") return {std::max(a.low, 0.0), std::max(a.high, 0.0)};
    if (op == "sqrt") return Root(a);
    if (op == "rsqrt") return Quotient(Exactly(1), Root(a));
    if (op == "abs") return Magnitude(a);
    if (op == "sin") return Wave(a, std::sin);
    if (op == "cos") return Wave(a, std::cos);
    static const std::map<std::string_view, double (*)(double)> kStaircases = {
        {"floor", std::floor}, {"ceil", std::ceil}, {"round", NearestInteger}, {"sign", Sign}};
    if (const auto found = kStaircases.find(op); found != kStaircases.end())
      return {found->second(a.low), found->second(a.high)};
    if (op == "leaky_relu") return Bent(a, [&](double x) { return x > 0 ? x : option * x; }, 2);
    if (op == "elu")
      return Bent(a, [&](double x) { return x > 0 ? x : option * std::expm1(x); }, kFunctionUlps);
    static const std::map<std::string_view, double (*)(double)> kMonotone = {
        {"exp", std::exp},
        {"tanh", std::tanh},
        {"erf", std::erf},
        {"log", std::log},
        {"log1p", std::log1p},
        {"expm1", std::expm1},
        {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
        {"softplus", [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }}};
    if (const auto found = kMonotone.find(op); found != kMonotone.end()) return Monotone(a, found->second);
    static const std::map<std::string_view, Gate> kGated = {{"gelu", {Gelu, DipOf(Gelu)}},
                                                            {"gelu_tanh", {GeluTanh, DipOf(GeluTanh)}},
                                                            {"silu", {Silu, DipOf(Silu)}},
                                                            {"hardswish", {Hardswish, DipOf(Hardswish)}}};
    const auto found = kGated.find(op);
    return found != kGated.end() ? Gated(a, found->second) : ByItsRow(op, a, option);
  }

  std::vector<Bounds> Softmax(const std::vector<Bounds>& row) const {
    Bounds most = row.front();
    for (const Bounds& x : row) most = Of("max", most, x, 0);
    // However many times a row's greatest element so far changes, each makes a product of all before.
    const double ulps = kFunctionUlps + 2 * static_cast<double>(row.size());
    std::vector<Bounds> powers;
    for (const Bounds& x : row) {
      const Bounds distance = Of("sub", x, most, 0);
      if (IsAnything(distance)) return std::vector<Bounds>(row.size(), Anything());
      powers.push_back(Widened(std::exp(distance.low), std::exp(std::min(distance.high, 0.0)), ulps, tiny()));
    }
    const Bounds sum = SumOf(powers);
    for (Bounds& power : powers) power = Of("div", power, sum, 0);
    return powers;
  }

  std::vector<Bounds> Normalized(std::vector<Bounds> row, bool centred, double eps) const {
    if (centred) {
      const Bounds mean = Mean(row);
      for (Bounds& x : row) x = Of("sub", x, mean, 0);
    }
    std::vector<Bounds> squares;
    for (const Bounds& x : row) squares.push_back(IsAnything(x) ? x : Square(x));
    Bounds mean = Mean(squares);
    mean.low = std::max(mean.low, 0.0);  // no sum of squares is less
    const Bounds deviation = Of("sqrt", Of("add", mean, Exactly(eps), 0), {}, 0);
    for (Bounds& x : row) x = Of("div", x, deviation, 0);
    return row;
  }

 private:
  // The smallest normal number: what a function may lose below its range.
  double tiny() const { return std::ldexp(1, type_.least_exponent); }
  // Some functions lose all of their result's relative accuracy where it is small beside the argument.
  double argument_share() const { return 2 * UlpOf(type_); }
  Bounds Widened(double low, double high, double ulps, double absolute = 0) const {
    return testing::Widened(low, high, ulps, absolute, type_);
  }
  Bounds SumOf(const std::vector<Bounds>& terms) const { return testing::SumOf(terms, type_); }

  // Of functions that never turn.
  Bounds Monotone(const Bounds& x, const Function& function, double ulps = kFunctionUlps) const {
    const double a = function(x.low), b = function(x.high);
    return Widened(std::min(a, b), std::max(a, b), ulps, tiny());
  }

  Bounds Gated(const Bounds& x, const Gate& gate) const {
    const double a = gate.function(x.low), b = gate.function(x.high);
    const double low = x.low < gate.dip && gate.dip < x.high ? gate.function(gate.dip) : std::min(a, b);
    return Widened(low, std::max(a, b), 2 * kFunctionUlps, argument_share() * MagnitudeOf(x) + tiny());
  }

  // Of functions that may turn at 0, where they are 0.
  Bounds Bent(const Bounds& x, const Function& function, double ulps) const {
    Bounds bent = Monotone(x, function, ulps);
    if (x.low < 0 && x.high > 0) bent = {std::min(bent.low, 0.0), std::max(bent.high, 0.0)};
    return bent;
  }

  Bounds Quotient(const Bounds& a, const Bounds& b) const {
    if (IsAnything(b) || (b.low <= 0 && b.high >= 0)) return Anything();
    const Bounds exact = AtCorners(a, b, std::divides<>());
    return Widened(exact.low, exact.high, 2);
  }

  Bounds Arithmetic(std::string_view op, const Bounds& a, const Bounds& b) const {
    if (op == "div") return Quotient(a, b);
    if (op.starts_with("max")) return AtCorners(a, b, [](double x, double y) { return std::max(x, y); });
    if (op.starts_with("min")) return AtCorners(a, b, [](double x, double y) { return std::min(x, y); });
    const Bounds exact = op == "add"   ? AtCorners(a, b, std::plus<>())
                         : op == "sub" ? AtCorners(a, b, std::minus<>())
                                       : AtCorners(a, b, std::multiplies<>());
    return Widened(exact.low, exact.high, 1);
  }

  // Of a function of the table that this file has no definition of its own for: what the row says it means,
  // at steps from end to end. Between two of them it is taken to turn by no more than it changes from one to
  // the next.
  Bounds ByItsRow(std::string_view op, const Bounds& x, double option) const {
    const OperationInfo* const info = FindFunction(op);
    KIRSCH_CHECK(info != nullptr && info->meaning != nullptr);
    constexpr int kSteps = 64;
    double low = info->meaning(x.low, option), high = low, before = low, change = 0;
    for (int i = 1; i <= kSteps; ++i) {
      const double now = info->meaning(x.low + (x.high - x.low) * i / kSteps, option);
      low = std::min(low, now), high = std::max(high, now);
      change = std::max(change, std::abs(now - before));
      before = now;
    }
    return Widened(low - change, high + change, kFunctionUlps, argument_share() * MagnitudeOf(x) + tiny());
  }

  Bounds Square(const Bounds& x) const {
    const double most = MagnitudeOf(x);
    const double least = x.low <= 0 && x.high >= 0 ? 0 : std::min(std::abs(x.low), std::abs(x.high));
    return Widened(least * least, most * most, 1);
  }

  Bounds Root(const Bounds& x) const {
    if (!(x.low >= 0)) return Anything();
    return Monotone(x, [](double y) { return std::sqrt(y); }, 2);
  }

  // Of functions that are nowhere steeper than their argument, and between -1 and 1.
  Bounds Wave(const Bounds& x, double (*function)(double)) const {
    if (!(MagnitudeOf(x) < 0x1p20)) return Anything();
    const double middle = function((x.low + x.high) / 2), off = (x.high - x.low) / 2;
    return Widened(std::max(middle - off, -1.0), std::min(middle + off, 1.0), kFunctionUlps, tiny());
  }

  // Of positive numbers it rises or falls with each argument. Others have powers that are exactly known only.
  Bounds Power(const Bounds& a, const Bounds& b) const {
    if (IsAnything(a) || IsAnything(b) || !(a.low > 0 || (IsExact(a) && IsExact(b)))) return Anything();
    const Bounds exact = AtCorners(a, b, [](double x, double y) { return std::pow(x, y); });
    return Widened(exact.low, exact.high, 2 * kFunctionUlps, tiny());
  }

  Bounds Mean(const std::vector<Bounds>& row) const {
    const Bounds sum = SumOf(row);
    const auto count = static_cast<double>(row.size());
    return Widened(sum.low / count, sum.high / count, 2);
  }

  const PlainType& type_;
};

}  // namespace

Bounds PlainFunction(std::string_view op, const Bounds& a, const Bounds& b, double option,
                     const PlainType& type) {
  return Functions(type).Of(op, a, b, option);
}

Bounds PlainSelect(const Bounds& condition, const Bounds& a, const Bounds& b) {
  if (!IsAnything(condition)) {
    if (condition.low > 0 || condition.high < 0) return a;
    if (IsExact(condition)) return b;
  }
  if (IsAnything(a) || IsAnything(b)) return Anything();
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

std::vector<Bounds> PlainSoftmax(const std::vector<Bounds>& row, const PlainType& type) {
  return Functions(type).Softmax(row);
}

std::vector<Bounds> PlainNormalized(std::vector<Bounds> row, bool centred, double eps,
                                    const PlainType& type) {
  return Functions(type).Normalized(std::move(row), centred, eps);
}

}  // namespace kirsch::testing
