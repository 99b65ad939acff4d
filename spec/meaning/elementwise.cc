// SPDX-License-Identifier: Apache-2.0
#include "spec/meaning/elementwise.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "spec/element.h"
#include "spec/epilogue.h"
#include "spec/graph/row_passes.h"

namespace kirsch {
namespace {

// What a kernel makes of a value that is not off.
Uncertain Exact(Dtype type, double value) { return {RoundedTo(type, value), 0}; }

// A sum or difference of a product, in one operation. The signs of a difference are those of its parts.
Uncertain MultiplyAdd(const RowValue& v, const RowOperands& operands, absl::FunctionRef<Uncertain(int)> at) {
  Uncertain a = at(operands.values[0]), c = at(operands.values[2]);
  const Uncertain b = at(operands.values[1]);
  if (v.op == Operation::kSub) (operands.product == v.a ? c : a).value *= -1;
  if (a.error + b.error + c.error != 0) return Add(Mul(a, b, v.type), c, v.type);
  // Computed in the kernel's own type, so that it is rounded as the kernel rounds it.
  if (v.type != Dtype::kF32) return Exact(v.type, std::fma(a.value, b.value, c.value));
  return {std::fma(static_cast<float>(a.value), static_cast<float>(b.value), static_cast<float>(c.value)), 0};
}

}  // namespace

Uncertain ElementwiseValue(const RowProgram& program, int value, absl::FunctionRef<Uncertain(int)> at) {
  const RowValue& v = program.values[static_cast<size_t>(value)];
  if (v.op == Operation::kNumber) return {v.number, 0};
  const RowOperands operands = OperandsOf(program, value);
  if (operands.product >= 0) return MultiplyAdd(v, operands, at);
  const auto optional = [&](int argument) { return argument < 0 ? Uncertain{} : at(argument); };
  const Uncertain a = at(v.a), b = optional(v.b), c = optional(v.c);
  if (v.op == Operation::kF32) return a.error == 0 ? Exact(v.type, a.value) : RoundedToFloat(a);
  if (v.type == Dtype::kS32) return ApplyToIntegers(v.op, a, b);
  if (IsComposed(v.op) || a.error + b.error + c.error != 0) return ApplyOperation(v.op, a, b, c, v.type);
  return Exact(v.type, MeaningOf(v.op, a.value, b.value, c.value));
}

Uncertain Apply(const RowProgram& epilogue, Uncertain sum, absl::FunctionRef<double(int)> operand) {
  std::array<Uncertain, 1 + 2 * kMaxEpilogueSteps> values;  // not allocated for each sum
  const auto at = [&](int value) { return values[static_cast<size_t>(value)]; };
  for (size_t i = 0; i < epilogue.values.size(); ++i) {
    const RowValue& value = epilogue.values[i];
    values[i] = value.op != Operation::kLoad ? ElementwiseValue(epilogue, static_cast<int>(i), at)
                : value.input == 0           ? sum
                                             : Uncertain{operand(value.input - 1), 0};
  }
  const Dtype out = epilogue.results.front().dtype;
  const Uncertain stored = at(epilogue.results.front().value);
  return stored.error == 0 && IsFloating(out) ? Exact(out, stored.value) : StoredAsElement(out, stored);
}

}  // namespace kirsch
