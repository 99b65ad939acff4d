// SPDX-License-Identifier: Apache-2.0
#include "spec/language/epilogue_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "absl/status/status.h"
#include "spec/element.h"
#include "spec/element_array.h"
#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// A hint at the step that `name` may have been meant for. relu is no step of the table: it is max:0.
std::string StepHint(std::string_view name) {
  std::vector<std::string_view> known = {Name(Operation::kRelu)};
  for (const OperationInfo& info : kOperations)
    if (IsStep(info.op)) known.push_back(info.name);
  return DidYouMean(name, known);
}

// The steps' names, with `after` behind each. `takes`: of those that take an operand, else of those that
// don't. The step f32 is left out, as it comes first in StepsText.
std::string NamesOfSteps(bool takes, std::string_view after) {
  std::string names;
  for (const OperationInfo& info : kOperations)
    if (IsStep(info.op) && info.op != Operation::kF32 && (info.operands() == 2) == takes)
      Append(&names, names.empty() ? "" : " ", info.name, after);
  return names;
}

std::string AnyStep() { return Cat("a step (", StepsText(), ")"); }

// Reads the steps one after the other, and keeps the type of the value between them. It begins as the type of
// the sums, and the step f32 makes it f32.
class EpilogueParser {
 public:
  EpilogueParser(std::string_view source, Dtype sum) : source_(source), type_(sum) {}

  // Reads "NAME" or "NAME:OPERAND".
  absl::Status ParseStep(const Word& word) {
    if (epilogue_.count == kMaxEpilogueSteps)
      return ExpectedAt(source_, word, Cat("at most ", kMaxEpilogueSteps, " steps"));
    // The step counts from here on, so that a limit on operands sees this one, too.
    EpilogueStep& step = epilogue_.steps[static_cast<size_t>(epilogue_.count)];
    ++epilogue_.count;
    if (word.text == Name(Operation::kRelu)) {
      step = {Operation::kMax, EpilogueOperand::kNumber, 0};
      return absl::OkStatus();
    }
    const size_t colon = word.text.find(':');
    const Word name = word.Part(0, std::min(colon, word.text.size()));
    const auto known = std::ranges::find_if(
        kOperations, [&](const OperationInfo& info) { return IsStep(info.op) && info.name == name.text; });
    if (known == kOperations.end()) return ExpectedAt(source_, word, AnyStep(), StepHint(name.text));
    step.op = known->op;
    // Values that are f64 or f16 take single instructions only, and stay what they are.
    if (Info(type_).own_sums && (IsComposed(step.op) || step.op == Operation::kF32))
      return ExpectedAt(source_, word,
                        Cat("add, sub, mul, max, min, relu, maxnum or minnum after sums of ",
                            Info(CallersType(type_)).name));
    if (!known->integers && type_ == Dtype::kS32)
      return ExpectedAt(source_, word, "a function of an f32 only (f32 before it makes it one)");
    const bool takes = known->operands() == 2;
    if (!takes && colon != std::string_view::npos)
      return ExpectedAt(source_, word, Cat(known->name, ", without an operand"));
    if (step.op == Operation::kF32) return ParseConversion(word);
    if (!takes) return absl::OkStatus();
    if (colon == std::string_view::npos) return ExpectedAt(source_, word, AnyStep());
    return ParseOperand(word.Part(colon + 1), &step);
  }

  const Epilogue& epilogue() const { return epilogue_; }

 private:
  // The step f32. Sums of s32 are the only ones that are not f32 and may be converted.
  absl::Status ParseConversion(const Word& word) {
    if (type_ == Dtype::kF32) return ExpectedAt(source_, word, "no conversion of what is f32 already");
    type_ = Dtype::kF32;
    return absl::OkStatus();
  }

  // The operand: a word for what in memory it is (n, m, mn, scalar), or a number.
  absl::Status ParseOperand(const Word& word, EpilogueStep* step) {
    // The table's rows before kScalar are no words: a number stands for itself.
    for (const EpilogueOperandInfo& info : kEpilogueOperands)
      if (info.operand >= EpilogueOperand::kScalar && info.name == word.text) step->operand = info.operand;
    if (step->operand == EpilogueOperand::kNone) return ParseNumber(word, step);
    if (epilogue_.operands() > kMaxEpilogueOperands)
      return ExpectedAt(source_, word, Cat("at most ", kMaxEpilogueOperands, " operands in memory"));
    return absl::OkStatus();
  }

  absl::Status ParseNumber(const Word& word, EpilogueStep* step) {
    const char *const first = word.text.data(), *const last = first + word.text.size();
    step->operand = EpilogueOperand::kNumber;
    // Beside integers, a number must be one that s32 holds. It is never rounded.
    if (type_ == Dtype::kS32) {
      int32_t number = 0;
      const auto [end, error] = std::from_chars(first, last, number);
      step->number = static_cast<uint32_t>(number);
      if (error == std::errc() && end == last) return absl::OkStatus();
      return ExpectedAt(source_, word, "n, m, mn, scalar or an s32 (f32 before it makes it one)");
    }
    return type_ == Dtype::kF32 ? ParseReal<float>(word, step) : ParseReal<double>(word, step);
  }

  // Rounds the number to the type of the value, as the kernel has it. -0 becomes 0, as specs have one form of
  // it. A number that is too large for the type would become infinite: it is refused.
  template <typename Real>
  absl::Status ParseReal(const Word& word, EpilogueStep* step) {
    const char *const first = word.text.data(), *const last = first + word.text.size();
    Real number = 0;
    const auto [end, error] = std::from_chars(first, last, number);
    const double rounded = number == 0 ? 0 : RoundedTo(type_, number);
    StoreElement(type_, rounded, &step->number, 0);
    if (error == std::errc() && end == last && std::isfinite(rounded)) return absl::OkStatus();
    return ExpectedAt(source_, word, Cat("n, m, mn, scalar or a finite ", Info(CallersType(type_)).name));
  }

  const std::string_view source_;
  Dtype type_;
  Epilogue epilogue_;
};

}  // namespace

std::string StepsText() {
  return Cat(Name(Operation::kF32), " ", Name(Operation::kRelu), " ", NamesOfSteps(true, ":X"),
             ", where X is n, m, mn, scalar or a number; ", NamesOfSteps(false, ""));
}

absl::StatusOr<Epilogue> ParseEpilogue(std::string_view source, const Word& word, Dtype sum) {
  EpilogueParser parser(source, sum);
  for (const Word& step : Split(word, ',')) KIRSCH_RETURN_IF_ERROR(parser.ParseStep(step));
  return parser.epilogue();
}

bool MayStore(Dtype from, Dtype out) {
  if (Info(from).own_sums || Info(out).own_sums) return from == out;
  if (out == Dtype::kU8 || out == Dtype::kS8 || out == Dtype::kS16) return true;
  return from == Dtype::kF32 ? out == Dtype::kF32 || out == Dtype::kBf16 : out == Dtype::kS32;
}

}  // namespace kirsch
