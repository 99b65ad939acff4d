// Polynomials are our own: minimax fits by Remez exchange on a grid of 800 to 1000 points, with the error
// weighted by what an ulp of the function is there; then coefficients were rounded to f32 one after another,
// the lowest power first, and the others fitted anew each time. What a fit is off is given in units of 2^-24
// of the result.
#include "codegen/vector_math.h"

#include <array>
#include <bit>

namespace kirsch {
namespace {

constexpr uint32_t kSign = 0x80000000, kMagnitude = 0x7fffffff;

// Added to a number of less than 2^22, it rounds it to an integer, which is then in the low bits.
constexpr float kRounder = 0x1.8p23f;

constexpr float kLog2E = 0x1.715476p+0f;
constexpr float kLn2High = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f;

// exp(x) = 1 + x + x^2 * P(x), |x| <= ln(2) / 2, P's constant last: 0.06.
constexpr std::array<float, 7> kExp = {
    0x1.6a3616p-10f, 0x1.123cfap-7f, 0x1.5558a6p-5f, 0x1.55548cp-3f, 0x1.fffffcp-2f, 1, 1};

// Beyond these it is infinity, and zero.
constexpr float kMostExp = 89, kLeastExp = -104;

// 1 / x, 1 <= x <= 2: within 1.02 %.
constexpr std::array<float, 3> kReciprocal = {0x1.4afd5p-2f, -0x1.745cfap+0f, 0x1.0f83d2p+1f};

// tanh(x) = x + x^3 * P(x^2), x <= 0.56: 0.05.
constexpr std::array<float, 5> kTanh = {-0x1.95cf3cp-8f, 0x1.583552p-6f, -0x1.b906d2p-5f, 0x1.110c5ep-3f,
                                        -0x1.555548p-2f};
constexpr float kSmallTanh = 0.55f;
constexpr float kMostTanh = 10;  // from there on it is 1

// erf(x) = x + x * P(x^2), x <= 0.93: 0.02.
constexpr std::array<float, 7> kErf = {0x1.4f6738p-14f, -0x1.a60a2ap-11f, 0x1.544a1ap-8f, -0x1.b8011ap-6f,
                                       0x1.ce2d64p-4f,  -0x1.81274p-2f,   0x1.06eba8p-3f};
// erf(x) = 1 - exp(x * P(x)), 0.92 <= x <= 3.95: 0.06.
constexpr std::array<float, 6> kErfTail = {0x1.c0c552p-13f, -0x1.a5654ep-9f, 0x1.7707f4p-6f,
                                           -0x1.af273cp-4f, -0x1.457cdap-1f, -0x1.20e652p+0f};
constexpr float kSmallErf = 0.925f;
constexpr float kMostErf = 3.95f;  // from there on it is 1

// Results that may be subnormal are computed so many powers of two too large, and rounded once, when they are
// brought down.
constexpr int kRaised = 40;
constexpr float kLower = 0x1p-40f;

// x * sigmoid(x), and x * sigmoid(u) of gelu_tanh, are half of the least subnormal at most below these, and u
// is no less than the last.
constexpr float kLeastSilu = -109, kLeastGeluTanh = -11, kLeastRaised = -113;
// gelu_tanh(x) = x * sigmoid(x * (kGeluLinear + kGeluCubic * x^2))
constexpr float kGeluLinear = 0x1.988454p+0f, kGeluCubic = 0x1.2444f2p-4f;

// exp(z^2 / 2) * erfc(z / sqrt(2)) / 2 = P(z) / Q(z), 0 <= z <= 14.3: 0.6. Both have positive coefficients, so
// that nothing cancels. From the end on, gelu is half of the least subnormal at most.
constexpr std::array<float, 5> kGeluAbove = {0x1.0abbe2p-8f, 0x1.4a72d8p-5f, 0x1.75861ap-3f, 0x1.bfae5p-2f,
                                             0.5f};
constexpr std::array<float, 6> kGeluBelow = {0x1.4e4c1ap-7f, 0x1.9e2eecp-4f, 0x1.de6e7ep-2f,
                                             0x1.32f41cp+0f, 0x1.ac1956p+0f, 1};
constexpr float kMostGelu = 14.3f;

}  // namespace

VarId VectorMath::Number(float number) { return Bits(std::bit_cast<uint32_t>(number)); }

VarId VectorMath::Bits(uint32_t word) { return builder_.Filled(Dtype::kF32, lanes_, word); }

VarId VectorMath::Temporary(const char* name, Dtype dtype) {
  const auto [at, is_new] = temporaries_.try_emplace(name, kNoVar);
  if (is_new) at->second = builder_.Vector(absl::StrCat(name, "_", suffix_), dtype, lanes_);
  return at->second;
}

void VectorMath::Polynomial(VarId to, VarId x, absl::Span<const float> coefficients) {
  VarId sum = Number(coefficients[0]);
  for (float coefficient : coefficients.subspan(1)) {
    DoFma(to, sum, x, Number(coefficient));
    sum = to;
  }
}

void VectorMath::Negative(VarId to, VarId x) { Do(BinaryOp::kXor, to, x, Bits(kSign)); }

void VectorMath::Abs(VarId to, VarId x) { Do(BinaryOp::kAnd, to, x, Bits(kMagnitude)); }

void VectorMath::WithSignOf(VarId to, VarId x, VarId magnitude) {
  const VarId sign = Real("sign");
  Do(BinaryOp::kAnd, sign, x, Bits(kSign));
  Do(BinaryOp::kOr, to, magnitude, sign);
}

// exp(x) = mantissa * 2^exponent. The first of two steps of the reduction is exact.
VectorMath::Reduced VectorMath::ReduceExp(VarId x, float bias) {
  const VarId shifted = Real("shifted"), exponent = Real("exponent"), rest = Real("rest");
  const VarId mantissa = Real("mantissa"), rounder = Number(kRounder + bias);
  DoFma(shifted, x, Number(kLog2E), rounder);
  Do(BinaryOp::kSub, exponent, shifted, rounder);
  DoFma(rest, exponent, Number(-kLn2High), x);
  DoFma(rest, exponent, Number(-kLn2Low), rest);
  Polynomial(mantissa, rest, kExp);
  return {mantissa, exponent, shifted};
}

// x between the bounds, or a NaN. Without the instruction for it, the scaling takes two powers of two, as one
// alone has no exponent for what becomes subnormal or infinite: the first product is exact. The second is an
// FMA so that GCC, which makes one of it and of a sum that is its only use, doesn't.
void VectorMath::ScaledExp(VarId to, VarId x) {
  if (scales_) {
    const Reduced reduced = ReduceExp(x, 0);
    return builder_.Do(Scale{to, reduced.mantissa, reduced.exponent});
  }
  constexpr int kBothBiases = 2 * 127;
  const Reduced reduced = ReduceExp(x, kBothBiases);
  const VarId first = Integer("first"), second = Integer("second"), power = Real("power");
  builder_.Do(kirsch::Bits{second, reduced.shifted});
  builder_.Do(Shift{first, second, -1});
  Do(BinaryOp::kSub, second, second, first);
  builder_.Do(Shift{first, first, 23});
  builder_.Do(Shift{second, second, 23});
  builder_.Do(kirsch::Bits{power, first});
  Do(BinaryOp::kMul, reduced.mantissa, reduced.mantissa, power);
  builder_.Do(kirsch::Bits{power, second});
  DoFma(to, reduced.mantissa, power, Number(-0.0f));
}

// For results that are normal. Anything may come of a NaN.
void VectorMath::SmallExp(VarId to, VarId x) { Raised(to, ReduceExp(x, 0)); }

// Times 2^bias, with that of the reduction.
void VectorMath::Raised(VarId to, const Reduced& reduced) {
  const VarId power = Integer("first"), bits = Integer("second");
  builder_.Do(kirsch::Bits{power, reduced.shifted});
  builder_.Do(Shift{power, power, 23});
  builder_.Do(kirsch::Bits{bits, reduced.mantissa});
  Do(BinaryOp::kAdd, bits, bits, power);
  builder_.Do(kirsch::Bits{to, bits});
}

void VectorMath::Exp(VarId to, VarId x) {
  const VarId bounded = Real("bounded");
  Do(BinaryOp::kMax, bounded, Number(kLeastExp), x);
  Do(BinaryOp::kMin, bounded, Number(kMostExp), bounded);
  ScaledExp(to, bounded);
}

void VectorMath::ExpOfNotPositive(VarId to, VarId x) {
  const VarId bounded = Real("bounded");
  Do(BinaryOp::kMax, bounded, Number(kLeastExp), x);
  ScaledExp(to, bounded);
}

// 1 <= denominator <= 2. The reciprocal gets three times as many digits in a step; then the quotient is
// corrected by what it leaves. Faster than to divide.
void VectorMath::Quotient(VarId to, VarId numerator, VarId denominator) {
  const VarId reciprocal = Real("reciprocal"), error = Real("error"), factor = Real("factor");
  const VarId quotient = Real("quotient");
  Polynomial(reciprocal, denominator, kReciprocal);
  DoFma(error, denominator, reciprocal, Number(1), FmaSign::kNegate);
  DoFma(factor, error, error, error);
  DoFma(reciprocal, reciprocal, factor, reciprocal);
  Do(BinaryOp::kMul, quotient, numerator, reciprocal);
  DoFma(error, denominator, quotient, numerator, FmaSign::kNegate);
  DoFma(to, error, reciprocal, quotient);
}

// 1 / (1 + e), or e / (1 + e) if x < 0, with e = exp(-|x|). Where e is 1 both are the same, so that the bound
// need not be 0: compilers would keep the zeros that a microkernel's accumulators begin with until here.
void VectorMath::Sigmoid(VarId to, VarId x) {
  const VarId e = Real("e"), denominator = Real("denominator"), numerator = Real("numerator");
  Do(BinaryOp::kOr, e, x, Bits(kSign));
  ExpOfNotPositive(e, e);
  Do(BinaryOp::kAdd, denominator, e, Number(1));
  builder_.Do(SelectLess{numerator, x, Number(-0x1p-60f), e, Number(1)});
  Quotient(to, numerator, denominator);
}

// x * sigmoid(u), u with the sign of x and not below kLeastRaised if that is negative. As there, but e is raised
// where x < 0, as the result may be subnormal.
void VectorMath::TimesSigmoid(VarId to, VarId x, VarId u) {
  const VarId e = Real("e"), denominator = Real("denominator"), numerator = Real("numerator");
  const VarId lower = Real("lower");
  Do(BinaryOp::kOr, e, u, Bits(kSign));
  Do(BinaryOp::kMax, e, Number(kLeastRaised), e);
  Raised(e, ReduceExp(e, kRaised));
  DoFma(denominator, e, Number(kLower), Number(1));
  builder_.Do(SelectLess{numerator, x, Number(-0x1p-60f), e, Number(1)});
  builder_.Do(SelectLess{lower, x, Number(-0x1p-60f), Number(kLower), Number(1)});
  Quotient(e, numerator, denominator);
  Do(BinaryOp::kMul, e, e, x);
  DoFma(to, e, lower, Number(-0.0f));
}

void VectorMath::Silu(VarId to, VarId x) {
  const VarId z = Real("z");
  Do(BinaryOp::kMax, z, Number(kLeastSilu), x);
  TimesSigmoid(to, z, z);
}

void VectorMath::GeluTanh(VarId to, VarId x) {
  const VarId z = Real("z"), square = Real("square");
  Do(BinaryOp::kMax, z, Number(kLeastGeluTanh), x);
  Do(BinaryOp::kMul, square, z, z);
  DoFma(square, square, Number(kGeluCubic), Number(kGeluLinear));
  Do(BinaryOp::kMul, square, square, z);
  TimesSigmoid(to, z, square);
}

// max(x, 0) - |x| * erfc(|x| / sqrt(2)) / 2: where x < 0 there is nothing to cancel, and above the second term
// is the smaller half. z^2 / 2 is rounded; what that leaves over becomes a factor.
void VectorMath::Gelu(VarId to, VarId x) {
  const VarId z = Real("z"), half = Real("half"), square = Real("square"), left = Real("left");
  const VarId above = Real("numerator"), below = Real("denominator"), positive = Real("positive");
  Do(BinaryOp::kMax, positive, Number(-0.0f), x);
  Do(BinaryOp::kAnd, z, x, Bits(kMagnitude));
  Do(BinaryOp::kMin, z, Number(kMostGelu), z);
  Do(BinaryOp::kMul, half, z, Number(-0.5f));
  Do(BinaryOp::kMul, square, half, z);
  DoFma(left, half, z, square, FmaSign::kSubtract);
  const VarId e = Real("e");
  Raised(e, ReduceExp(square, kRaised));
  DoFma(e, e, left, e);
  Polynomial(above, z, kGeluAbove);
  Polynomial(below, z, kGeluBelow);
  Do(BinaryOp::kMul, e, e, z);
  Do(BinaryOp::kMul, e, e, above);
  Do(BinaryOp::kDiv, e, e, below);
  DoFma(to, e, Number(kLower), positive, FmaSign::kNegate);
}

// (1 - e) / (1 + e) with e = exp(-2 |x|), or a polynomial where that would cancel.
void VectorMath::Tanh(VarId to, VarId x) {
  const VarId z = Real("z"), small = Real("small"), square = Real("square"), e = Real("e");
  Do(BinaryOp::kAnd, z, x, Bits(kMagnitude));
  Do(BinaryOp::kMul, square, z, z);
  Polynomial(small, square, kTanh);
  Do(BinaryOp::kMul, square, square, z);
  DoFma(small, small, square, z);

  const VarId denominator = Real("denominator"), numerator = Real("numerator");
  Do(BinaryOp::kMin, e, Number(kMostTanh), z);
  Do(BinaryOp::kMul, e, e, Number(-2));
  SmallExp(e, e);
  Do(BinaryOp::kAdd, denominator, e, Number(1));
  Do(BinaryOp::kSub, numerator, Number(1), e);
  Quotient(e, numerator, denominator);
  builder_.Do(SelectLess{z, Number(kSmallTanh), z, e, small});
  WithSignOf(to, x, z);
}

// 1 - exp(a polynomial), or a polynomial where that would cancel.
void VectorMath::Erf(VarId to, VarId x) {
  const VarId z = Real("z"), small = Real("small"), square = Real("square"), e = Real("e");
  Do(BinaryOp::kAnd, z, x, Bits(kMagnitude));
  Do(BinaryOp::kMul, square, z, z);
  Polynomial(small, square, kErf);
  DoFma(small, small, z, z);

  const VarId bounded = Real("bounded");
  Do(BinaryOp::kMin, bounded, Number(kMostErf), z);
  Polynomial(e, bounded, kErfTail);
  Do(BinaryOp::kMul, e, e, bounded);
  SmallExp(e, e);
  Do(BinaryOp::kSub, e, Number(1), e);
  builder_.Do(SelectLess{z, Number(kSmallErf), z, e, small});
  WithSignOf(to, x, z);
}

}  // namespace kirsch
