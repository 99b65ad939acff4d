// The functions of epilogues, of one vector, as statements. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_FUNCTION_CODE_H_
#define KIRSCH_CODEGEN_FUNCTION_CODE_H_

#include <cstddef>
#include <vector>

#include "codegen/procedure_builder.h"
#include "codegen/vector_math.h"
#include "spec/epilogue.h"

namespace kirsch {

class FunctionCode {
 public:
  FunctionCode(ProcedureBuilder& builder, int lanes, bool scales)
      : builder_(builder), lanes_(lanes), math_(builder, lanes, scales, "f") {}

  // The vector of results, until they are released.
  VarId Apply(EpilogueOp op, VarId x, VarId y);
  // Vectors made so far are needed no more.
  void Release() { taken_ = 0; }

  // For spec/composed_functions.h.
  VarId Number(double number);
  VarId Mul(VarId a, VarId b) { return Do(BinaryOp::kMul, a, b); }
  VarId Max(VarId a, VarId b) { return Do(BinaryOp::kMax, a, b); }
  VarId Min(VarId a, VarId b) { return Do(BinaryOp::kMin, a, b); }
  VarId MulAdd(VarId a, VarId b, VarId c);
  VarId Exp(VarId x) { return Do(RowOp::kExp, x); }
  VarId Tanh(VarId x) { return Do(RowOp::kTanh, x); }
  VarId Erf(VarId x) { return Do(RowOp::kErf, x); }
  VarId Sigmoid(VarId x) { return Do(RowOp::kSigmoid, x); }
  VarId Silu(VarId x) { return Do(RowOp::kSilu, x); }
  VarId Gelu(VarId x) { return Do(RowOp::kGelu, x); }
  VarId GeluTanh(VarId x) { return Do(RowOp::kGeluTanh, x); }

 private:
  VarId Next();
  VarId Do(BinaryOp op, VarId a, VarId b);
  VarId Do(RowOp function, VarId x);

  ProcedureBuilder& builder_;
  const int lanes_;
  VectorMath math_;
  std::vector<VarId> vectors_;
  size_t taken_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_FUNCTION_CODE_H_
