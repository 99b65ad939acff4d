// SPDX-License-Identifier: Apache-2.0
// Writes functions of vectors of f32, or of f64, as statements of a loop program. They take the whole range:
// infinities, NaN (which stay NaN), subnormals and the sign of zeros included. spec/operation.h says how
// functions are made. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_VECTOR_MATH_H_
#define KIRSCH_CODEGEN_KERNELS_VECTOR_MATH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/loop/procedure_builder.h"
#include "spec/element.h"
#include "spec/operation.h"

namespace kirsch {

// Writes where `builder` stands. Variables for intermediate results are made once, named with `suffix`: two
// objects work independently of each other. `to` may be `x`.
//
// This is the algebra that spec/composition.h asks for. Each operation of a composition makes a statement,
// which is written when the next operation follows. So the last one, which nothing follows, writes the
// caller's variable without a copy.
class VectorMath {
 public:
  // `scales`: with AVX-512F's scaling instruction. `real`: f32; f64, which has the operations of IsOfF64; or
  // another type of sums, for which there are only operations that take no numbers.
  VectorMath(ProcedureBuilder& builder, int lanes, bool scales, std::string suffix, Dtype real = Dtype::kF32)
      : builder_(builder), lanes_(lanes), scales_(scales), suffix_(std::move(suffix)), real_(real) {}

  // to = op(x, y, z). `y` is the second argument, or the option. Vectors may be of s32, too, if the operation
  // is an instruction that they have.
  void Compute(Operation op, VarId to, VarId x, VarId y = kNoVar, VarId z = kNoVar);
  void ExpOfNotPositive(VarId to, VarId x);  // x <= 0, or a NaN

  // A result of an operation, or a variable of the caller's. It is good until the function that is being
  // composed is done.
  struct Value {
    int number;  // of values_
  };
  struct Whole {
    Value value, bits;  // as floats; of f64 the latter is value + bias, too
  };
  // The algebra, as spec/composition.h describes it.
  bool IsWide() const { return real_ == Dtype::kF64; }
  Value Number(double number) { return Word(WordOf(real_, number)); }
  Value Add(Value a, Value b) { return Do(BinaryOp::kAdd, a, b); }
  Value Sub(Value a, Value b) { return Do(BinaryOp::kSub, a, b); }
  Value Mul(Value a, Value b) { return Do(BinaryOp::kMul, a, b); }
  Value Div(Value a, Value b) { return Do(BinaryOp::kDiv, a, b); }
  Value Max(Value a, Value b) { return Do(BinaryOp::kMax, a, b); }
  Value Min(Value a, Value b) { return Do(BinaryOp::kMin, a, b); }
  Value EitherNan(Value a, Value b) { return Do(BinaryOp::kOr, a, b); }
  Value Sqrt(Value x);
  struct Split {
    Value high, low;
  };
  Split Product(Value a, Value b) {
    const Value high = Mul(a, b);
    return {high, FmaSub(a, b, high)};
  }
  Split Sum(Value a, Value b);
  Split Ratio(Value a, const Split& b);
  struct Parts {
    Value exponent, mantissa;
  };
  Parts Parted(Value x);
  // Writes nothing: what the composition has computed is near enough to the quotient.
  Value Corrected(Value x, Value, Value) { return x; }
  Value Fma(Value a, Value b, Value c) { return DoFma(a, b, c, FmaSign::kAdd); }
  Value FmaSub(Value a, Value b, Value c) { return DoFma(a, b, c, FmaSign::kSubtract); }
  Value FmaNeg(Value a, Value b, Value c) { return DoFma(a, b, c, FmaSign::kNegate); }
  Value Abs(Value x) { return Do(BinaryOp::kAnd, x, Word(sign() - 1)); }
  Value MinusAbs(Value x) { return Do(BinaryOp::kOr, x, Word(sign())); }
  Value Negative(Value x) { return Do(BinaryOp::kXor, x, Word(sign())); }
  Value WithSignOf(Value x, Value magnitude);
  Value Rounded(Value x, Rounding rounding);
  Value Select(Comparison comparison, Value x, Value y, Value a, Value b);
  Whole RoundedProduct(Value x, double factor, int bias);
  Value Scaled(Value mantissa, const Whole& whole);
  Value Raised(Value mantissa, const Whole& whole);

 private:
  static constexpr uint32_t kFraction = 0x7fffff;
  uint64_t sign() const { return uint64_t{1} << (8 * Bytes(real_) - 1); }

  // Makes a value of a variable, and writes the statement that was still open.
  Value Known(VarId var);
  VarId Of(Value value) const { return values_[static_cast<size_t>(value.number)]; }
  // A constant, filled before all loops.
  Value Word(uint64_t word) {
    KIRSCH_CHECK(real_ == Dtype::kF32 || real_ == Dtype::kF64);
    return Known(builder_.Filled(real_, lanes_, word));
  }
  // Makes a new result, which write(variable) writes once the next one is asked for. The variable of the last
  // one is the caller's.
  template <typename Write>
  Value Make(Dtype dtype, Write write);
  Value Do(BinaryOp op, Value a, Value b) { return Do(op, a, b, real_); }
  Value Do(BinaryOp op, Value a, Value b, Dtype dtype);
  Value DoFma(Value a, Value b, Value c, FmaSign sign);
  Value Reinterpret(Value x, Dtype dtype);
  Value Converted(Value integer);
  Value Integer(uint32_t word) { return Known(builder_.Filled(Dtype::kS32, lanes_, word)); }
  Value Shifted(Value x, int left);
  Value TimesPower(Value x, Value exponent);
  // Returns a variable for an intermediate result, which the next function uses again.
  VarId Variable(Dtype dtype);
  // WriteLast writes the open statement to `to`. Finish does so with the function's result.
  void WriteLast(VarId to);
  void Finish(VarId to);

  ProcedureBuilder& builder_;
  const int lanes_;
  const bool scales_;
  const std::string suffix_;
  const Dtype real_;
  std::vector<VarId> reals_, integers_;  // variables
  size_t taken_reals_ = 0, taken_integers_ = 0;
  std::vector<VarId> values_;        // their variables
  std::function<void(VarId)> last_;  // writes the last value
  Dtype last_dtype_ = Dtype::kF32;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_VECTOR_MATH_H_
