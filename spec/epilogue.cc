// SPDX-License-Identifier: Apache-2.0
#include "spec/epilogue.h"

#include <algorithm>
#include <charconv>

#include "spec/element_array.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

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
    const auto same = std::ranges::count(names, names[i]);
    const auto before = std::count(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]);
    numbered.push_back(same > 1 ? Cat(names[i], before + 1) : names[i]);
  }
  return numbered;
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

}  // namespace kirsch
