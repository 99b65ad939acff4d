// SPDX-License-Identifier: Apache-2.0
#include "spec/graph/epilogue_program.h"

namespace kirsch {

RowProgram RowProgramOf(const Epilogue& epilogue, Dtype sum, Dtype out) {
  RowProgram program;
  program.values.reserve(static_cast<size_t>(1 + 2 * epilogue.count));
  const auto push = [&](const RowValue& value) {
    program.values.push_back(value);
    return static_cast<int>(program.values.size()) - 1;
  };
  const auto load = [&](Dtype type, bool along_columns, bool along_rows) {
    program.inputs.push_back({type, along_columns, along_rows});
    return push({Operation::kLoad, -1, -1, static_cast<int>(program.inputs.size()) - 1, 0, type});
  };
  int x = load(sum, true, true);
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    const Dtype type = TypeBefore(epilogue, sum, i);
    const bool all = step.operand == EpilogueOperand::kAll;
    int y = -1;
    if (step.HasOperand())
      y = load(type, all || step.operand == EpilogueOperand::kColumns,
               all || step.operand == EpilogueOperand::kRows);
    else if (step.operand == EpilogueOperand::kNumber)
      y = push({Operation::kNumber, -1, -1, -1, NumberOf(step, type), type});
    x = push(ValueOf(program, step.op, x, y));
  }
  program.results.push_back({x, out});
  return program;
}

RowProgram RowProgramOf(const Spec& spec) {
  return RowProgramOf(spec.op_info().epilogue, AccumulatorOf(spec), spec.out().dtype);
}

}  // namespace kirsch
