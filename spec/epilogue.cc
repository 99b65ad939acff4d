// SPDX-License-Identifier: Apache-2.0
#include "spec/epilogue.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "spec/check.h"
#include "spec/element.h"
#include "spec/element_array.h"
#include "spec/text/cat.h"
#include "spec/uncertain.h"

namespace kirsch {
namespace {

// Rounds `value` to a float of the type. If it may be off, the kernel rounds another value than this, so the
// error grows by what both roundings may add; an exact value stays exact.
Uncertain Rounded(Dtype type, double value, double error) {
  const auto [unit, least, most] = PrecisionOf(type);
  const double rounded = RoundedTo(type, value);
  if (error > 0 && std::abs(value) + error > most) return {value, HUGE_VAL};
  if (error > 0) error += 2 * unit * (std::abs(value) + error) + least;
  return {rounded, error};
}

// The name of a step's operand; functions call it as their option.
std::string NameOfOperand(const EpilogueStep& step) {
  switch (step.op) {
    case Operation::kAdd:
      return step.operand == EpilogueOperand::kAll ? "residual" : "bias";
    case Operation::kSub:
      return "offset";
    case Operation::kMul:
      return "scale";
    case Operation::kMax:
    case Operation::kMaxNum:
      return "lower";
    case Operation::kMin:
    case Operation::kMinNum:
      return "upper";
    default:
      return std::string(Info(step.op).option.name);
  }
}

// A step on floats whose x has been rounded to the type already.
Uncertain ApplyToFloat(Operation op, Dtype type, Uncertain x, double y) {
  KIRSCH_CHECK(!IsComposed(op) || type == Dtype::kF32);
  if (IsComposed(op)) return ApplyOperation(op, x, {y, 0});
  const double value = Info(op).meaning(x.value, y);
  if (IsChoice(op)) return {value, x.error};
  return Rounded(type, value, op == Operation::kMul ? x.error * std::abs(y) : x.error);
}

}  // namespace

// f32 is the only step that changes the type.
Dtype TypeBefore(const Epilogue& epilogue, Dtype sum, int step) {
  for (int i = 0; i < step; ++i)
    if (epilogue.steps[static_cast<size_t>(i)].op == Operation::kF32) return Dtype::kF32;
  return sum;
}

std::vector<std::string> EpilogueNames(const Epilogue& epilogue) {
  std::vector<std::string> names, numbered;
  for (const EpilogueStep& step : epilogue)
    if (step.HasOperand()) names.push_back(NameOfOperand(step));
  for (size_t i = 0; i < names.size(); ++i) {
    const auto same = std::count(names.begin(), names.end(), names[i]);
    const auto before = std::count(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]);
    numbered.push_back(same > 1 ? Cat(names[i], before + 1) : names[i]);
  }
  return numbered;
}

Operation EmittedOperation(const Epilogue& epilogue, Dtype sum, int step) {
  const EpilogueStep& at = epilogue.steps[static_cast<size_t>(step)];
  const bool of_numbers =
      at.operand == EpilogueOperand::kNumber || TypeBefore(epilogue, sum, step) == Dtype::kS32;
  return of_numbers ? OfNumbers(at.op) : at.op;
}

bool IsFused(const Epilogue& epilogue, Dtype sum, int step) {
  // Integers have no fused form.
  if (step + 1 >= epilogue.count || !IsFloating(TypeBefore(epilogue, sum, step))) return false;
  const Operation op = epilogue.steps[static_cast<size_t>(step)].op,
                  next = epilogue.steps[static_cast<size_t>(step) + 1].op;
  return op == Operation::kMul && (next == Operation::kAdd || next == Operation::kSub);
}

Epilogue Transposed(const Epilogue& epilogue) {
  Epilogue transposed = epilogue;
  for (EpilogueStep& step : transposed.steps) {
    if (step.operand == EpilogueOperand::kRows)
      step.operand = EpilogueOperand::kColumns;
    else if (step.operand == EpilogueOperand::kColumns)
      step.operand = EpilogueOperand::kRows;
  }
  return transposed;
}

std::string PrintEpilogue(const Epilogue& epilogue, Dtype sum) {
  std::string text;
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    if (i > 0) text += ",";
    // The shortest text: max:0 is relu.
    if (step.op == Operation::kMax && step.operand == EpilogueOperand::kNumber && step.number == 0) {
      Append(&text, Name(Operation::kRelu));
      continue;
    }
    Append(&text, Name(step.op));
    if (step.HasOperand()) Append(&text, ":", kEpilogueOperands[static_cast<size_t>(step.operand)].name);
    if (step.operand != EpilogueOperand::kNumber) continue;
    // The fewest digits that stand for the number.
    char digits[32];
    const Dtype type = TypeBefore(epilogue, sum, i);
    const double number = NumberOf(step, type);
    const auto end = type == Dtype::kF64 ? std::to_chars(digits, digits + sizeof(digits), number)
                     : IsFloating(type)
                         ? std::to_chars(digits, digits + sizeof(digits), static_cast<float>(number))
                         : std::to_chars(digits, digits + sizeof(digits), static_cast<int32_t>(number));
    Append(&text, ":", std::string_view(digits, static_cast<size_t>(end.ptr - digits)));
  }
  return text;
}

double NumberOf(const EpilogueStep& step, Dtype type) {
  if (step.operand == EpilogueOperand::kNone) return 0;
  return LoadElement(type, &step.number, 0);
}

Uncertain ApplyStep(Operation op, Dtype type, Uncertain x, double y) {
  if (std::isinf(x.error)) return x;
  if (IsFloating(type)) return ApplyToFloat(op, type, Rounded(type, x.value, x.error), y);
  // Sums of integers are exact, and f32 rounds one once.
  if (op == Operation::kF32) return {static_cast<float>(x.value), 0};
  return ApplyToIntegers(op, {x.value, 0}, {y, 0});
}

Uncertain ApplyFused(Operation next, Dtype type, Uncertain x, double factor, double addend) {
  if (std::isinf(x.error)) return x;
  const Uncertain first = Rounded(type, x.value, x.error);
  // Computed in the kernel's own type, so that it is rounded as the kernel rounds it.
  const double signed_addend = next == Operation::kSub ? -addend : addend;
  const double value = type == Dtype::kF32
                           ? std::fma(static_cast<float>(first.value), static_cast<float>(factor),
                                      static_cast<float>(signed_addend))
                           : std::fma(first.value, factor, signed_addend);
  return Rounded(type, value, first.error * std::abs(factor));
}

Uncertain StoredAs(Dtype out, Dtype type, Uncertain x) {
  if (std::isinf(x.error)) return x;
  if (!IsNarrow(out) && IsFloating(out)) return Rounded(out, x.value, x.error);
  // 2^-8 is half the distance of 1 and the next bf16, and 2^-133 the least bf16 above 0; two values are
  // rounded, as in Rounded.
  if (out == Dtype::kBf16) {
    const double stored = Widen(ToBf16(static_cast<float>(x.value)));
    const double error = x.error > 0 ? x.error + 2 * 0x1p-8 * (std::abs(x.value) + x.error) + 0x1p-133 : 0;
    return {stored, error};
  }
  // An integer that may be off by an error below 1 may be the next one.
  const auto least = static_cast<double>(LeastOf(out)), most = static_cast<double>(MostOf(out));
  double whole = type == Dtype::kF32 ? std::nearbyint(static_cast<float>(x.value)) : x.value;
  if (std::isnan(whole)) whole = least;
  return {std::clamp(whole, least, most), x.error > 0 ? std::floor(x.error + 1) : 0};
}

}  // namespace kirsch
