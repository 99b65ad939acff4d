// Functions of vectors of f32, as statements of a loop program: the whole range, infinities, NaN (which stay
// NaN), subnormals and the sign of zeros included. spec/composition.h says how they are made. Internal to
// codegen/.
#ifndef KIRSCH_CODEGEN_VECTOR_MATH_H_
#define KIRSCH_CODEGEN_VECTOR_MATH_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/procedure_builder.h"
#include "spec/row_program.h"

namespace kirsch {

// Writes where `builder` stands. Variables for intermediate results are made once, named with `suffix`: two
// objects work independently of each other. `to` may be `x`.
class VectorMath {
 public:
  // `scales`: with AVX-512F's scaling instruction.
  VectorMath(ProcedureBuilder& builder, int lanes, bool scales, std::string suffix)
      : builder_(builder), lanes_(lanes), scales_(scales), suffix_(std::move(suffix)) {}

  void Compute(RowOp op, VarId to, VarId x, VarId y = kNoVar);
  void ExpOfNotPositive(VarId to, VarId x);  // x <= 0, or a NaN

  // For spec/composition.h.
  using Value = VarId;
  struct Whole {
    VarId value, bits;  // as f32s
  };
  VarId Number(float number) { return Word(std::bit_cast<uint32_t>(number)); }
  VarId Add(VarId a, VarId b) { return Do(BinaryOp::kAdd, a, b); }
  VarId Sub(VarId a, VarId b) { return Do(BinaryOp::kSub, a, b); }
  VarId Mul(VarId a, VarId b) { return Do(BinaryOp::kMul, a, b); }
  VarId Div(VarId a, VarId b) { return Do(BinaryOp::kDiv, a, b); }
  VarId Max(VarId a, VarId b) { return Do(BinaryOp::kMax, a, b); }
  VarId Min(VarId a, VarId b) { return Do(BinaryOp::kMin, a, b); }
  VarId Sqrt(VarId x);
  struct Split {
    VarId high, low;
  };
  Split Product(VarId a, VarId b) {
    const VarId high = Mul(a, b);
    return {high, FmaSub(a, b, high)};
  }
  VarId Corrected(VarId x, VarId, VarId) { return x; }
  VarId Fma(VarId a, VarId b, VarId c) { return DoFma(a, b, c, FmaSign::kAdd); }
  VarId FmaSub(VarId a, VarId b, VarId c) { return DoFma(a, b, c, FmaSign::kSubtract); }
  VarId FmaNeg(VarId a, VarId b, VarId c) { return DoFma(a, b, c, FmaSign::kNegate); }
  VarId Abs(VarId x) { return Do(BinaryOp::kAnd, x, Word(kMagnitude)); }
  VarId MinusAbs(VarId x) { return Do(BinaryOp::kOr, x, Word(kSign)); }
  VarId Negative(VarId x) { return Do(BinaryOp::kXor, x, Word(kSign)); }
  VarId WithSignOf(VarId x, VarId magnitude);
  VarId Select(VarId x, VarId y, VarId a, VarId b);
  Whole RoundedProduct(VarId x, float factor, int bias);
  VarId Scaled(VarId mantissa, const Whole& whole);
  VarId Raised(VarId mantissa, const Whole& whole);

 private:
  static constexpr uint32_t kSign = 0x80000000, kMagnitude = 0x7fffffff;

  VarId Word(uint32_t word) { return builder_.Filled(Dtype::kF32, lanes_, word); }
  // The variable of a new result, which Write(variable) writes; the last one may become another one.
  template <typename Write>
  VarId Make(Dtype dtype, Write write);
  VarId Do(BinaryOp op, VarId a, VarId b, Dtype dtype = Dtype::kF32);
  VarId DoFma(VarId a, VarId b, VarId c, FmaSign sign);
  VarId BitsOf(VarId x, Dtype dtype);
  VarId Shifted(VarId x, int left);
  void Flush();
  void Finish(VarId to);

  ProcedureBuilder& builder_;
  const int lanes_;
  const bool scales_;
  const std::string suffix_;
  std::vector<VarId> reals_, integers_;  // variables
  size_t taken_reals_ = 0, taken_integers_ = 0;
  std::function<void(VarId)> last_;  // writes the last result
  VarId last_to_ = kNoVar;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VECTOR_MATH_H_
