// SPDX-License-Identifier: Apache-2.0
// Interprets row programs line by line. A line is a row, or a column if reductions go down the columns. All
// values of a line are computed in order, without passes: passes are a choice of the code, not a part of the
// meaning.
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "spec/check.h"
#include "spec/graph/row_passes.h"
#include "spec/meaning/elementwise.h"
#include "spec/meaning/interpret_kernel.h"

namespace kirsch {
namespace {

class LineInterpreter {
 public:
  LineInterpreter(const RowShape& shape, const InterpretedOperands& at, int64_t length,
                  InterpreterMemory* memory)
      : shape_(shape),
        program_(shape.program),
        at_(at),
        length_(length),
        memory_(*memory),
        per_line_(FindPasses(shape.program, shape.schedule).per_row) {
    // The interpreter ignores the schedule, but code could not follow an unsound one.
    KIRSCH_CHECK(IsSound(program_, shape.schedule));
    for (bool per_line : per_line_) values_.emplace_back(static_cast<size_t>(per_line ? 1 : length));
  }

  // All values of a line are computed before a result is stored, so results may replace inputs.
  void Run(int64_t line) {
    for (size_t value = 0; value < values_.size(); ++value) Compute(value, line);
    for (size_t result = 0; result < program_.results.size(); ++result) {
      const auto value = static_cast<size_t>(program_.results[result].value);
      const int64_t stride = shape_.result_row_strides[result];
      std::vector<double> stored = values_[value];
      for (double& x : stored) x = StoredAsElement(program_.results[result].dtype, {x, 0}).value;
      memory_.Write(at_[program_.inputs.size() + result], Start(stride, line), Step(stride),
                    static_cast<int64_t>(stored.size()), stored.data());
    }
  }

 private:
  // True if lines are columns.
  bool down() const { return program_.reduces_rows; }
  // Where a line begins, and the distance of its elements, in an operand whose rows are `stride` elements
  // apart.
  int64_t Start(int64_t stride, int64_t line) const { return down() ? line : line * stride; }
  int64_t Step(int64_t stride) const { return down() ? stride : 1; }

  void Compute(size_t number, int64_t line) {
    const RowValue& value = program_.values[number];
    std::vector<double>& to = values_[number];
    // A value that is one for the line has one element, which all elements meet.
    const auto operand = [&](int v, size_t i) {
      const std::vector<double>& from = values_[static_cast<size_t>(v)];
      return from[from.size() == 1 ? 0 : i];
    };
    switch (value.op) {
      case Operation::kLoad:
        return Load(value, line, &to);
      case Operation::kIndex:
        std::iota(to.begin(), to.end(), 0);
        return;
      case Operation::kSum:
      case Operation::kMaximum:
        to[0] = Reduce(value);
        return;
      // Any other operation goes element by element.
      default:
        for (size_t i = 0; i < to.size(); ++i) {
          const auto at = [&](int v) { return Uncertain{operand(v, i), 0}; };
          to[i] = Rounded(value.type, ElementwiseValue(program_, static_cast<int>(number), at).value);
        }
    }
  }

  // Every operation's result is rounded to its type.
  static double Rounded(Dtype type, double x) { return type == Dtype::kF32 ? static_cast<float>(x) : x; }

  void Load(const RowValue& value, int64_t line, std::vector<double>* to) {
    const auto input = static_cast<size_t>(value.input);
    const int64_t stride = shape_.input_row_strides[input];
    const bool columns = program_.inputs[input].along_columns;
    // An input may be the same for all rows (stride 0), or for all columns.
    const int64_t start = down() ? (columns ? line : 0) : RowOf(program_.inputs[input], line) * stride;
    const int64_t step = down() ? stride : 1;
    memory_.Read(at_[input], start, step, static_cast<int64_t>(to->size()), to->data());
    if (value.type == Dtype::kF32)
      for (double& x : *to) x = static_cast<float>(x);
  }

  // The row that is read of an input for a line: perhaps the one that another input says.
  int64_t RowOf(const RowInput& input, int64_t line) {
    if (input.row_from < 0) return line;
    const auto from = static_cast<size_t>(input.row_from);
    double row = 0;
    memory_.Read(at_[from], line * shape_.input_row_strides[from], 1, 1, &row);
    return std::clamp<int64_t>(static_cast<int64_t>(row), 0, input.rows - 1);
  }

  // Reduces over all elements of the line, also where the argument is one number for all of them.
  double Reduce(const RowValue& value) {
    const std::vector<double>& from = values_[static_cast<size_t>(value.a)];
    const int64_t times = length_ / static_cast<int64_t>(from.size());
    double sum = 0, most = -std::numeric_limits<double>::infinity();
    for (double x : from) {
      sum += x;
      // A NaN is never greater, so the maximum passes over it.
      if (x > most) most = x;
    }
    return Rounded(value.type, value.op == Operation::kSum ? sum * static_cast<double>(times) : most);
  }

  const RowShape& shape_;
  const RowProgram& program_;
  const InterpretedOperands& at_;
  const int64_t length_;
  InterpreterMemory& memory_;
  const std::vector<bool> per_line_;
  std::vector<std::vector<double>> values_;
};

}  // namespace

void InterpretKernel(const RowShape& rows, const InterpretedOperands& at, int64_t count,
                     InterpreterMemory* memory) {
  const bool down = rows.program.reduces_rows;
  const int64_t columns = rows.columns;
  LineInterpreter lines(rows, at, down ? count : columns, memory);
  for (int64_t line = 0; line < (down ? columns : count); ++line) lines.Run(line);
}

}  // namespace kirsch
