// SPDX-License-Identifier: Apache-2.0
#include "cost/vector_math_cost.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "spec/composition.h"

namespace kirsch {
namespace {

// An algebra of spec/composition.h that counts instructions instead of computing. Divisions and roots have
// rates of their own, so they are counted apart. A value is how many instructions come one after the other
// until it is there.
class CountingMath {
 public:
  CountingMath(const VectorUnit& unit, Dtype type) : scales_(unit.masks), wide_(type == Dtype::kF64) {}

  using Value = double;
  struct Whole {
    Value value;
  };
  bool IsWide() const { return wide_; }
  Value Number(double) { return 0; }
  Value Add(Value a, Value b) { return Count(1, a, b); }
  Value Sub(Value a, Value b) { return Count(1, a, b); }
  Value Mul(Value a, Value b) { return Count(1, a, b); }
  Value Max(Value a, Value b) { return Count(1, a, b); }
  Value Min(Value a, Value b) { return Count(1, a, b); }
  Value EitherNan(Value a, Value b) { return Count(1, a, b); }
  Value Fma(Value a, Value b, Value c) { return Count(1, a, b, c); }
  Value FmaSub(Value a, Value b, Value c) { return Count(1, a, b, c); }
  Value FmaNeg(Value a, Value b, Value c) { return Count(1, a, b, c); }
  Value Abs(Value a) { return Count(1, a); }
  Value MinusAbs(Value a) { return Count(1, a); }
  Value Negative(Value a) { return Count(1, a); }
  Value Rounded(Value a, Rounding) { return Count(2, a); }  // micro-operations, of Intel's CPUs
  struct Split {
    Value high, low;
  };
  Split Product(Value a, Value b) { return Rest(Count(1, a, b), 1); }
  Split Sum(Value a, Value b) { return Rest(Count(1, a, b), 5); }
  Split Ratio(Value a, Split b) { return Rest(Count(1, Div(a, b.high), b.low), 3); }
  struct Parts {
    Value exponent, mantissa;
  };
  Parts Parted(Value a) { return {Count(8, a), Count(3, a)}; }
  Value Corrected(Value x, Value, Value) { return x; }
  Value WithSignOf(Value x, Value magnitude) { return Count(2, x, magnitude); }
  Value Select(Comparison, Value x, Value y, Value a, Value b) { return Count(2, std::max(x, y), a, b); }
  Whole RoundedProduct(Value a, double, int) { return {Count(2, a)}; }
  // AVX-512F's scaling is two micro-operations. There are six without it. What goes from floats to integers
  // and back is delayed by about one more.
  Value Scaled(Value m, Whole exponent) { return Count(scales_ ? 2 : 7, m, exponent.value); }
  Value Raised(Value m, Whole exponent) { return Count(3, m, exponent.value); }
  Value Div(Value a, Value b) {
    ++work_.divisions;
    return std::max(a, b) + kDivisionSteps;
  }
  Value Sqrt(Value a) {
    ++work_.roots;
    return a + kDivisionSteps;
  }

  // The work, for a result that is there after so many steps.
  VectorWork WorkFor(Value result) const {
    VectorWork work = work_;
    work.steps = result;
    return work;
  }

 private:
  static constexpr double kDivisionSteps = 3;  // additions that take as long as a division

  Value Count(double instructions, Value a, Value b = 0, Value c = 0) {
    work_.instructions += instructions;
    return std::max({a, b, c}) + instructions;
  }
  Split Rest(Value high, double instructions) { return {high, Count(instructions, high)}; }

  const bool scales_, wide_;
  VectorWork work_;
};

}  // namespace

VectorWork WorkOf(Operation op, Dtype type, const VectorUnit& unit) {
  if (op == Operation::kLoad || op == Operation::kNumber) return {};
  if (op == Operation::kMul && type == Dtype::kS32) return {.products = 1, .steps = 1};
  if (Info(op).reduces || op == Operation::kF32 || op == Operation::kIndex)
    return {.instructions = 1, .steps = 1};
  CountingMath math(unit, type);
  return math.WorkFor(
      Compose(math, type == Dtype::kS32 ? OfNumbers(op) : op, CountingMath::Value{}, CountingMath::Value{}));
}

VectorWork WorkOf(const RowProgram& program, const std::vector<int>& values, const VectorUnit& unit) {
  VectorWork all;
  absl::InlinedVector<double, 64> steps(program.values.size(), 0);  // of operands that others make: none
  const auto after = [&](int operand) { return operand < 0 ? 0 : steps[static_cast<size_t>(operand)]; };
  for (int v : values) {
    const RowValue& value = program.values[static_cast<size_t>(v)];
    const VectorWork work = WorkOf(value.op, value.type, unit);
    steps[static_cast<size_t>(v)] = std::max({after(value.a), after(value.b), after(value.c)}) + work.steps;
    all.steps = std::max(all.steps, after(v));
    all.instructions += work.instructions;
    all.divisions += work.divisions;
    all.roots += work.roots;
    all.products += work.products;
  }
  return all;
}

double ArithmeticCycles(const VectorWork& work, const VectorUnit& unit) {
  return work.instructions / (unit.fma_per_cycle * unit.elementwise_per_fma) +
         work.products / unit.rate(Arithmetic::kMultiplyAdd).per_cycle;
}

double DivisionCycles(const VectorWork& work, Dtype type, const VectorUnit& unit) {
  const int lanes = unit.lanes(Dtype::kF32);
  const double division = lanes == 16 ? 16 : lanes == 8 ? 5 : 3, root = lanes == 16 ? 18 : lanes == 8 ? 6 : 3;
  constexpr double kWide = 1.6;  // a vector of f64 has fewer elements, but more digits of each
  return (work.divisions * division + work.roots * root) * (type == Dtype::kF64 ? kWide : 1);
}

double InstructionsOf(Operation op, const VectorUnit& unit) {
  return WorkOf(op, Dtype::kF32, unit).instructions;
}

}  // namespace kirsch
