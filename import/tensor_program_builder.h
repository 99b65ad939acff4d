// SPDX-License-Identifier: Apache-2.0
// Builds a TensorProgram, operation by operation. Internal to the folder.
#ifndef KIRSCH_IMPORT_TENSOR_PROGRAM_BUILDER_H_
#define KIRSCH_IMPORT_TENSOR_PROGRAM_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "import/tensor_program.h"

namespace kirsch {

// Shapes are checked later, by whoever reads the program, except where a precondition says otherwise. A value
// that would be the same as its operand is not made anew.
class TensorProgramBuilder {
 public:
  // `source` must outlive the builder.
  explicit TensorProgramBuilder(std::string_view source) : source_(source) {}

  // What is added next comes from this operation of the program: from `around`, if only that has a place.
  void Begin(const MlirOperation& operation, TextPosition around = {0, 0}) {
    name_ = operation.name;
    position_ = operation.position.line == 0 ? around : operation.position;
  }

  int Parameter(const MlirBlock::Argument& argument);

  int Elementwise(Expression expression, std::vector<int> operands, MlirType type);
  // What `reduced` becomes if it began at `initial`. The expression is of these two.
  int BeginReduction(Expression expression, int reduced, int initial);
  int Convert(int value, const std::string& element);
  int Constant(ConstantTensor constant, const std::string& element);
  // The operand's dim i becomes the result's dims[i].
  int Broadcast(int value, std::vector<int64_t> shape, std::vector<int64_t> dims);
  int Reshape(int value, std::vector<int64_t> shape);
  int Reduce(int value, Operation reduction, std::vector<int64_t> dims);
  int Reduce(int value, bool sum, std::vector<int64_t> dims) {
    return Reduce(value, sum ? Operation::kReduceSum : Operation::kReduceMax, std::move(dims));
  }
  // The smallest along the dims: that of which the negative is the largest.
  int ReduceMin(int value, std::vector<int64_t> dims);
  // Precondition: `dims` has each dim of both operands once.
  int Dot(int lhs, int rhs, DotDims dims, const std::string& element);
  // Zeros around the image, of kPad, become the convolution's own.
  int Convolution(int image, int filters, ConvolutionDims dims, MlirType type);
  // Preconditions: the operands differ along the dim alone, and the operation fits them. `number`: of a pad.
  int Along(Operation op, std::vector<int> operands, size_t dim, const AlongAxis& along, double number);
  // Precondition: the indices have one dim, or the dims before and one.
  int TakeAlong(int value, int indices, size_t dim);
  int TakeAt(int value, std::vector<double> places, size_t dim);  // at constant indices

  const MlirType& TypeOf(int value) const { return program_.types[static_cast<size_t>(value)]; }
  const std::vector<int64_t>& ShapeOf(int value) const { return TypeOf(value).shape; }
  // Null if the value is no constant of the program itself.
  const ConstantTensor* FindConstant(int value) const {
    const TensorOperation* operation = Find(value, TensorKind::kConstant);
    return operation == nullptr ? nullptr : &operation->constant;
  }

  // The number that all elements of a value are: of a constant, also one that is converted or repeated.
  // Nothing if that is not known yet.
  std::optional<double> FindNumber(int value) const;

  // "<source>:<line>:<column>: expected <what>", at the operation of Begin.
  absl::Status Expected(std::string_view what) const;

  // The program, whose results and position are still to be set.
  TensorProgram Take() { return std::move(program_); }

 private:
  int Add(TensorKind kind, std::vector<int> operands, MlirType type);
  TensorOperation& last() { return program_.operations.back(); }

  const std::string_view source_;
  std::string name_;
  TextPosition position_ = {0, 0};
  TensorProgram program_;
  // The operation that makes the value, if it is of the kind.
  const TensorOperation* Find(int value, TensorKind kind) const;

  std::map<int, size_t> made_by_;  // of values: the operations that make them
};

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_TENSOR_PROGRAM_BUILDER_H_
