#include "cost/vector_math_cost.h"

#include "spec/composed_functions.h"
#include "spec/composition.h"

namespace kirsch {
namespace {

// Counts instead of computing: an algebra of spec/composition.h.
class CountingMath {
 public:
  explicit CountingMath(const VectorUnit& unit) : scales_(unit.masks) {}

  struct Value {};
  struct Whole {
    Value value;
  };
  Value Number(float) { return {}; }
  Value Add(Value, Value) { return Count(1); }
  Value Sub(Value, Value) { return Count(1); }
  Value Mul(Value, Value) { return Count(1); }
  Value Max(Value, Value) { return Count(1); }
  Value Min(Value, Value) { return Count(1); }
  Value Fma(Value, Value, Value) { return Count(1); }
  Value FmaSub(Value, Value, Value) { return Count(1); }
  Value FmaNeg(Value, Value, Value) { return Count(1); }
  Value Abs(Value) { return Count(1); }
  Value MinusAbs(Value) { return Count(1); }
  Value Negative(Value) { return Count(1); }
  struct Split {
    Value high, low;
  };
  Split Product(Value, Value) { return {Count(1), Count(1)}; }
  Value Corrected(Value x, Value, Value) { return x; }
  Value WithSignOf(Value, Value) { return Count(2); }
  Value Select(Value, Value, Value, Value) { return Count(2); }
  Whole RoundedProduct(Value, float, int) { return {Count(2)}; }
  // AVX-512F's scaling is two micro-operations. Six without it, and what goes from floats to integers and
  // back is delayed by about one more.
  Value Scaled(Value, Whole) { return Count(scales_ ? 2 : 7); }
  Value Raised(Value, Whole) { return Count(3); }
  Value Div(Value, Value) {
    ++work_.divisions;
    return {};
  }
  Value Sqrt(Value) {
    ++work_.roots;
    return {};
  }

  const VectorWork& work() const { return work_; }

 private:
  Value Count(double instructions) {
    work_.instructions += instructions;
    return {};
  }

  const bool scales_;
  VectorWork work_;
};

// For spec/composed_functions.h, likewise.
class CountingSteps {
 public:
  explicit CountingSteps(const VectorUnit& unit) : unit_(unit) {}

  struct Value {};
  Value Number(double) { return {}; }
  Value Mul(Value, Value) { return Count(RowOp::kMul); }
  Value Max(Value, Value) { return Count(RowOp::kMax); }
  Value Min(Value, Value) { return Count(RowOp::kMin); }
  Value MulAdd(Value, Value, Value) { return Count(RowOp::kAdd); }
  Value Exp(Value) { return Count(RowOp::kExp); }
  Value Tanh(Value) { return Count(RowOp::kTanh); }
  Value Erf(Value) { return Count(RowOp::kErf); }
  Value Sigmoid(Value) { return Count(RowOp::kSigmoid); }
  Value Silu(Value) { return Count(RowOp::kSilu); }
  Value Gelu(Value) { return Count(RowOp::kGelu); }
  Value GeluTanh(Value) { return Count(RowOp::kGeluTanh); }

  double instructions() const { return instructions_; }

 private:
  Value Count(RowOp op) {
    instructions_ += InstructionsOf(op, unit_);
    return {};
  }

  const VectorUnit& unit_;
  double instructions_ = 0;
};

}  // namespace

VectorWork WorkOf(RowOp op, const VectorUnit& unit) {
  if (op == RowOp::kLoad || op == RowOp::kNumber) return {};
  if (Info(op).reduces) return {1, 0, 0};
  CountingMath math(unit);
  Composer<CountingMath>(math).Compose(op, {}, {});
  return math.work();
}

double InstructionsOf(RowOp op, const VectorUnit& unit) { return WorkOf(op, unit).instructions; }

double InstructionsOf(EpilogueOp op, const VectorUnit& unit) {
  if (!IsFunction(op)) return 1;
  CountingSteps math(unit);
  ComposeFunction(math, op, CountingSteps::Value{}, CountingSteps::Value{});
  return math.instructions();
}

}  // namespace kirsch
