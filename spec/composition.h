// SPDX-License-Identifier: Apache-2.0
// Composes operations on numbers of what vectors have, in an algebra that is a parameter: one emits
// instructions, one counts them, one adds up roundings. So an operation's code, cost and error bound come
// from one definition. Parts that several operations share are here; the others are in spec/operation.h.
//
// An algebra `Math` has `Value` and
//   IsWide(): whether values are f64s; else they are f32s
//   Number(number): rounded to the type of values
//   Add, Sub, Mul, Div, Sqrt: rounded once
//   Max(a, b): a > b ? a : b, so b where either is a NaN; Min likewise
//   EitherNan(a, b): a NaN where either is one, else both, which are the same
//   Fma(a, b, c): a * b + c, FmaSub: a * b - c, FmaNeg: c - a * b, rounded once
//   Product(a, b): a `Split`: `high` is a * b rounded once, `low` is exactly the rest
//   Sum(a, b): likewise of a + b
//   Ratio(a, b): a `Split` of a over b, which is a Split; what it is off is small beside a rounding of `low`
//   Corrected(x, a, b): x, which its composition has made as near to a / b as a few roundings
//   Abs, MinusAbs, Negative; WithSignOf(x, magnitude)
//   Rounded(x, rounding): to an integer, exactly; infinities and the sign of zeros stay
//   Select(comparison, x, y, a, b): a where the comparison of x and y holds, else b
//   RoundedProduct(x, factor, bias): a `Whole`, x * factor rounded to an integer of less than 2^22, as a
//     `value` and as bits to which `bias` is added
//   Scaled(m, whole): m * 2^value, rounded once, whatever comes of it; the bias has to be kScaleBias
//   Parted(x): `Parts` of a positive, finite x = mantissa * 2^exponent, subnormal or not: sqrt(1/2) <=
//     mantissa < sqrt(2); both exact. Of anything else, anything
//   Raised(m, whole): m * 2^(value + bias), m and the result being normal; of a NaN, anything
//
// Polynomials are our own: minimax fits by Remez exchange on a grid of 600 to 1000 points, with the error
// weighted by what an ulp of the function is there. Then coefficients were rounded to f32 one after another,
// the lowest power first, and the others fitted anew each time. How far a fit is off is given in units of
// 2^-24 of the result; of f64, 2^-53, and the fits are by least squares at the nodes of Chebyshev's
// polynomials.
#ifndef KIRSCH_SPEC_COMPOSITION_H_
#define KIRSCH_SPEC_COMPOSITION_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace kirsch {

// Which integer becomes of a number. To nearest: ties to even.
enum class Rounding : uint8_t { kNearest, kDown, kUp };

// Of two numbers. None holds where either is a NaN.
enum class Comparison : uint8_t { kLess, kLessEqual, kEqual };
constexpr bool Holds(Comparison comparison, double x, double y) {
  return comparison == Comparison::kLess ? x < y : comparison == Comparison::kEqual ? x == y : x <= y;
}

// The bias that RoundedProduct adds for `Scaled`.
inline constexpr int kScaleBias = 2 * 127;

// The least mantissa of `Parted`.
inline constexpr float kLeastMantissa = 0x1.6a09e6p-1f;

namespace composition {

// Computes a polynomial by Horner's rule; the coefficient of the highest power comes first.
template <typename Math, typename Value, typename Real, size_t kSize>
Value Polynomial(Math& math, Value x, const std::array<Real, kSize>& coefficients) {
  Value sum = math.Number(coefficients[0]);
  for (size_t i = 1; i < kSize; ++i) sum = math.Fma(sum, x, math.Number(coefficients[i]));
  return sum;
}

inline constexpr float kLog2E = 0x1.715476p+0f;
inline constexpr float kLn2High = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f;

// exp(x) = 1 + x + x^2 * P(x), |x| <= ln(2) / 2, the coefficients of P, then 1 and 1: 0.06.
inline constexpr std::array<float, 7> kExp = {
    0x1.6a3616p-10f, 0x1.123cfap-7f, 0x1.5558a6p-5f, 0x1.55548cp-3f, 0x1.fffffcp-2f, 1, 1};
// Beyond these it is infinity, and zero.
inline constexpr float kMostExp = 89, kLeastExp = -104;

// The numbers of exp in a type of floats.
template <typename Real>
struct ExpNumbers;
template <>
struct ExpNumbers<float> {
  static constexpr float kLog2E = composition::kLog2E, kLn2High = composition::kLn2High,
                         kLn2Low = composition::kLn2Low;
  static constexpr std::array kPolynomial = kExp;
  static constexpr float kMost = kMostExp, kLeast = kLeastExp;
};
template <>
struct ExpNumbers<double> {
  static constexpr double kLog2E = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  static constexpr std::array<double, 12> kPolynomial = {0x1.af6ec0d5b72eep-26,
                                                         0x1.28b10f687dac7p-22,
                                                         0x1.71ddee50ee3eap-19,
                                                         0x1.a01995a378c99p-16,
                                                         0x1.a01a01b450262p-13,
                                                         0x1.6c16c1860df0ep-10,
                                                         0x1.111111110e9e7p-7,
                                                         0x1.555555554fdf2p-5,
                                                         0x1.555555555555cp-3,
                                                         0x1.000000000000cp-1,
                                                         1,
                                                         1};  // 0.05
  static constexpr double kMost = 710, kLeast = -746;
};

// x = exponent * ln(2) + rest. The first of two steps is exact.
template <typename Real = float, typename Math, typename Value>
Value RestOf(Math& math, Value x, Value exponent) {
  using Numbers = ExpNumbers<Real>;
  const Value rest = math.Fma(exponent, math.Number(-Numbers::kLn2High), x);
  return math.Fma(exponent, math.Number(-Numbers::kLn2Low), rest);
}
template <typename Real = float, typename Math, typename Value>
Value ScaledExp(Math& math, Value x) {  // between the bounds, or a NaN
  const auto exponent = math.RoundedProduct(x, ExpNumbers<Real>::kLog2E, kScaleBias);
  const Value rest = RestOf<Real>(math, x, exponent.value);
  return math.Scaled(Polynomial(math, rest, ExpNumbers<Real>::kPolynomial), exponent);
}
// The same of x + low, `low` being small.
template <typename Math, typename Value>
Value ScaledExp(Math& math, Value x, Value low) {
  const auto exponent = math.RoundedProduct(x, kLog2E, kScaleBias);
  const Value rest = math.Add(RestOf(math, x, exponent.value), low);
  return math.Scaled(Polynomial(math, rest, kExp), exponent);
}
template <typename Real, typename Math, typename Value>
Value ExpIn(Math& math, Value x) {
  const Value bounded = math.Max(math.Number(ExpNumbers<Real>::kLeast), x);
  return ScaledExp<Real>(math, math.Min(math.Number(ExpNumbers<Real>::kMost), bounded));
}
template <typename Math, typename Value>
Value Exp(Math& math, Value x) {
  return math.IsWide() ? ExpIn<double>(math, x) : ExpIn<float>(math, x);
}
// exp(x) * 2^bias, which is normal.
template <typename Real = float, typename Math, typename Value>
Value RaisedExp(Math& math, Value x, int bias) {
  const auto exponent = math.RoundedProduct(x, ExpNumbers<Real>::kLog2E, bias);
  const Value rest = RestOf<Real>(math, x, exponent.value);
  return math.Raised(Polynomial(math, rest, ExpNumbers<Real>::kPolynomial), exponent);
}
template <typename Real, typename Math, typename Value>
Value ExpOfNotPositiveIn(Math& math, Value x) {
  return ScaledExp<Real>(math, math.Max(math.Number(ExpNumbers<Real>::kLeast), x));
}
template <typename Math, typename Value>
Value ExpOfNotPositive(Math& math, Value x) {  // or of a NaN
  return math.IsWide() ? ExpOfNotPositiveIn<double>(math, x) : ExpOfNotPositiveIn<float>(math, x);
}

// Results that may be subnormal are computed so many powers of two too large, and rounded once, when they are
// brought down.
inline constexpr int kRaise = 40;
inline constexpr float kLower = 0x1p-40f;

// 1 / x, 1 <= x <= 2: within 1.02 %.
inline constexpr std::array<float, 3> kReciprocal = {0x1.4afd5p-2f, -0x1.745cfap+0f, 0x1.0f83d2p+1f};

// 1 <= denominator <= 2. The reciprocal gets three times as many digits in a step; then the quotient is
// corrected by what it leaves. Faster than to divide, but not in f64.
template <typename Math, typename Value>
Value Quotient(Math& math, Value numerator, Value denominator) {
  if (math.IsWide()) return math.Div(numerator, denominator);
  Value reciprocal = Polynomial(math, denominator, kReciprocal);
  Value error = math.FmaNeg(denominator, reciprocal, math.Number(1));
  const Value factor = math.Fma(error, error, error);
  reciprocal = math.Fma(reciprocal, factor, reciprocal);
  const Value quotient = math.Mul(numerator, reciprocal);
  error = math.FmaNeg(denominator, quotient, numerator);
  return math.Corrected(math.Fma(error, reciprocal, quotient), numerator, denominator);
}

// 1 / (1 + e), or e / (1 + e) if x < 0, with e = exp(-|x|). Where e is 1 both are the same, so that the
// bound need not be 0: compilers would keep the zeros that a microkernel's accumulators begin with until
// here.
template <typename Math, typename Value>
Value Sigmoid(Math& math, Value x) {
  const Value e = ExpOfNotPositive(math, math.MinusAbs(x));
  const Value denominator = math.Add(e, math.Number(1));
  return Quotient(math, math.Select(Comparison::kLess, x, math.Number(-0x1p-60f), e, math.Number(1)),
                  denominator);
}

}  // namespace composition
}  // namespace kirsch

#endif  // KIRSCH_SPEC_COMPOSITION_H_
