// SPDX-License-Identifier: Apache-2.0
#include "spec/uncertain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "spec/element.h"
#include "spec/operation.h"

namespace kirsch {
namespace {

constexpr double kUnit = 0x1p-24;  // of f32: half the distance of 1 and the next number
constexpr double kSubnormal = 0x1p-149;

// Of the type that a kernel computes in, or stores.
constexpr Precision kOfF32 = {kUnit, kSubnormal, std::numeric_limits<float>::max()};
constexpr Precision kOfF64 = {0x1p-53, 0x1p-1074, std::numeric_limits<double>::max()};
Precision In(Dtype type) {
  return type == Dtype::kF32 ? kOfF32 : type == Dtype::kF64 ? kOfF64 : PrecisionOf(type);
}

// A result that may be wrong by `ulps`, besides the error that its arguments' errors make.
Uncertain WithUlps(double value, double error, double ulps, Dtype type) {
  const Precision in = In(type);
  // An argument that may be infinite leaves infinities open, too: they may cancel.
  if (!std::isfinite(value)) return {value, std::isfinite(error) ? 0 : HUGE_VAL};
  // The type holds no such value, so any result is as good. Of 0 times a value that may be infinite, the
  // error is no number.
  if (!(std::abs(value) + error <= in.most)) return {value, HUGE_VAL};
  return {value, error + 2 * ulps * in.unit * (std::abs(value) + error) + ulps * in.least};
}

Uncertain Rounded(double value, double error, Dtype type) { return WithUlps(value, error, 1, type); }

// The algebra of values that may be off, for ComposeArithmetic.
struct UncertainMath {
  Dtype type;
  Uncertain Number(double number) { return {type == Dtype::kF64 ? number : static_cast<float>(number), 0}; }
  Uncertain Add(Uncertain a, Uncertain b) { return kirsch::Add(a, b, type); }
  Uncertain Sub(Uncertain a, Uncertain b) { return kirsch::Sub(a, b, type); }
  Uncertain Mul(Uncertain a, Uncertain b) { return kirsch::Mul(a, b, type); }
  Uncertain Max(Uncertain a, Uncertain b) { return kirsch::Max(a, b); }
  Uncertain Min(Uncertain a, Uncertain b) { return kirsch::Min(a, b); }
  Uncertain EitherNan(Uncertain a, Uncertain b) { return std::isnan(a.value) ? a : b; }
  Uncertain Fma(Uncertain a, Uncertain b, Uncertain c) { return Add(Mul(a, b), c); }
};

// The algebra of integers modulo 2^64, for ComposeArithmetic. Its lower 32 bits are those modulo 2^32.
struct IntegerMath {
  uint64_t Number(double number) { return static_cast<uint64_t>(static_cast<int64_t>(number)); }
  uint64_t Add(uint64_t a, uint64_t b) { return a + b; }
  uint64_t Sub(uint64_t a, uint64_t b) { return a - b; }
  uint64_t Mul(uint64_t a, uint64_t b) { return a * b; }
  uint64_t Max(uint64_t a, uint64_t b) { return static_cast<int64_t>(a) > static_cast<int64_t>(b) ? a : b; }
  uint64_t Min(uint64_t a, uint64_t b) { return static_cast<int64_t>(a) < static_cast<int64_t>(b) ? a : b; }
  uint64_t EitherNan(uint64_t a, uint64_t) { return a; }
  uint64_t Fma(uint64_t a, uint64_t b, uint64_t c) { return a * b + c; }
};

// Counts roundings of f32 as they come, exactly, one after another: an algebra of spec/composition.h.
// Comparisons are those of the values. Close to a threshold, either choice is as good.
class RoundingMath {
 public:
  using Value = Uncertain;
  struct Whole {
    Uncertain value;
    int bias;
  };
  bool IsWide() const { return false; }
  Value Number(double number) { return {static_cast<float>(number), 0}; }
  Value Add(Value a, Value b) { return RoundSum(a.value, b.value, a.error + b.error); }
  Value Sub(Value a, Value b) { return RoundSum(a.value, -b.value, a.error + b.error); }
  Value Mul(Value a, Value b) {
    const double value = a.value * b.value, error = ProductError(a, b);
    return static_cast<float>(value) == value && error == 0 ? Value{value, 0} : Round(value, error);
  }
  Value Div(Value a, Value b) {
    const double value = a.value / b.value;
    return Round(value, (a.error + std::abs(value) * b.error) / (std::abs(b.value) - b.error));
  }
  Value Sqrt(Value a) { return kirsch::Sqrt(a); }
  Value Max(Value a, Value b) {
    if (a.value - a.error > b.value + b.error) return a;
    return b.value - b.error > a.value + a.error ? b : kirsch::Max(a, b);
  }
  Value Min(Value a, Value b) { return Negative(Max(Negative(a), Negative(b))); }
  Value EitherNan(Value a, Value b) { return std::isnan(a.value) ? a : b; }
  // Together the parts are exact.
  struct Split {
    Uncertain high, low;
  };
  Split Product(Value a, Value b) { return {{a.value * b.value, ProductError(a, b)}, {0, 0}}; }
  // `low` is what is lost in double.
  Split Sum(Value a, Value b) {
    const double high = a.value + b.value, of_b = high - a.value;
    return {{high, a.error + b.error}, {a.value - (high - of_b) + (b.value - of_b), 0}};
  }
  // Together the parts have more than 40 bits.
  Split Ratio(Value a, const Split& b) {
    const double divisor = b.high.value + b.low.value, value = a.value / divisor;
    const double error = (a.error + std::abs(value) * (b.high.error + b.low.error)) / std::abs(divisor);
    const double high = static_cast<float>(value);
    return {{high, 0}, {value - high, error + 0x1p-40 * std::abs(value)}};
  }
  struct Parts {
    Uncertain exponent, mantissa;
  };
  // Near an end of the mantissas either of two exponents may be, and the composition is right with both.
  Parts Parted(Value x) {
    int exponent = 0;
    double mantissa = std::frexp(x.value, &exponent);
    if (mantissa < double{kLeastMantissa}) mantissa *= 2, --exponent;
    return {{static_cast<double>(exponent), 0}, {mantissa, std::ldexp(x.error, -exponent)}};
  }
  Value Corrected(Value, Value a, Value b) { return Times(Div(a, b), 2); }
  Value Fma(Value a, Value b, Value c) {
    return RoundSum(a.value * b.value, c.value, ProductError(a, b) + c.error);
  }
  Value FmaSub(Value a, Value b, Value c) { return Fma(a, b, Negative(c)); }
  Value FmaNeg(Value a, Value b, Value c) { return Fma(Negative(a), b, c); }
  Value Abs(Value a) { return {std::abs(a.value), a.error}; }
  Value MinusAbs(Value a) { return {-std::abs(a.value), a.error}; }
  Value Negative(Value a) { return {-a.value, a.error}; }
  Value Rounded(Value a, Rounding rounding) {
    const double value = rounding == Rounding::kDown ? std::floor(a.value)
                         : rounding == Rounding::kUp ? std::ceil(a.value)
                                                     : std::nearbyint(a.value);
    return {value, a.error == 0 ? 0 : a.error + 1};
  }
  Value WithSignOf(Value x, Value magnitude) {
    return {std::copysign(magnitude.value, x.value), magnitude.error};
  }
  Value Select(Comparison comparison, Value x, Value y, Value a, Value b) {
    return Holds(comparison, x.value, y.value) ? a : b;
  }
  // A value near the middle of two integers may become either, and the composition is right with both.
  Whole RoundedProduct(Value x, double factor, int bias) {
    return {{std::nearbyint(x.value * factor), 0}, bias};
  }
  Value Scaled(Value mantissa, const Whole& whole) {
    const double power = std::exp2(whole.value.value);
    return Round(mantissa.value * power, mantissa.error * power);
  }
  Value Raised(Value mantissa, const Whole& whole) {
    const double power = std::exp2(whole.value.value + whole.bias);
    return {mantissa.value * power, mantissa.error * power};
  }

 private:
  static double ProductError(Value a, Value b) {
    if (a.error == 0 && b.error == 0) return 0;  // also of infinities
    return std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error;
  }
  // A sum that is an f32 is not rounded, if it is exact in double.
  static Value RoundSum(double a, double b, double error) {
    const double sum = a + b;
    const bool is_exact = error == 0 && sum - a == b && sum - b == a;
    return is_exact && static_cast<float>(sum) == sum ? Value{sum, 0} : Round(sum, error);
  }
  // Adds the error of so many roundings in all.
  static Value Times(Value x, double roundings) {
    return {x.value, x.error + (roundings - 1) * kUnit * (std::abs(x.value) + x.error)};
  }
  static Value Round(double value, double error) {
    if (value == 0 && error == 0) return {0, 0};
    return {value, error + kUnit * (std::abs(value) + error) + kSubnormal / 2};
  }
};

// Both arguments, each off to either side by this share of its error.
std::array<std::pair<double, double>, 4> CornersOf(Uncertain x, Uncertain y, double share) {
  const double a = share * x.error, b = share * y.error;
  return {{{x.value - a, y.value - b},
           {x.value - a, y.value + b},
           {x.value + a, y.value - b},
           {x.value + a, y.value + b}}};
}

// The error that a function has because its arguments are off. The function may turn within the interval, so
// it is looked at in two places, between which it may go on a little.
double SpreadOf(Operation op, Uncertain x, Uncertain y, double value) {
  const double error = x.error + y.error;
  if (error == 0 || std::isinf(error)) return error;
  // Waves turn more often, but are nowhere steeper than their argument.
  if (IsWave(op)) return std::abs(x.value) + x.error < kMostSine ? std::min(x.error, 2.0) : HUGE_VAL;
  const auto off = [&](double share) {
    double most = 0;
    for (const auto& [a, b] : CornersOf(x, y, share)) {
      const double by = std::abs(Info(op).meaning(a, b) - value);
      most = std::isnan(by) ? HUGE_VAL : std::max(most, by);
    }
    return most;
  };
  return std::max(off(1), 1.25 * off(0.5));
}

// True if a function's value, which is infinite or none, is the same wherever its arguments may be. It is if
// it is the same at the ends: a function has such values beyond some number.
bool IsCertain(Operation op, Uncertain x, Uncertain y, double value) {
  const double error = x.error + y.error;
  if (error == 0 || std::isinf(error)) return error == 0;
  const auto corners = CornersOf(x, y, 1);
  return std::ranges::all_of(corners, [&](const auto& corner) {
    const double other = Info(op).meaning(corner.first, corner.second);
    return std::isnan(value) ? std::isnan(other) : other == value;
  });
}

// A function that only rises and is exact. Between the ends of its argument it has values between those at
// the ends.
Uncertain OnStaircase(Operation op, Uncertain x) {
  const auto at = [&](double by) { return Info(op).meaning(x.value + by, 0); };
  const double value = at(0);
  if (!std::isfinite(value) || !std::isfinite(x.error)) return WithUlps(value, x.error, 0, Dtype::kF64);
  return {value, std::max(at(x.error) - value, value - at(-x.error))};
}

// 1 or 0, and anything between where the arguments may be on either side of each other. Those that are not
// finite are so whatever their error, unless it may be anything.
Uncertain Compare(Operation op, Uncertain x, Uncertain y) {
  const double error = x.error + y.error, apart = std::abs(x.value - y.value);
  const bool certain = error == 0 || (std::isfinite(error) && !(apart <= error));
  return {Info(op).meaning(x.value, y.value), certain ? 0.0 : 1.0};
}

// One of two values, or either where the condition may be 0 or not.
Uncertain Select(Uncertain condition, Uncertain x, Uncertain y) {
  const bool first = condition.value != 0;
  const Uncertain chosen = first ? x : y, other = first ? y : x;
  if (condition.error == 0 || std::abs(condition.value) > condition.error) return chosen;
  if (chosen.value == other.value) return {chosen.value, std::max(chosen.error, other.error)};
  const double error = std::max(chosen.error, std::abs(chosen.value - other.value) + other.error);
  return {chosen.value, std::isnan(error) ? HUGE_VAL : error};
}

}  // namespace

Uncertain RoundedToFloat(Uncertain x, Dtype type) { return Rounded(x.value, x.error, type); }
Uncertain Add(Uncertain a, Uncertain b, Dtype type) {
  return Rounded(a.value + b.value, a.error + b.error, type);
}
Uncertain Sub(Uncertain a, Uncertain b, Dtype type) {
  return Rounded(a.value - b.value, a.error + b.error, type);
}

Uncertain Mul(Uncertain a, Uncertain b, Dtype type) {
  const double error = std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error;
  return Rounded(a.value * b.value, error, type);
}

Uncertain Div(Uncertain a, Uncertain b, Dtype type) {
  const double value = a.value / b.value, least = std::abs(b.value) - b.error;
  // Division by a zero makes an infinity of anything else, and a NaN of a zero.
  const bool certain = !std::isfinite(value) && (std::isnan(value) || std::abs(a.value) > a.error);
  if (!(least > 0)) return {value, certain ? 0 : HUGE_VAL};
  return Rounded(value, (a.error + std::abs(value) * b.error) / least, type);
}

Uncertain Max(Uncertain a, Uncertain b) {
  return {a.value > b.value ? a.value : b.value, std::max(a.error, b.error)};
}
Uncertain Min(Uncertain a, Uncertain b) {
  return {a.value < b.value ? a.value : b.value, std::max(a.error, b.error)};
}
Uncertain Neg(Uncertain a) { return {-a.value, a.error}; }

Uncertain Sqrt(Uncertain a, Dtype type) {
  if (a.value + a.error < 0) return {NAN, 0};
  const auto root = [&](double x) { return std::sqrt(a.value < 0 ? x : std::max(x, 0.0)); };
  const double value = root(a.value);
  return Rounded(value, std::max(root(a.value + a.error) - value, value - root(a.value - a.error)), type);
}

// The exact result. The error is what its composition in exact arithmetic, the roundings of that, and the
// argument's error make of it.
Uncertain FunctionOf(Operation op, Uncertain x, Uncertain y, Dtype type) {
  const double value = Info(op).meaning(x.value, y.value);
  if (!std::isfinite(value)) return {value, IsCertain(op, x, y, value) ? 0 : HUGE_VAL};
  // The meaning is computed in double, too, and has roundings of its own.
  constexpr double kOwnUlps = 2;
  if (type == Dtype::kF64) return WithUlps(value, SpreadOf(op, x, y, value), Info(op).ulps + kOwnUlps, type);
  RoundingMath math;
  const Uncertain composed = Compose(math, op, Uncertain{x.value, 0}, Uncertain{y.value, 0});
  const double error = std::abs(composed.value - value) + composed.error;
  return WithUlps(value, (std::isnan(error) ? HUGE_VAL : error) + SpreadOf(op, x, y, value), 0, type);
}

Uncertain ApplyOperation(Operation op, Uncertain x, Uncertain y, Uncertain z, Dtype type) {
  if (Info(op).latency == LatencyClass::kFunction) return FunctionOf(op, x, y, type);
  if (op == Operation::kDiv) return Div(x, y, type);
  if (op == Operation::kNeg) return Neg(x);
  if (op == Operation::kSqrt) return Sqrt(x, type);
  if (op == Operation::kAbs) return {std::abs(x.value), x.error};
  if (IsStaircase(op)) return OnStaircase(op, x);
  if (IsComparison(op)) return Compare(op, x, y);
  if (op == Operation::kSelect) return Select(x, y, z);
  UncertainMath math{type};
  return ComposeArithmetic(math, op, x, y);
}

// Between the ends of its arguments, an operation has values between those at the ends.
Uncertain ApplyToIntegers(Operation op, Uncertain x, Uncertain y) {
  IntegerMath math;
  const auto integer = [](double number) { return static_cast<uint64_t>(static_cast<int64_t>(number)); };
  const uint64_t result = ComposeArithmetic(math, op, integer(x.value), integer(y.value));
  const auto exact = static_cast<double>(static_cast<int32_t>(static_cast<uint32_t>(result)));
  if (x.error == 0 && y.error == 0) return {exact, 0};
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (double a : {x.value - x.error, x.value + x.error})
    for (double b : {y.value - y.error, y.value + y.error}) {
      low = std::min(low, Info(op).meaning(a, b));
      high = std::max(high, Info(op).meaning(a, b));
    }
  return IntegerBetween(exact, low, high);
}

Uncertain IntegerBetween(double value, double low, double high) {
  const bool wraps = !(low <= high && low >= static_cast<double>(LeastOf(Dtype::kS32)) &&
                       high <= static_cast<double>(MostOf(Dtype::kS32)));
  return {value, wraps ? HUGE_VAL : std::max(high - value, value - low)};
}

Uncertain SumOf(double sum, double magnitude, double error, double terms, Dtype type) {
  const Precision in = In(type);
  if (magnitude > in.most) return {sum, HUGE_VAL};  // parts of it may be infinite
  return Rounded(sum, error + 2 * terms * in.unit * (magnitude + error), type);
}

Uncertain InRange(Uncertain x, Dtype type) {
  if (std::isinf(x.value) && x.error == 0) return x;  // a parameter's
  return std::abs(x.value) + x.error > In(type).most ? Uncertain{x.value, HUGE_VAL} : x;
}

Uncertain StoredAsElement(Dtype dtype, Uncertain x) {
  if (dtype == Dtype::kF32 || dtype == Dtype::kF64) return InRange(x, dtype);
  if (!IsFloating(dtype)) {
    const auto least = static_cast<double>(LeastOf(dtype)), most = static_cast<double>(MostOf(dtype));
    if (std::isnan(x.value)) return {least, x.error};
    if (std::isinf(x.error)) return {std::clamp(std::nearbyint(x.value), least, most), HUGE_VAL};
    const auto stored = [&](double value) { return std::clamp(std::nearbyint(value), least, most); };
    const double value = stored(x.value);
    return {value, std::max(stored(x.value + x.error) - value, value - stored(x.value - x.error))};
  }
  const int mantissa = Info(dtype).mantissa;
  const double most = std::ldexp(2 - std::ldexp(1, -mantissa), BiasOf(dtype));
  if (std::abs(x.value) + x.error > most) return {x.value, HUGE_VAL};     // it may be infinite
  const double subnormals = std::ldexp(1, 1 - BiasOf(dtype) - mantissa);  // how far apart they are
  return {x.value, x.error + std::ldexp(std::abs(x.value) + x.error, -mantissa - 1) + subnormals};
}

}  // namespace kirsch
