#include "codegen/vector_math.h"

#include "absl/strings/str_cat.h"
#include "spec/composition.h"

namespace kirsch {
namespace {

// Added to a number of less than 2^22, it rounds it to an integer, which is then in the low bits.
constexpr float kRounder = 0x1.8p23f;

}  // namespace

void VectorMath::Compute(RowOp op, VarId to, VarId x, VarId y) {
  Composer<VectorMath>(*this).Compose(op, x, y);
  Finish(to);
}

void VectorMath::ExpOfNotPositive(VarId to, VarId x) {
  Composer<VectorMath>(*this).ExpOfNotPositive(x);
  Finish(to);
}

// What is computed last is the result.
void VectorMath::Finish(VarId to) {
  last_to_ = to;
  Flush();
  taken_reals_ = taken_integers_ = 0;
}

void VectorMath::Flush() {
  if (last_) last_(last_to_);
  last_ = nullptr;
}

template <typename Write>
VarId VectorMath::Make(Dtype dtype, Write write) {
  Flush();
  const bool real = dtype == Dtype::kF32;
  std::vector<VarId>& vectors = real ? reals_ : integers_;
  size_t& taken = real ? taken_reals_ : taken_integers_;
  if (taken == vectors.size())
    vectors.push_back(
        builder_.Vector(absl::StrCat(real ? "f" : "i", taken, "_", suffix_), dtype, lanes_));
  last_ = write;
  return last_to_ = vectors[taken++];
}

VarId VectorMath::Do(BinaryOp op, VarId a, VarId b, Dtype dtype) {
  return Make(dtype, [=, this](VarId to) { builder_.Do(Binary{op, to, a, b}); });
}

VarId VectorMath::DoFma(VarId a, VarId b, VarId c, FmaSign sign) {
  return Make(Dtype::kF32, [=, this](VarId to) { builder_.Do(kirsch::Fma{to, a, b, c, sign}); });
}

VarId VectorMath::Sqrt(VarId x) {
  return Make(Dtype::kF32, [=, this](VarId to) { builder_.Do(SquareRoot{to, x}); });
}

VarId VectorMath::BitsOf(VarId x, Dtype dtype) {
  return Make(dtype, [=, this](VarId to) { builder_.Do(Bits{to, x}); });
}

VarId VectorMath::Shifted(VarId x, int left) {
  return Make(Dtype::kS32, [=, this](VarId to) { builder_.Do(Shift{to, x, left}); });
}

VarId VectorMath::WithSignOf(VarId x, VarId magnitude) {
  return Do(BinaryOp::kOr, magnitude, Do(BinaryOp::kAnd, x, Word(kSign)));
}

VarId VectorMath::Select(VarId x, VarId y, VarId a, VarId b) {
  return Make(Dtype::kF32, [=, this](VarId to) { builder_.Do(SelectLess{to, x, y, a, b}); });
}

VectorMath::Whole VectorMath::RoundedProduct(VarId x, float factor, int bias) {
  const VarId rounder = Number(kRounder + static_cast<float>(scales_ && bias == kScaleBias ? 0 : bias));
  const VarId bits = Fma(x, Number(factor), rounder);
  return {Sub(bits, rounder), bits};
}

// Without the instruction for it, the scaling takes two powers of two, as one alone has no exponent for what
// becomes subnormal or infinite: the first product is exact. The second is an FMA so that GCC, which makes one
// of it and of a sum that is its only use, doesn't.
VarId VectorMath::Scaled(VarId mantissa, const Whole& whole) {
  if (scales_)
    return Make(Dtype::kF32, [=, this](VarId to) { builder_.Do(Scale{to, mantissa, whole.value}); });
  const VarId both = BitsOf(whole.bits, Dtype::kS32), first = Shifted(both, -1);
  const VarId second = Do(BinaryOp::kSub, both, first, Dtype::kS32);
  const VarId first_power = Shifted(first, 23), second_power = Shifted(second, 23);
  const VarId half = Mul(mantissa, BitsOf(first_power, Dtype::kF32));
  return Fma(half, BitsOf(second_power, Dtype::kF32), Number(-0.0f));
}

VarId VectorMath::Raised(VarId mantissa, const Whole& whole) {
  const VarId power = Shifted(BitsOf(whole.bits, Dtype::kS32), 23);
  return BitsOf(Do(BinaryOp::kAdd, BitsOf(mantissa, Dtype::kS32), power, Dtype::kS32), Dtype::kF32);
}

}  // namespace kirsch
