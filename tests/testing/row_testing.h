// SPDX-License-Identifier: Apache-2.0
// What the tests of row programs share: a slow evaluator with bounds of errors, random programs and
// schedules, and kernels run on guarded memory.
#ifndef KIRSCH_TESTS_TESTING_ROW_TESTING_H_
#define KIRSCH_TESTS_TESTING_ROW_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codegen/kernels/row_kernel.h"
#include "codegen/loop/procedure_builder.h"
#include "codegen/verify/guarded_buffer.h"
#include "spec/element_array.h"
#include "spec/graph/row_passes.h"
#include "spec/microkernel.h"
#include "spec/text/cat.h"
#include "tests/testing/codegen_testing.h"
#include "tests/testing/row_evaluation.h"

namespace kirsch::testing {

// Adds values to a program.
class RowProgramBuilder {
 public:
  int Input(const RowInput& input = {}, Dtype type = Dtype::kF32) {
    program_.inputs.push_back(input);
    RowValue load;
    load.type = type;
    load.input = static_cast<int>(program_.inputs.size()) - 1;
    return Add(load);
  }
  int Number(double number, Dtype type = Dtype::kF32) {
    RowValue value;
    value.type = type;
    value.op = Operation::kNumber;
    value.number = number;
    return Add(value);
  }
  int Op(Operation op, int a, int b = -1, int c = -1) {
    RowValue value;
    value.op = op;
    value.a = a;
    value.b = b;
    value.c = c;
    value.type = op == Operation::kF32 ? Dtype::kF32 : TypeOf(a);
    return Add(value);
  }
  Dtype TypeOf(int value) const { return program_.values[static_cast<size_t>(value)].type; }
  void Result(int value, Dtype dtype = Dtype::kF32) { program_.results.push_back({value, dtype}); }
  RowProgram& program() { return program_; }

 private:
  int Add(const RowValue& value) {
    program_.values.push_back(value);
    return static_cast<int>(program_.values.size()) - 1;
  }
  RowProgram program_;
};

inline RowProgram Softmax(Dtype type = Dtype::kF32) {
  RowProgramBuilder b;
  const int x = b.Input({type}, type),
            exp = b.Op(Operation::kExp, b.Op(Operation::kSub, x, b.Op(Operation::kMaximum, x)));
  const int sum = b.Op(Operation::kSum, exp);
  b.Result(b.Op(Operation::kMul, exp, b.Op(Operation::kDiv, b.Number(1, type), sum)), type);
  return b.program();
}
inline constexpr int kSoftmaxExp = 3;  // the exponentials' number

inline RowProgram LayerNorm(int columns) {
  RowProgramBuilder b;
  const int x = b.Input(), gamma = b.Input({Dtype::kF32, true, false}),
            beta = b.Input({Dtype::kF32, true, false});
  const int per_column = b.Number(1.0f / static_cast<float>(columns));
  const int mean = b.Op(Operation::kMul, b.Op(Operation::kSum, x), per_column),
            centred = b.Op(Operation::kSub, x, mean);
  const int squares = b.Op(Operation::kSum, b.Op(Operation::kMul, centred, centred));
  const int variance = b.Op(Operation::kAdd, b.Op(Operation::kMul, squares, per_column), b.Number(1e-5f));
  const int scale = b.Op(Operation::kDiv, b.Number(1), b.Op(Operation::kSqrt, variance));
  b.Result(b.Op(Operation::kAdd, b.Op(Operation::kMul, b.Op(Operation::kMul, centred, scale), gamma), beta));
  return b.program();
}

// The operands of a kernel in guarded memory: rows with gaps between them, which hold a pattern.
class RowMatrix {
 public:
  RowMatrix(Dtype dtype, int64_t rows, int64_t columns, int64_t stride)
      : dtype_(dtype),
        rows_(rows),
        columns_(columns),
        stride_(stride),
        buffer_(*GuardedBuffer::Create(static_cast<size_t>((stride * (rows - 1) + columns) * Bytes(dtype)),
                                       Placement::kAtEnd)) {
    std::memset(buffer_.data(), 0x5a, buffer_.bytes());
  }
  double at(int64_t row, int64_t column) const { return LoadElement(dtype_, data(), row * stride_ + column); }
  void Set(int64_t row, int64_t column, double value) {
    StoreElement(dtype_, value, data(), row * stride_ + column);
  }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  void* data() const { return buffer_.data(); }
  Dtype dtype() const { return dtype_; }
  size_t bytes() const { return buffer_.bytes(); }
  int64_t stride() const { return rows_ == 1 || stride_ == 0 ? 0 : stride_; }
  GuardedBuffer& buffer() { return buffer_; }
  bool GapsIntact() const {
    for (int64_t row = 0; row + 1 < rows_; ++row)
      for (int64_t i = (row * stride_ + columns_) * Bytes(dtype_); i < (row + 1) * stride_ * Bytes(dtype_);
           ++i)
        if (static_cast<const unsigned char*>(data())[i] != 0x5a) return false;
    return buffer_.SlackIntact();
  }

 private:
  Dtype dtype_;
  int64_t rows_, columns_, stride_;
  GuardedBuffer buffer_;
};

// A kernel, its operands, and what the results have to be. At most five inputs and two results.
class RowCase {
 public:
  RowCase(const RowProgram& program, const RowSchedule& schedule, int64_t rows, int64_t columns, int gap,
          const Target& target)
      : rows_(rows), target_(target) {
    kernel_.program = program;
    kernel_.schedule = schedule;
    kernel_.columns = columns;
    kernel_.scales = target.HasFeature("avx512f");
    for (const RowInput& input : program.inputs) {
      const int64_t width = input.along_columns ? columns : 1, height = input.along_rows ? rows : 1;
      inputs_.emplace_back(input.dtype, height, width, width + gap);
      kernel_.input_row_strides.push_back(height == 1 ? 0 : width + gap);
    }
    const RowPasses plan = FindPasses(program, schedule);
    for (const RowResult& result : program.results) {
      const bool reduced = plan.per_row[static_cast<size_t>(result.value)];
      const int64_t width = reduced && !program.reduces_rows ? 1 : columns;
      const int64_t height = reduced && program.reduces_rows ? 1 : rows;
      results_.emplace_back(result.dtype, height, width, width + gap);
      kernel_.result_row_strides.push_back(width + gap);
    }
  }

  RowKernel& kernel() { return kernel_; }
  // The code is for any number of columns up to `most`, and is told that of the operands.
  void CompileForAnyColumns(int64_t most) { most_columns_ = most; }
  // Is there such code?
  bool MayHaveAnyColumns() const {
    const auto may_vary = [&](const auto& operand) { return LanesMayVary(operand.dtype, target_); };
    const RowProgram& program = kernel_.program;
    return !program.reduces_rows && kernel_.schedule.streamed == RowSchedule::kNone &&
           std::all_of(program.inputs.begin(), program.inputs.end(), may_vary) &&
           std::all_of(program.results.begin(), program.results.end(), may_vary);
  }
  RowMatrix& input(size_t i) { return inputs_[i]; }
  RowMatrix& result(size_t i) { return results_[i]; }
  // All that is no number is the same: which of two becomes of them is a compiler's choice.
  std::vector<std::string> ResultBytes() const {
    std::vector<std::string> bytes;
    for (const RowMatrix& result : results_) {
      bytes.emplace_back(static_cast<const char*>(result.data()), result.bytes());
      const Dtype dtype = result.dtype();
      for (int64_t i = 0; i < static_cast<int64_t>(result.bytes()) / Bytes(dtype); ++i)
        if (std::isnan(LoadElement(dtype, bytes.back().data(), i)))
          StoreElement(dtype, NAN, bytes.back().data(), i);
    }
    return bytes;
  }

  // Numbers from -2 to 2, of integers -8 to 8, now and then any s32.
  void Fill(uint32_t seed) {
    std::mt19937 random(seed);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const RowInput& info = kernel_.program.inputs[i];
      const bool real = IsFloating(info.dtype);
      std::uniform_real_distribution<double> any(real                        ? -2
                                                 : Info(info.dtype).has_sign ? -8
                                                                             : 0,
                                                 real ? 2 : 8);
      for (int64_t row = 0; row < (info.along_rows ? rows_ : 1); ++row)
        for (int64_t column = 0; column < (info.along_columns ? kernel_.columns.most() : 1); ++column)
          inputs_[i].Set(row, column,
                         info.dtype == Dtype::kS32 && (row + column) % 5 == 4 ? AnyInteger(random)
                         : real                                               ? any(random)
                                                                              : std::nearbyint(any(random)));
    }
  }

  LoopProgram Program(const std::string& name) const {
    ProcedureBuilder builder(name);
    const RowProgram& row = kernel_.program;
    const auto pointer = [&](const std::string& parameter, Dtype dtype, bool stored) {
      return builder.PointerParameter(parameter, dtype, stored, kernel_.in_place);
    };
    const auto input_type = [&](size_t i) {
      return i < row.inputs.size() ? row.inputs[i].dtype : Dtype::kF32;
    };
    std::vector<VarId> inputs = {pointer("lhs", input_type(0), false), pointer("rhs", input_type(1), false)};
    for (size_t i = 2; i < row.inputs.size(); ++i)
      inputs.push_back(pointer(Cat("arg", i - 1), row.inputs[i].dtype, false));
    const VarId out = pointer("out", row.results[0].dtype, true),
                scratch = pointer("scratch", Dtype::kF32, true);
    builder.IndexParameter(kThread);
    builder.IndexParameter(kThreads);
    Call call{1, {}, {Constant(rows_)}};
    for (size_t i = 0; i < row.inputs.size(); ++i) call.pointers.push_back(At(inputs[i]));
    call.pointers.push_back(At(out));
    if (row.results.size() > 1)
      call.pointers.push_back(At(scratch, SecondResult() / Bytes(row.results[1].dtype)));
    const RowKernel compiled = Compiled();
    if (compiled.TakesScratch()) call.pointers.push_back(At(scratch));
    if (!compiled.columns.IsConstant()) call.counts.push_back(Constant(kernel_.columns));
    builder.Do(call);
    LoopProgram program;
    program.name = name;
    program.procedures = {std::move(builder).Build(), RowProcedure(compiled)};
    program.features = target_.features;
    for (const std::string& feature : RowFeatures(kernel_))
      if (!program.HasFeature(feature)) program.features.push_back(feature);
    program.masks = target_.HasFeature("avx512f");
    program.scratch_bytes = ScratchBytes();
    for (VarId i = 0; i <= out; ++i) {
      const Var& parameter = program.procedures[0].vars[static_cast<size_t>(i)];
      program.tensors.push_back({parameter.name, parameter.dtype, i == out});
    }
    return program;
  }

  // Runs it; `in_place`: with the first input's elements in the first result.
  template <typename Function>
  void Run(Function function) {
    GuardedBuffer scratch =
        *GuardedBuffer::Create(static_cast<size_t>(std::max<int64_t>(ScratchBytes(), 64)), Placement::kAtEnd);
    std::memset(scratch.data(), 0xff, scratch.bytes());
    char* const second = static_cast<char*>(scratch.data()) + SecondResult();
    if (results_.size() > 1) std::memcpy(second, results_[1].data(), results_[1].bytes());
    const auto input = [&](size_t i) -> const void* {
      return i < inputs_.size() ? inputs_[i].data() : nullptr;
    };
    for (RowMatrix& matrix : inputs_) matrix.buffer().SetReadOnly(true);
    void* const first = results_[0].data();
    if (kernel_.in_place) std::memcpy(first, input(0), inputs_[0].bytes());
    function(kernel_.in_place ? first : input(0), input(1), first, scratch.data(), input(2), input(3),
             input(4));
    for (RowMatrix& matrix : inputs_) matrix.buffer().SetReadOnly(false);
    if (results_.size() > 1) std::memcpy(results_[1].data(), second, results_[1].bytes());
    EXPECT_TRUE(scratch.SlackIntact());
    for (const RowMatrix& matrix : inputs_) EXPECT_TRUE(matrix.GapsIntact());
  }
  void RunJit() {
    const LoopProgram program = Program("entry");
    const auto kernel = JitCompile(program, target_);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    Run([&](const void* lhs, const void* rhs, void* out, void* scratch, const void* a, const void* b,
            const void* c) {
      std::vector<void*> tensors;
      for (const void* input : {lhs, rhs, a, b, c}) tensors.push_back(const_cast<void*>(input));
      tensors.resize(program.tensors.size() - 1);
      tensors.push_back(out);
      (*kernel)->Caller()({tensors, scratch});
    });
  }

  // Compares all results with the slow evaluator's.
  bool Matches() const {
    for (const RowMatrix& matrix : results_)
      if (!matrix.GapsIntact()) return Fault("what lies beside the elements of a result was written");
    const bool down = kernel_.program.reduces_rows;
    for (int64_t line = 0; line < (down ? kernel_.columns.most() : rows_); ++line) {
      const std::vector<std::vector<Bounded>> values = EvaluateLine(line);
      for (size_t i = 0; i < results_.size(); ++i) {
        const RowResult& result = kernel_.program.results[i];
        for (int64_t at = 0; at < (down ? results_[i].rows() : results_[i].columns()); ++at) {
          const int64_t row = down ? at : line, column = down ? line : at;
          const Bounded& expected = values[static_cast<size_t>(result.value)][static_cast<size_t>(at)];
          const double got = results_[i].at(row, column);
          if (!IsNear(result.dtype, got, expected))
            return Fault(Cat("result ", i, " at (", row, ", ", column, ") is ", got, ", not ", expected.value,
                             " +- ", expected.error));
        }
      }
    }
    return true;
  }

 private:
  // Kept values, then the second result.
  int64_t SecondResult() const {
    return Bytes(real()) * ScratchElements(kernel_.schedule, Compiled().columns);
  }
  Dtype real() const { return RealOf(kernel_.program); }
  RowKernel Compiled() const {
    RowKernel compiled = kernel_;
    if (most_columns_ != 0)
      compiled.columns = {SizeSymbol::kLast, std::max<int64_t>(most_columns_, kernel_.columns)};
    return compiled;
  }
  int64_t ScratchBytes() const {
    if (results_.size() < 2) return SecondResult();
    const int64_t bytes = static_cast<int64_t>(results_[1].bytes());
    return SecondResult() + (bytes + 63) / 64 * 64;
  }

  bool Fault(const std::string& what) const {
    ADD_FAILURE() << what << "; " << rows_ << " x " << kernel_.columns << ", lanes "
                  << kernel_.schedule.lanes;
    return false;
  }

  static double AnyInteger(std::mt19937& random) { return static_cast<int32_t>(random()); }

  bool IsNear(Dtype dtype, double got, const Bounded& expected) const {
    if (!std::isfinite(expected.value) || !(expected.error < 1e30) || std::fabs(expected.value) > 1e30)
      return true;
    if (IsFloating(dtype)) {
      if (dtype == Dtype::kF16 && std::fabs(expected.value) > 60000) return true;
      // Of f64, narrower floats than f32 are made by way of it.
      const double most = std::fabs(expected.value) + expected.error;
      const double rounding = (dtype == real() ? 0 : std::ldexp(most, -Info(dtype).mantissa - 1)) +
                              (real() == Dtype::kF64 && dtype != Dtype::kF64 ? most * 0x1p-24 + 0x1p-149 : 0);
      return std::fabs(got - expected.value) <= expected.error + rounding + 0x1p-25 * (dtype == Dtype::kF16);
    }
    const double least = static_cast<double>(LeastOf(dtype)), most = static_cast<double>(MostOf(dtype));
    if (expected.error > 0 && std::fabs(expected.value) > 1e9) return true;
    const auto saturated = [&](double x) { return std::clamp(x, least, most); };
    return got >= saturated(expected.value - expected.error - 0.5) &&
           got <= saturated(expected.value + expected.error + 0.5) && got == std::nearbyint(got);
  }

  // All elements of all values in one row, or, where rows are reduced, in one column.
  std::vector<std::vector<Bounded>> EvaluateLine(int64_t line) const {
    const bool down = kernel_.program.reduces_rows;
    const size_t length = static_cast<size_t>(down ? rows_ : kernel_.columns.most());
    std::vector<std::vector<Bounded>> values;
    for (const RowValue& value : kernel_.program.values) {
      std::vector<Bounded> elements(length);
      for (size_t i = 0; i < length; ++i) {
        Bounded& element = elements[i];
        const int64_t at = static_cast<int64_t>(i), row = down ? at : line, column = down ? line : at;
        if (value.op == Operation::kLoad) {
          const RowInput& info = kernel_.program.inputs[static_cast<size_t>(value.input)];
          element.value = inputs_[static_cast<size_t>(value.input)].at(info.along_rows ? row : 0,
                                                                       info.along_columns ? column : 0);
          if (value.type == Dtype::kF32) element.value = static_cast<float>(element.value);
        } else if (value.op == Operation::kNumber) {
          element.value = value.number;
        } else if (!Info(value.op).reduces) {
          const auto operand = [&](int v) { return v < 0 ? Bounded() : values[static_cast<size_t>(v)][i]; };
          if (value.type == Dtype::kS32)
            element.value = EvaluateIntegers(value.op, operand(value.a).value, operand(value.b).value);
          else
            element = Evaluate(value.op, operand(value.a), operand(value.b), operand(value.c), value.type);
        }
      }
      if (Info(value.op).reduces)
        elements.assign(length, Reduce(value.op, values[static_cast<size_t>(value.a)], value.type));
      values.push_back(std::move(elements));
    }
    return values;
  }
  static Bounded Reduce(Operation op, const std::vector<Bounded>& elements, Dtype type) {
    Bounded all = op == Operation::kSum ? Bounded{} : elements[0];
    double magnitudes = 0;
    for (const Bounded& element : elements) {
      if (std::isnan(element.value)) return {NAN, HUGE_VAL};
      if (op == Operation::kSum) {
        all = {all.value + element.value, all.error + element.error};
        magnitudes += std::fabs(element.value) + element.error;
      } else {
        all = {std::max(all.value, element.value), std::max(all.error, element.error)};
      }
    }
    const double ulp = type == Dtype::kF64 ? 0x1p-51 : 0x1p-23;  // of the evaluation's own sum, too
    if (op == Operation::kSum) all.error += static_cast<double>(elements.size() + 16) * magnitudes * ulp;
    return all;
  }

  RowKernel kernel_;
  int64_t rows_, most_columns_ = 0;
  const Target target_;
  std::vector<RowMatrix> inputs_, results_;
};

// Those of row programs that take values of a type.
inline std::vector<Operation> RowOperations(Dtype type) {
  if (type == Dtype::kS32)
    return {Operation::kAdd,    Operation::kSub,    Operation::kMul,
            Operation::kMaxNum, Operation::kMinNum, Operation::kF32};
  std::vector<Operation> operations;
  for (const OperationInfo& info : kOperations)
    if (info.row_code >= 0 && info.arguments > 0 && info.op != Operation::kF32 &&
        (type != Dtype::kF64 || IsOfF64(info.op)))
      operations.push_back(info.op);
  return operations;
}

// Random programs, and schedules of them.
class RandomRows {
 public:
  // `real`: the type of the programs' floats. Those of f64 have no integers.
  explicit RandomRows(uint32_t seed, Dtype real = Dtype::kF32) : random_(seed), real_(real) {}

  int Below(int count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }
  bool OneIn(int count) { return Below(count) == 0; }

  RowProgram Program() {
    RowProgramBuilder b;
    std::vector<int> values;
    for (int inputs = 1 + Below(4); inputs > 0; --inputs) {
      RowInput input;
      if (OneIn(3)) input.dtype = kCallersElements[static_cast<size_t>(Below(kCallersElements.size()))];
      if (real_ == Dtype::kF64 && (!IsFloating(input.dtype) || OneIn(2))) input.dtype = real_;
      if (OneIn(4)) input.along_columns = false;
      if (OneIn(4)) input.along_rows = false;
      const bool exact = !IsFloating(input.dtype) && OneIn(2);
      values.push_back(b.Input(input, exact && real_ == Dtype::kF32 ? Dtype::kS32 : real_));
    }
    if (OneIn(8))
      values.push_back(b.Number(16777217.0 * (Below(200) - 100), real_ == Dtype::kF32 ? Dtype::kS32 : real_));
    if (OneIn(2)) values.push_back(b.Number(0.25f * static_cast<float>(Below(17) - 8), real_));
    for (int ops = 1 + Below(10); ops > 0; --ops) {
      const auto any = [&] {  // rather a late one
        const int count = static_cast<int>(values.size());
        return values[static_cast<size_t>(std::max(Below(count), Below(count)))];
      };
      const int first = any();
      const std::vector<Operation> operations = RowOperations(b.TypeOf(first));
      const Operation op = operations[static_cast<size_t>(Below(static_cast<int>(operations.size())))];
      const auto another = [&](int operand) {
        int found = -1;
        while (Info(op).operands() >= operand && (found < 0 || b.TypeOf(found) != b.TypeOf(first)))
          found = any();
        return found;
      };
      const int second = another(2), third = another(3);
      values.push_back(b.Op(op, first, second, third));
    }
    for (int results = 1 + Below(2); results > 0; --results) {
      const int value =
          results == 1 ? values.back() : values[static_cast<size_t>(Below(static_cast<int>(values.size())))];
      const DtypeInfo& type = Info(kCallersElements[static_cast<size_t>(Below(kCallersElements.size()))]);
      const bool exact = b.TypeOf(value) == Dtype::kS32;
      const bool fits = OneIn(3) && type.is_result && !(exact && IsFloating(type.dtype)) &&
                        (real_ == Dtype::kF32 || IsFloating(type.dtype));
      b.Result(value, fits ? type.dtype : b.TypeOf(value));
    }
    return b.program();
  }

  RowSchedule Schedule(const RowProgram& program, bool avx512) {
    for (;;) {
      RowSchedule schedule;
      schedule.lanes = avx512 ? 4 << Below(3) : 4 << Below(2);
      // Half as many of f64; of narrower floats beside them there are no vectors of 2.
      if (real_ == Dtype::kF64) schedule.lanes = std::max(schedule.lanes / 2, HasNarrow(program) ? 4 : 2);
      schedule.online = !program.reduces_rows && FindOnlineSum(program).has_value() && OneIn(2);
      if (OneIn(2))
        for (size_t v = 0; v < program.values.size(); ++v)
          schedule.kept.push_back(OneIn(3) ? Below(2 + static_cast<int>(program.results.size())) - 2
                                           : RowSchedule::kRecomputed);
      for (int& kept : schedule.kept)
        if (kept == RowSchedule::kInScratch && OneIn(2)) kept = RowSchedule::kRecomputed;
      bool fits = true;
      const RowPasses empty = FindPasses(program, {schedule.lanes, {}, {}, schedule.online});
      for (size_t v = 0; v < schedule.kept.size(); ++v)
        fits &= schedule.kept[v] == RowSchedule::kRecomputed ||
                (!empty.per_row[v] && IsFloating(program.values[v].type));
      if (!fits) continue;
      for (size_t pass = 0; pass < empty.passes.size(); ++pass) schedule.unroll.push_back(1 + Below(5));
      if (program.reduces_rows) schedule.unroll.assign(schedule.unroll.size(), 1 + Below(5));
      if (!program.reduces_rows && OneIn(2)) schedule.prefetch = 256 * Below(4);
      if (OneIn(2)) schedule.streamed = Below(static_cast<int>(program.results.size()) + 1) - 1;
      if (IsSound(program, schedule)) return schedule;
    }
  }

 private:
  static bool HasNarrow(const RowProgram& program) {
    const auto is_narrow = [](const auto& operand) { return Bytes(operand.dtype) < Bytes(Dtype::kF64); };
    return std::any_of(program.inputs.begin(), program.inputs.end(), is_narrow) ||
           std::any_of(program.results.begin(), program.results.end(), is_narrow);
  }

  std::mt19937 random_;
  const Dtype real_;
};

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_ROW_TESTING_H_
