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
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/dtype.h"
#include "spec/operation.h"

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

// The epilogue of the transposed problem: rows become columns.
Epilogue Transposed(const Epilogue& epilogue);

// The name of each operand in memory, after its step: "bias" of an add, "residual" where that is a whole
// matrix, "scale" of a mul. Where several steps have the same, a number follows: "bias1" and "bias2".
std::vector<std::string> EpilogueNames(const Epilogue& epilogue);

// "f32,mul:n,add:3", as in specs; "relu" stands for "max:0".
std::string PrintEpilogue(const Epilogue& epilogue, Dtype sum);

// A step's number, which is of a value of the type.
double NumberOf(const EpilogueStep& step, Dtype type);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_EPILOGUE_H_
