// SPDX-License-Identifier: Apache-2.0
#include "cost/vector_math_cost.h"

#include "spec/composition.h"

namespace kirsch {
namespace {

// An algebra of spec/composition.h that counts instructions instead of computing. Divisions and roots have
// rates of their own, so they are counted apart.
class CountingMath {
 public:
  CountingMath(const VectorUnit& unit, Dtype type) : scales_(unit.masks), wide_(type == Dtype::kF64) {}

  struct Value {};
  struct Whole {
    Value value;
  };
  bool IsWide() const { return wide_; }
  Value Number(double) { return {}; }
  Value Add(Value, Value) { return Count(1); }
  Value Sub(Value, Value) { return Count(1); }
  Value Mul(Value, Value) { return Count(1); }
  Value Max(Value, Value) { return Count(1); }
  Value Min(Value, Value) { return Count(1); }
  Value EitherNan(Value, Value) { return Count(1); }
  Value Fma(Value, Value, Value) { return Count(1); }
  Value FmaSub(Value, Value, Value) { return Count(1); }
  Value FmaNeg(Value, Value, Value) { return Count(1); }
  Value Abs(Value) { return Count(1); }
  Value MinusAbs(Value) { return Count(1); }
  Value Negative(Value) { return Count(1); }
  Value Rounded(Value, Rounding) { return Count(2); }  // micro-operations, of Intel's CPUs
  struct Split {
    Value high, low;
  };
  Split Product(Value, Value) { return {Count(1), Count(1)}; }
  Split Sum(Value, Value) { return {Count(1), Count(5)}; }
  Split Ratio(Value a, Split b) {
    Div(a, b.high);
    return {Count(1), Count(3)};
  }
  struct Parts {
    Value exponent, mantissa;
  };
  Parts Parted(Value) { return {Count(8), Count(3)}; }
  Value Corrected(Value x, Value, Value) { return x; }
  Value WithSignOf(Value, Value) { return Count(2); }
  Value Select(Comparison, Value, Value, Value, Value) { return Count(2); }
  Whole RoundedProduct(Value, double, int) { return {Count(2)}; }
  // AVX-512F's scaling is two micro-operations. There are six without it. What goes from floats to integers
  // and back is delayed by about one more.
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

  const bool scales_, wide_;
  VectorWork work_;
};

}  // namespace

VectorWork WorkOf(Operation op, Dtype type, const VectorUnit& unit) {
  if (op == Operation::kLoad || op == Operation::kNumber) return {};
  if (op == Operation::kMul && type == Dtype::kS32) return {.products = 1};
  if (Info(op).reduces || op == Operation::kF32 || op == Operation::kIndex) return {.instructions = 1};
  CountingMath math(unit, type);
  Compose(math, type == Dtype::kS32 ? OfNumbers(op) : op, CountingMath::Value{}, CountingMath::Value{});
  return math.work();
}

VectorWork WorkOf(const RowProgram& program, const std::vector<int>& values, const VectorUnit& unit) {
  VectorWork all;
  for (int v : values) {
    const RowValue& value = program.values[static_cast<size_t>(v)];
    const VectorWork work = WorkOf(value.op, value.type, unit);
    all.instructions += work.instructions;
    all.divisions += work.divisions;
    all.roots += work.roots;
    all.products += work.products;
  }
  return all;
}

double ArithmeticCycles(const VectorWork& work, const VectorUnit& unit) {
  return work.instructions / unit.fma_per_cycle +
         work.products / unit.rate(Arithmetic::kMultiplyAdd).per_cycle;
}

double InstructionsOf(Operation op, const VectorUnit& unit) {
  return WorkOf(op, Dtype::kF32, unit).instructions;
}

}  // namespace kirsch
