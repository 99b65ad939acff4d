// SPDX-License-Identifier: Apache-2.0
// Holds an epilogue: a few elementwise steps on each sum before it is stored, with scalars, vectors or a
// matrix.
//
//   matmul f32 8x64x64 epilogue=add:n,relu     out[m][n] = max(sum + bias[n], 0)
#ifndef KIRSCH_SPEC_EPILOGUE_H_
#define KIRSCH_SPEC_EPILOGUE_H_

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/dtype.h"
#include "spec/operation.h"
#include "spec/uncertain.h"

namespace kirsch {

// The table's file format numbers them as they come.
enum class EpilogueOperand : uint8_t {
  kNone,
  kNumber,   // a constant of the kernel
  kScalar,   // one element
  kRows,     // one element for each row of the output
  kColumns,  // one for each column
  kAll,      // one for each element, lying as the output does
};

struct EpilogueOperandInfo {
  EpilogueOperand operand;
  std::string_view name;  // in a spec, after the colon; numbers are themselves there
};
inline constexpr std::array<EpilogueOperandInfo, 6> kEpilogueOperands = {{
    {EpilogueOperand::kNone, ""},
    {EpilogueOperand::kNumber, "number"},
    {EpilogueOperand::kScalar, "scalar"},
    {EpilogueOperand::kRows, "m"},
    {EpilogueOperand::kColumns, "n"},
    {EpilogueOperand::kAll, "mn"},
}};

// A step on x, the value so far, and y, the operand. A product of floats that the next step adds to, or
// subtracts from, is not rounded. Functions are of f32, as far off as uncertain.h says: f64 and f16 have
// none.
struct EpilogueStep {
  Operation op = Operation::kAdd;
  EpilogueOperand operand = EpilogueOperand::kNone;
  uint64_t number = 0;  // kNumber: the bits of an element of the type that the value is of by then

  // Is the operand in memory?
  bool HasOperand() const { return operand >= EpilogueOperand::kScalar; }
  friend auto operator<=>(const EpilogueStep&, const EpilogueStep&) = default;
};

inline constexpr int kMaxEpilogueSteps = 8;
inline constexpr int kMaxEpilogueOperands = 3;

// A value; steps after the first `count` are default ones, so that equal epilogues compare equal.
struct Epilogue {
  int count = 0;
  std::array<EpilogueStep, kMaxEpilogueSteps> steps = {};

  const EpilogueStep* begin() const { return steps.data(); }
  const EpilogueStep* end() const { return steps.data() + count; }
  bool empty() const { return count == 0; }
  int operands() const {
    int operands = 0;
    for (const EpilogueStep& step : *this) operands += step.HasOperand() ? 1 : 0;
    return operands;
  }
  // Are there steps that take much longer than one instruction?
  bool HasFunctions() const {
    return std::any_of(begin(), end(), [](const EpilogueStep& step) { return IsComposed(step.op); });
  }
  friend auto operator<=>(const Epilogue&, const Epilogue&) = default;
};

// The type of the value before step `step` (0: the sum's own), sums being of type `sum`. TypeAfter: after the
// last step.
Dtype TypeBefore(const Epilogue& epilogue, Dtype sum, int step);
inline Dtype TypeAfter(const Epilogue& epilogue, Dtype sum) {
  return TypeBefore(epilogue, sum, epilogue.count);
}

// The operation that code has for step `step`, sums being of type `sum`. Where the step has a number, or is
// of integers, max and min become maxnum and minnum, which are single instructions. Then the number comes
// first, as the argument that may be a NaN has to come second.
Operation EmittedOperation(const Epilogue& epilogue, Dtype sum, int step);

// True if step `step` is a multiplication that is one operation with the addition or subtraction after it.
bool IsFused(const Epilogue& epilogue, Dtype sum, int step);

// The epilogue of the transposed problem: rows become columns.
Epilogue Transposed(const Epilogue& epilogue);

// The name of each operand in memory, after its step: "bias" of an add, "residual" where that is a whole
// matrix, "scale" of a mul. Where several steps have the same, a number follows: "bias1" and "bias2".
std::vector<std::string> EpilogueNames(const Epilogue& epilogue);

// "f32,mul:n,add:3", as in specs; "relu" stands for "max:0".
std::string PrintEpilogue(const Epilogue& epilogue, Dtype sum);

// Computes the element of type `out` that `sum` becomes; operand(i) is the element of the epilogue's i-th
// operand in memory.
// If the sum has no error and no step is a function, this is what a kernel computes, bit for bit. Else the
// error is a bound of how far off a kernel may be: that of the sum, and what roundings and functions add. A
// value that may be anything has an infinite error.
// In the end, floats become integers to nearest, ties to even. A value beyond the integers' range becomes the
// nearest in it, a NaN the least. An output of integers saturates.
template <typename OperandAt>
Uncertain Apply(const Epilogue& epilogue, Dtype sum_type, Dtype out, Uncertain sum, const OperandAt& operand);

// For Apply: one step, two steps that are fused (`addend` is the second's operand), what is stored, and a
// step's number.
Uncertain ApplyStep(Operation op, Dtype type, Uncertain x, double y);
Uncertain ApplyFused(Operation next, Dtype type, Uncertain x, double factor, double addend);
Uncertain StoredAs(Dtype out, Dtype type, Uncertain x);
double NumberOf(const EpilogueStep& step, Dtype type);

template <typename OperandAt>
Uncertain Apply(const Epilogue& epilogue, Dtype sum_type, Dtype out, Uncertain sum,
                const OperandAt& operand) {
  Uncertain x = sum;
  int next_operand = 0;
  const auto value_of = [&](int step) {
    const EpilogueStep& s = epilogue.steps[static_cast<size_t>(step)];
    return s.HasOperand() ? operand(next_operand++) : NumberOf(s, TypeBefore(epilogue, sum_type, step));
  };
  for (int step = 0; step < epilogue.count; ++step) {
    const Operation op = epilogue.steps[static_cast<size_t>(step)].op;
    if (IsFused(epilogue, sum_type, step)) {
      const double factor = value_of(step);
      ++step;
      x = ApplyFused(epilogue.steps[static_cast<size_t>(step)].op, TypeBefore(epilogue, sum_type, step), x,
                     factor, value_of(step));
    } else {
      x = ApplyStep(op, TypeBefore(epilogue, sum_type, step), x, value_of(step));
    }
  }
  return StoredAs(out, TypeAfter(epilogue, sum_type), x);
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_EPILOGUE_H_
