// Functions of vectors of f32, as statements of a loop program: the whole range, infinities, NaN (which stay
// NaN), subnormals and the sign of zeros included. spec/vector_math.h states the errors. Internal to
// codegen/.
#ifndef KIRSCH_CODEGEN_VECTOR_MATH_H_
#define KIRSCH_CODEGEN_VECTOR_MATH_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/types/span.h"
#include "codegen/procedure_builder.h"

namespace kirsch {

// Writes where `builder` stands. Variables for intermediate results are made once, named with `suffix`: two
// objects work independently of each other. `to` may be `x`.
class VectorMath {
 public:
  // `scales`: with AVX-512F's scaling instruction.
  VectorMath(ProcedureBuilder& builder, int lanes, bool scales, std::string suffix)
      : builder_(builder), lanes_(lanes), scales_(scales), suffix_(std::move(suffix)) {}

  void Exp(VarId to, VarId x);
  void ExpOfNotPositive(VarId to, VarId x);  // x <= 0, or a NaN
  void Tanh(VarId to, VarId x);
  void Erf(VarId to, VarId x);
  void Sigmoid(VarId to, VarId x);
  void Silu(VarId to, VarId x);
  void Gelu(VarId to, VarId x);
  void GeluTanh(VarId to, VarId x);
  void Abs(VarId to, VarId x);
  void Negative(VarId to, VarId x);

 private:
  VarId Number(float number);
  VarId Bits(uint32_t word);  // as an f32
  VarId Real(const char* name) { return Temporary(name, Dtype::kF32); }
  VarId Integer(const char* name) { return Temporary(name, Dtype::kS32); }
  VarId Temporary(const char* name, Dtype dtype);
  void Do(BinaryOp op, VarId to, VarId a, VarId b) { builder_.Do(Binary{op, to, a, b}); }
  void DoFma(VarId to, VarId a, VarId b, VarId c, FmaSign sign = FmaSign::kAdd) {
    builder_.Do(Fma{to, a, b, c, sign});
  }

  // The coefficients of the highest power first.
  void Polynomial(VarId to, VarId x, absl::Span<const float> coefficients);
  struct Reduced {
    VarId mantissa;  // 0.7 .. 1.42
    VarId exponent;  // of 2, as an f32 ...
    VarId shifted;   // ... and in the low bits of this one, with `bias` added
  };
  Reduced ReduceExp(VarId x, float bias);
  void ScaledExp(VarId to, VarId x);
  void SmallExp(VarId to, VarId x);
  void Raised(VarId to, const Reduced& reduced);
  void TimesSigmoid(VarId to, VarId x, VarId u);
  void Quotient(VarId to, VarId numerator, VarId denominator);
  void WithSignOf(VarId to, VarId x, VarId magnitude);

  ProcedureBuilder& builder_;
  const int lanes_;
  const bool scales_;
  const std::string suffix_;
  std::map<std::string, VarId> temporaries_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VECTOR_MATH_H_
