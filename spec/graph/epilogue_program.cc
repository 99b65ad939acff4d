// SPDX-License-Identifier: Apache-2.0
#include "spec/graph/epilogue_program.h"

namespace kirsch {
namespace {

// Appends values and inputs, and returns the values' numbers.
class ProgramOfSteps {
 public:
  int Load(Dtype type, bool along_columns, bool along_rows) {
    program.inputs.push_back({type, along_columns, along_rows});
    return Push({.op = Operation::kLoad, .input = static_cast<int>(program.inputs.size()) - 1, .type = type});
  }
  // The operand of a step on values of the type; -1: it has none.
  int Operand(const EpilogueStep& step, Dtype type) {
    const auto is = [&](EpilogueOperand operand) { return step.operand == operand; };
    const bool all = is(EpilogueOperand::kAll);
    if (step.HasOperand())
      return Load(type, all || is(EpilogueOperand::kColumns), all || is(EpilogueOperand::kRows));
    return is(EpilogueOperand::kNone)
               ? -1
               : Push({.op = Operation::kNumber, .number = NumberOf(step, type), .type = type});
  }
  int Push(const RowValue& value) {
    program.values.push_back(value);
    return static_cast<int>(program.values.size()) - 1;
  }

  RowProgram program;
};

}  // namespace

RowProgram RowProgramOf(const Epilogue& epilogue, Dtype sum, Dtype out) {
  ProgramOfSteps made;
  made.program.values.reserve(static_cast<size_t>(1 + 2 * epilogue.count));
  int x = made.Load(sum, true, true);
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    const int y = made.Operand(step, TypeBefore(epilogue, sum, i));
    x = made.Push(ValueOf(made.program, step.op, x, y));
  }
  made.program.results.push_back({x, out});
  return made.program;
}

RowProgram RowProgramOf(const Spec& spec) {
  return RowProgramOf(spec.op_info().epilogue, AccumulatorOf(spec), spec.out().dtype);
}

}  // namespace kirsch
