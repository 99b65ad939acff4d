#include "cost/vector_math_cost.h"

#include "spec/composed_functions.h"

namespace kirsch {
namespace {

// Counts instead of computing.
class CountingMath {
 public:
  explicit CountingMath(const VectorUnit& unit) : unit_(unit) {}

  struct Value {};
  Value Number(double) { return {}; }
  Value Mul(Value, Value) { return Count(1); }
  Value Max(Value, Value) { return Count(1); }
  Value Min(Value, Value) { return Count(1); }
  Value MulAdd(Value, Value, Value) { return Count(1); }
  Value Exp(Value) { return Count(InstructionsOf(RowOp::kExp, unit_)); }
  Value Tanh(Value) { return Count(InstructionsOf(RowOp::kTanh, unit_)); }
  Value Erf(Value) { return Count(InstructionsOf(RowOp::kErf, unit_)); }
  Value Sigmoid(Value) { return Count(InstructionsOf(RowOp::kSigmoid, unit_)); }
  Value Silu(Value) { return Count(InstructionsOf(RowOp::kSilu, unit_)); }
  Value Gelu(Value) { return Count(InstructionsOf(RowOp::kGelu, unit_)); }
  Value GeluTanh(Value) { return Count(InstructionsOf(RowOp::kGeluTanh, unit_)); }

  double instructions() const { return instructions_; }

 private:
  Value Count(double instructions) {
    instructions_ += instructions;
    return {};
  }

  const VectorUnit& unit_;
  double instructions_ = 0;
};

}  // namespace

double InstructionsOf(RowOp op, const VectorUnit& unit) {
  const double scaling = unit.masks ? 2 : 7;  // AVX-512F's scaling is two micro-operations
  switch (op) {
    case RowOp::kLoad:
    case RowOp::kNumber:
    case RowOp::kDiv:
    case RowOp::kSqrt:
      return 0;
    case RowOp::kExp:
      return 12 + scaling;
    case RowOp::kTanh:
      return 38;
    case RowOp::kErf:
      return 34;
    case RowOp::kSigmoid:
      return 23 + scaling;
    case RowOp::kSilu:
      return 30;
    case RowOp::kGelu:  // and a division, beside them
      return 31;
    case RowOp::kGeluTanh:
      return 33;
    default:
      return 1;
  }
}

double InstructionsOf(EpilogueOp op, const VectorUnit& unit) {
  if (!IsFunction(op)) return 1;
  CountingMath math(unit);
  ComposeFunction(math, op, CountingMath::Value{}, CountingMath::Value{});
  return math.instructions();
}

}  // namespace kirsch
