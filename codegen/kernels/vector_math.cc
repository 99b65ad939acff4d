// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/vector_math.h"

#include "spec/operation.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Added to a number of less than 2^22, it rounds it to an integer, which is then in the low bits. The same
// for f64, whose integers may be larger.
constexpr float kRounder = 0x1.8p23f;
constexpr double kWideRounder = 0x1.8p52;

}  // namespace

// Compositions are templates of the algebra: the same ones are counted for costs and bounded for errors.
void VectorMath::Compute(Operation op, VarId to, VarId x, VarId y, VarId z) {
  const Value first = Known(x), second = Known(y), third = Known(z);
  kirsch::Compose(*this, op, first, second, third);
  Finish(to);
}

void VectorMath::ExpOfNotPositive(VarId to, VarId x) {
  const Value known = Known(x);
  composition::ExpOfNotPositive(*this, known);
  Finish(to);
}

// The last value is the result. Variables are free for the next function.
void VectorMath::Finish(VarId to) {
  WriteLast(to);
  values_.clear();
  taken_reals_ = taken_integers_ = 0;
}

// A new value means that the last operation was not the result: it gets a variable of our own.
VectorMath::Value VectorMath::Known(VarId var) {
  if (last_) WriteLast(Variable(last_dtype_));
  values_.push_back(var);
  return {static_cast<int>(values_.size()) - 1};
}

void VectorMath::WriteLast(VarId to) {
  last_(to);
  last_ = nullptr;
}

// Floats and integers have separate variables, as a variable has one type.
VarId VectorMath::Variable(Dtype dtype) {
  const bool real = dtype == real_;
  std::vector<VarId>& vectors = real ? reals_ : integers_;
  size_t& taken = real ? taken_reals_ : taken_integers_;
  if (taken == vectors.size())
    vectors.push_back(builder_.Vector(Cat(real ? "f" : "i", taken, "_", suffix_), dtype, lanes_));
  return vectors[taken++];
}

// The statement reads its operands' variables when it is written, that is when all of them are written.
template <typename Write>
VectorMath::Value VectorMath::Make(Dtype dtype, Write write) {
  const Value made = Known(kNoVar);
  last_dtype_ = dtype;
  last_ = [this, made, write](VarId to) {
    write(to);
    values_[static_cast<size_t>(made.number)] = to;
  };
  return made;
}

VectorMath::Value VectorMath::Do(BinaryOp op, Value a, Value b, Dtype dtype) {
  return Make(dtype, [=, this](VarId to) { builder_.Do(Binary{op, to, Of(a), Of(b)}); });
}

VectorMath::Value VectorMath::DoFma(Value a, Value b, Value c, FmaSign sign) {
  return Make(real_, [=, this](VarId to) { builder_.Do(kirsch::Fma{to, Of(a), Of(b), Of(c), sign}); });
}

VectorMath::Value VectorMath::Sqrt(Value x) {
  return Make(real_, [=, this](VarId to) { builder_.Do(SquareRoot{to, Of(x)}); });
}

VectorMath::Value VectorMath::Rounded(Value x, Rounding rounding) {
  return Make(real_, [=, this](VarId to) { builder_.Do(RoundToInteger{to, Of(x), rounding}); });
}

VectorMath::Value VectorMath::Reinterpret(Value x, Dtype dtype) {
  return Make(dtype, [=, this](VarId to) { builder_.Do(Bits{to, Of(x)}); });
}

VectorMath::Value VectorMath::Converted(Value integer) {
  return Make(real_, [=, this](VarId to) { builder_.Do(Convert{to, Of(integer)}); });
}

VectorMath::Value VectorMath::Shifted(Value x, int left) {
  return Make(Dtype::kS32, [=, this](VarId to) { builder_.Do(Shift{to, Of(x), left}); });
}

VectorMath::Value VectorMath::WithSignOf(Value x, Value magnitude) {
  return Do(BinaryOp::kOr, magnitude, Do(BinaryOp::kAnd, x, Word(sign())));
}

VectorMath::Value VectorMath::Select(Comparison comparison, Value x, Value y, Value a, Value b) {
  return Make(real_, [=, this](VarId to) {
    builder_.Do(kirsch::Select{comparison, to, Of(x), Of(y), Of(a), Of(b)});
  });
}

// The product is rounded by adding a large number: the sum has the integer in its low bits. The bias is added
// with it, so that it costs no instruction.
VectorMath::Whole VectorMath::RoundedProduct(Value x, double factor, int bias) {
  if (IsWide()) {
    const Value rounder = Number(kWideRounder), whole = Sub(Fma(x, Number(factor), rounder), rounder);
    return {whole, bias == kScaleBias ? whole : Add(whole, Number(bias))};
  }
  const Value rounder = Number(kRounder + static_cast<float>(scales_ && bias == kScaleBias ? 0 : bias));
  const Value bits = Fma(x, Number(factor), rounder);
  return {Sub(bits, rounder), bits};
}

// The rest is exact, whichever of both is larger (Knuth, The Art of Computer Programming 2, 4.2.2).
VectorMath::Split VectorMath::Sum(Value a, Value b) {
  const Value sum = Add(a, b), of_b = Sub(sum, a), of_a = Sub(sum, of_b);
  const Value rest_of_a = Sub(a, of_a), rest_of_b = Sub(b, of_b);
  return {sum, Add(rest_of_a, rest_of_b)};
}

// What a quotient leaves is exact, and its quotient is the low part.
VectorMath::Split VectorMath::Ratio(Value a, const Split& b) {
  const Value reciprocal = Div(Number(1), b.high), quotient = Mul(a, reciprocal);
  const Value left = FmaNeg(quotient, b.low, FmaNeg(quotient, b.high, a));
  return {quotient, Mul(left, reciprocal)};
}

// Subnormals are made normal first. The bits of the least mantissa are taken from x's, so that the exponent's
// field counts from there; what stays below the field is added to them again.
VectorMath::Parts VectorMath::Parted(Value x) {
  constexpr float kLeastNormal = 0x1p-126f, kScale = 0x1p24f;
  constexpr uint32_t kLeast = std::bit_cast<uint32_t>(kLeastMantissa), kOne = std::bit_cast<uint32_t>(1.0f);
  const Value least = Number(kLeastNormal);
  const Value normal = Select(Comparison::kLess, x, least, Mul(x, Number(kScale)), x);
  const Value bias = Select(Comparison::kLess, x, least, Number(127 + 24), Number(127));
  const Value from_least =
      Do(BinaryOp::kAdd, Reinterpret(normal, Dtype::kS32), Integer(kOne - kLeast), Dtype::kS32);
  const Value exponent = Sub(Converted(Shifted(from_least, -kF32Mantissa)), bias);
  const Value fraction = Do(BinaryOp::kAnd, from_least, Integer(kFraction), Dtype::kS32);
  const Value mantissa = Do(BinaryOp::kAdd, fraction, Integer(kLeast), Dtype::kS32);
  return {exponent, Reinterpret(mantissa, Dtype::kF32)};
}

// Without the instruction for it, scaling takes two powers of two, as one alone has no exponent for what
// becomes subnormal or infinite. The first product is exact. The second is an FMA so that GCC, which makes
// one of it and of a sum that is its only use, doesn't.
VectorMath::Value VectorMath::Scaled(Value mantissa, const Whole& whole) {
  if (IsWide()) return TimesPower(mantissa, whole.value);
  if (scales_)
    return Make(Dtype::kF32, [=, this](VarId to) { builder_.Do(Scale{to, Of(mantissa), Of(whole.value)}); });
  const Value both = Reinterpret(whole.bits, Dtype::kS32), first = Shifted(both, -1);
  const Value second = Do(BinaryOp::kSub, both, first, Dtype::kS32);
  const Value first_power = Shifted(first, 23), second_power = Shifted(second, 23);
  const Value half = Mul(mantissa, Reinterpret(first_power, Dtype::kF32));
  return Fma(half, Reinterpret(second_power, Dtype::kF32), Number(-0.0f));
}

// The same of f64, the exponent being an integer: shifts move the low bits of a sum to the exponent's place,
// as there are no integers of 64 bits.
VectorMath::Value VectorMath::TimesPower(Value x, Value exponent) {
  if (scales_) return Make(real_, [=, this](VarId to) { builder_.Do(Scale{to, Of(x), Of(exponent)}); });
  const auto power = [&](Value of) {
    const Value bits = Add(of, Number(kWideRounder + BiasOf(real_)));
    return Make(real_, [=, this](VarId to) { builder_.Do(Shift{to, Of(bits), Info(real_).mantissa}); });
  };
  const Value half = Rounded(Mul(exponent, Number(0.5)), Rounding::kNearest);
  const Value rest = Sub(exponent, half), first = Mul(x, power(half));
  return Fma(first, power(rest), Number(-0.0));
}

// Adds to the exponent's bits, which is enough where the result is normal.
VectorMath::Value VectorMath::Raised(Value mantissa, const Whole& whole) {
  if (IsWide()) return TimesPower(mantissa, whole.bits);
  const Value power = Shifted(Reinterpret(whole.bits, Dtype::kS32), 23);
  return Reinterpret(Do(BinaryOp::kAdd, Reinterpret(mantissa, Dtype::kS32), power, Dtype::kS32), Dtype::kF32);
}

}  // namespace kirsch
