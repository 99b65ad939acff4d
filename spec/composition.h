// What operations of numbers are made of, each written once, in an algebra of vectors that is a parameter:
// one emits instructions, one counts them, one adds up roundings.
//
// An algebra `Math` has `Value` and
//   Number(f32)
//   Add, Sub, Mul, Div, Sqrt: rounded once; Max(a, b): a > b ? a : b, so b where either is a NaN; Min
//   likewise Fma(a, b, c): a * b + c, FmaSub: a * b - c, FmaNeg: c - a * b, rounded once Product(a, b): a
//   `Split`, its `high` part a * b rounded once, its `low` part what that leaves over, exactly Corrected(x,
//   a, b): x, which is known to be as near to a / b as a few roundings, as all it is made of makes up
//     for its errors
//   Abs, MinusAbs, Negative; WithSignOf(x, magnitude)
//   Select(x, y, a, b): x < y ? a : b
//   RoundedProduct(x, factor, bias): a `Whole`, x * factor rounded to an integer of less than 2^22, as a
//   `value`
//     and as bits to which `bias` is added
//   Scaled(m, whole): m * 2^value, rounded once, whatever comes of it; the bias has to be kScaleBias
//   Raised(m, whole): m * 2^(value + bias), m and the result being normal; of a NaN, anything
//
// Polynomials are our own: minimax fits by Remez exchange on a grid of 600 to 1000 points, with the error
// weighted by what an ulp of the function is there; then coefficients were rounded to f32 one after another,
// the lowest power first, and the others fitted anew each time. What a fit is off is given in units of 2^-24
// of the result.
#ifndef KIRSCH_SPEC_COMPOSITION_H_
#define KIRSCH_SPEC_COMPOSITION_H_

#include <array>
#include <cstddef>

#include "spec/check.h"
#include "spec/row_program.h"

namespace kirsch {

namespace composition {

inline constexpr float kLog2E = 0x1.715476p+0f;
inline constexpr float kLn2High = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f;

// exp(x) = 1 + x + x^2 * P(x), |x| <= ln(2) / 2, P's constant last: 0.06.
inline constexpr std::array<float, 7> kExp = {
    0x1.6a3616p-10f, 0x1.123cfap-7f, 0x1.5558a6p-5f, 0x1.55548cp-3f, 0x1.fffffcp-2f, 1, 1};
// Beyond these it is infinity, and zero.
inline constexpr float kMostExp = 89, kLeastExp = -104;

// 1 / x, 1 <= x <= 2: within 1.02 %.
inline constexpr std::array<float, 3> kReciprocal = {0x1.4afd5p-2f, -0x1.745cfap+0f, 0x1.0f83d2p+1f};

// tanh(x) = x + x^3 * P(x^2), x <= 0.56: 0.05.
inline constexpr std::array<float, 5> kTanh = {-0x1.95cf3cp-8f, 0x1.583552p-6f, -0x1.b906d2p-5f,
                                               0x1.110c5ep-3f, -0x1.555548p-2f};
inline constexpr float kSmallTanh = 0.55f;
inline constexpr float kMostTanh = 10;  // from there on it is 1

// erf(x) = x + x * P(x^2), x <= 0.93: 0.02.
inline constexpr std::array<float, 7> kErf = {0x1.4f6738p-14f, -0x1.a60a2ap-11f, 0x1.544a1ap-8f,
                                              -0x1.b8011ap-6f, 0x1.ce2d64p-4f,   -0x1.81274p-2f,
                                              0x1.06eba8p-3f};
// erf(x) = 1 - exp(x * P(x)), 0.92 <= x <= 3.95: 0.06.
inline constexpr std::array<float, 6> kErfTail = {0x1.c0c552p-13f, -0x1.a5654ep-9f, 0x1.7707f4p-6f,
                                                  -0x1.af273cp-4f, -0x1.457cdap-1f, -0x1.20e652p+0f};
inline constexpr float kSmallErf = 0.925f;
inline constexpr float kMostErf = 3.95f;  // from there on it is 1

// Results that may be subnormal are computed so many powers of two too large, and rounded once, when they are
// brought down.
inline constexpr int kRaise = 40;
inline constexpr float kLower = 0x1p-40f;

// x * sigmoid(x), and x * sigmoid(u) of gelu_tanh, are half of the least subnormal at most below these, and u
// is no less than the last.
inline constexpr float kLeastSilu = -109, kLeastGeluTanh = -11, kLeastRaised = -113;
// gelu_tanh(x) = x * sigmoid(x * (kGeluLinear + kGeluCubic * x^2))
inline constexpr float kGeluLinear = 0x1.988454p+0f, kGeluCubic = 0x1.2444f2p-4f;

// exp(z^2 / 2) * erfc(z / sqrt(2)) / 2 = P(z) / Q(z), 0 <= z <= 14.3: 0.6. Both have positive coefficients,
// so that nothing cancels. From the end on, gelu is half of the least subnormal at most.
inline constexpr std::array<float, 5> kGeluAbove = {0x1.0abbe2p-8f, 0x1.4a72d8p-5f, 0x1.75861ap-3f,
                                                    0x1.bfae5p-2f, 0.5f};
inline constexpr std::array<float, 6> kGeluBelow = {0x1.4e4c1ap-7f, 0x1.9e2eecp-4f, 0x1.de6e7ep-2f,
                                                    0x1.32f41cp+0f, 0x1.ac1956p+0f, 1};
inline constexpr float kMostGelu = 14.3f;

}  // namespace composition

// Of `Scaled`.
inline constexpr int kScaleBias = 2 * 127;

template <typename Math>
class Composer {
 public:
  using Value = typename Math::Value;

  explicit Composer(Math& math) : math_(math) {}

  Value Compose(RowOp op, Value x, Value y) {
    switch (op) {
      case RowOp::kAdd:
        return math_.Add(x, y);
      case RowOp::kSub:
        return math_.Sub(x, y);
      case RowOp::kMul:
        return math_.Mul(x, y);
      case RowOp::kMax:
        return math_.Max(x, y);
      case RowOp::kMin:
        return math_.Min(x, y);
      case RowOp::kDiv:
        return math_.Div(x, y);
      case RowOp::kNeg:
        return math_.Negative(x);
      case RowOp::kSqrt:
        return math_.Sqrt(x);
      case RowOp::kAbs:
        return math_.Abs(x);
      case RowOp::kExp:
        return Exp(x);
      case RowOp::kTanh:
        return Tanh(x);
      case RowOp::kErf:
        return Erf(x);
      case RowOp::kSigmoid:
        return Sigmoid(x);
      case RowOp::kSilu:
        return Silu(x);
      case RowOp::kGelu:
        return Gelu(x);
      case RowOp::kGeluTanh:
        return GeluTanh(x);
      case RowOp::kLoad:
      case RowOp::kNumber:
      case RowOp::kSum:
      case RowOp::kMaximum:
        break;
    }
    KIRSCH_CHECK(false && "no operation of numbers");
  }

  Value ExpOfNotPositive(Value x) {  // or of a NaN
    return ScaledExp(math_.Max(Number(composition::kLeastExp), x));
  }

 private:
  using Whole = typename Math::Whole;
  struct Reduced {
    Value mantissa;  // 0.7 .. 1.42
    Whole exponent;  // of 2
  };

  Value Number(float number) { return math_.Number(number); }

  // The coefficients of the highest power first.
  template <size_t kSize>
  Value Polynomial(Value x, const std::array<float, kSize>& coefficients) {
    Value sum = Number(coefficients[0]);
    for (size_t i = 1; i < kSize; ++i) sum = math_.Fma(sum, x, Number(coefficients[i]));
    return sum;
  }

  // x = exponent * ln(2) + rest. The first of two steps is exact.
  Value RestOf(Value x, const Whole& exponent) {
    const Value rest = math_.Fma(exponent.value, Number(-composition::kLn2High), x);
    return math_.Fma(exponent.value, Number(-composition::kLn2Low), rest);
  }
  Reduced ReduceExp(Value x, int bias) {
    const Whole exponent = math_.RoundedProduct(x, composition::kLog2E, bias);
    return {Polynomial(RestOf(x, exponent), composition::kExp), exponent};
  }
  Value ScaledExp(Value x) {  // between the bounds, or a NaN
    const Reduced reduced = ReduceExp(x, kScaleBias);
    return math_.Scaled(reduced.mantissa, reduced.exponent);
  }
  // exp(x) * 2^bias, which is normal.
  Value RaisedExp(Value x, int bias) {
    const Reduced reduced = ReduceExp(x, bias);
    return math_.Raised(reduced.mantissa, reduced.exponent);
  }

  Value Exp(Value x) {
    const Value bounded = math_.Max(Number(composition::kLeastExp), x);
    return ScaledExp(math_.Min(Number(composition::kMostExp), bounded));
  }

  // 1 <= denominator <= 2. The reciprocal gets three times as many digits in a step; then the quotient is
  // corrected by what it leaves. Faster than to divide.
  Value Quotient(Value numerator, Value denominator) {
    Value reciprocal = Polynomial(denominator, composition::kReciprocal);
    Value error = math_.FmaNeg(denominator, reciprocal, Number(1));
    const Value factor = math_.Fma(error, error, error);
    reciprocal = math_.Fma(reciprocal, factor, reciprocal);
    const Value quotient = math_.Mul(numerator, reciprocal);
    error = math_.FmaNeg(denominator, quotient, numerator);
    return math_.Corrected(math_.Fma(error, reciprocal, quotient), numerator, denominator);
  }

  // 1 / (1 + e), or e / (1 + e) if x < 0, with e = exp(-|x|). Where e is 1 both are the same, so that the
  // bound need not be 0: compilers would keep the zeros that a microkernel's accumulators begin with until
  // here.
  Value Sigmoid(Value x) {
    const Value e = ExpOfNotPositive(math_.MinusAbs(x));
    const Value denominator = math_.Add(e, Number(1));
    return Quotient(math_.Select(x, Number(-0x1p-60f), e, Number(1)), denominator);
  }

  // x * sigmoid(u), u with the sign of x and not below kLeastRaised if that is negative. As there, but e is
  // raised where x < 0, as the result may be subnormal.
  Value TimesSigmoid(Value x, Value u) {
    Value e = math_.Max(Number(composition::kLeastRaised), math_.MinusAbs(u));
    e = RaisedExp(e, composition::kRaise);
    const Value denominator = math_.Fma(e, Number(composition::kLower), Number(1));
    const Value numerator = math_.Select(x, Number(-0x1p-60f), e, Number(1));
    const Value lower = math_.Select(x, Number(-0x1p-60f), Number(composition::kLower), Number(1));
    // An FMA, since GCC would make one of this product and of a sum that is its only use.
    return math_.Fma(math_.Mul(Quotient(numerator, denominator), x), lower, Number(-0.0f));
  }
  Value Silu(Value x) {
    const Value bounded = math_.Max(Number(composition::kLeastSilu), x);
    return TimesSigmoid(bounded, bounded);
  }
  Value GeluTanh(Value x) {
    const Value bounded = math_.Max(Number(composition::kLeastGeluTanh), x);
    const Value square = math_.Mul(bounded, bounded);
    const Value slope = math_.Fma(square, Number(composition::kGeluCubic), Number(composition::kGeluLinear));
    return TimesSigmoid(bounded, math_.Mul(slope, bounded));
  }

  // max(x, 0) - |x| * erfc(|x| / sqrt(2)) / 2: where x < 0 there is nothing to cancel, and above the second
  // term is the smaller half. z^2 / 2 is rounded; what that leaves over becomes a factor.
  Value Gelu(Value x) {
    const Value positive = math_.Max(Number(-0.0f), x);
    const Value z = math_.Min(Number(composition::kMostGelu), math_.Abs(x));
    const auto square = math_.Product(math_.Mul(z, Number(-0.5f)), z);
    Value e = RaisedExp(square.high, composition::kRaise);
    e = math_.Fma(e, square.low, e);
    const Value above = Polynomial(z, composition::kGeluAbove);
    const Value below = Polynomial(z, composition::kGeluBelow);
    const Value share = math_.Div(math_.Mul(math_.Mul(e, z), above), below);
    return math_.FmaNeg(share, Number(composition::kLower), positive);
  }

  // (1 - e) / (1 + e) with e = exp(-2 |x|), or a polynomial where that would cancel.
  Value Tanh(Value x) {
    const Value z = math_.Abs(x), square = math_.Mul(z, z);
    const Value polynomial = Polynomial(square, composition::kTanh);
    const Value small = math_.Fma(polynomial, math_.Mul(square, z), z);
    const Value bounded = math_.Min(Number(composition::kMostTanh), z);
    const Value e = RaisedExp(math_.Mul(bounded, Number(-2)), 0);
    const Value denominator = math_.Add(e, Number(1));
    const Value quotient = Quotient(math_.Sub(Number(1), e), denominator);
    return math_.WithSignOf(x, math_.Select(Number(composition::kSmallTanh), z, quotient, small));
  }

  // 1 - exp(a polynomial), or a polynomial where that would cancel.
  Value Erf(Value x) {
    const Value z = math_.Abs(x), square = math_.Mul(z, z);
    const Value small = math_.Fma(Polynomial(square, composition::kErf), z, z);
    const Value bounded = math_.Min(Number(composition::kMostErf), z);
    const Value e = RaisedExp(math_.Mul(Polynomial(bounded, composition::kErfTail), bounded), 0);
    const Value large = math_.Sub(Number(1), e);
    return math_.WithSignOf(x, math_.Select(Number(composition::kSmallErf), z, large, small));
  }

  Math& math_;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_COMPOSITION_H_
