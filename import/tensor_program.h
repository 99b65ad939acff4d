// SPDX-License-Identifier: Apache-2.0
// Holds a function as operations on tensors that do not depend on a dialect: what StableHLO, linalg and TOSA
// are lowered to before a kernel is made of them.
#ifndef KIRSCH_IMPORT_TENSOR_PROGRAM_H_
#define KIRSCH_IMPORT_TENSOR_PROGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "import/constant_tensor.h"
#include "import/expression.h"
#include "import/flat_function.h"
#include "import/mlir_module.h"
#include "spec/graph/graph.h"
#include "spec/operation.h"
#include "spec/text/text.h"

namespace kirsch {

enum class TensorKind {
  kElementwise,  // `expression` of tensors of one shape; a scalar may stand for one
  kConvert,      // to the result's type of elements
  kConstant,     // `constant`; no operands
  kBroadcast,    // the operand's dim i is the result's dims[i]; a transposition is one, too
  kReshape,
  kReduce,  // over `dims`, which the result has not
  kDot,     // the result has the batches, then what is free of lhs, then of rhs
  kConvolution,
  kAlong,  // an operation along one dim
  kTake,   // elements of the first operand along a dim, at the indices that the second has; of own ones where
           // that has the dims before, too
  kCopy,   // a reshape whose dims need not be split as the operand's; of the same shape, only `dims`
};

// The dims of both operands of a dot by what becomes of them.
struct DotDims {
  std::vector<int64_t> batch[2], contract[2], free[2];
};

struct ConvolutionDims {
  // What each dim of the image, the filters and the result is. "b": batch, "f": channels, "i" and "o": the
  // filters' input and output channels, "0", "1", "2": the image's axes.
  std::array<std::vector<std::string>, 3> words;
  std::vector<int64_t> strides, dilations;  // of each axis; none: all 1
  std::vector<int64_t> pads;                // before and after, axis by axis; none: no zeros
  int64_t groups = 1;
};

// An operation of OperationKind::kAlongAxis, as GraphNode has it.
struct DimOperation {
  Operation op = Operation::kSlice;
  size_t dim = 0;
  AlongAxis along;
  double number = 0;  // kPad
};

struct TensorOperation {
  TensorKind kind = TensorKind::kElementwise;
  // The program's operation that it comes from.
  std::string name;
  TextPosition position;
  std::vector<int> operands = {};  // indices into TensorProgram::types
  int result = -1;
  Expression expression = {};
  // kElementwise: joins a reduction with the value that it begins at. The lowest finite number counts as -inf
  // there, as frameworks write either.
  bool begins_reduction = false;
  std::vector<int64_t> dims = {};
  Operation reduction = Operation::kReduceSum;  // kReduce
  ConstantTensor constant = {};
  DotDims dot = {};
  ConvolutionDims convolution = {};
  DimOperation of_dim = {};
};

struct TensorProgram {
  TextPosition position;
  std::vector<const MlirBlock::Argument*> parameters;  // the first values; of the module
  std::vector<MlirType> types;                         // of all values
  std::vector<TensorOperation> operations;             // an operation reads earlier values only
  std::vector<int> results;
};

// InvalidArgument with the operation's place in `source` if there is one that is not imported. The module
// that the function is of must outlive the program.
absl::StatusOr<TensorProgram> LowerToTensors(const FlatFunction& function, std::string_view source);

// "<source>:<line>:<column>: expected <what>", with the operation's name where it has no place.
absl::Status ExpectedAt(std::string_view source, const std::string& name, TextPosition position,
                        std::string_view what);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_TENSOR_PROGRAM_H_
