// SPDX-License-Identifier: Apache-2.0
// Declares how operations are lowered to a TensorProgram: a function for each form that a row of
// operation_names.cc may have. Internal to the folder.
#ifndef KIRSCH_IMPORT_LOWERING_H_
#define KIRSCH_IMPORT_LOWERING_H_

#include <map>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "import/mlir_module.h"
#include "import/operation_names.h"
#include "import/tensor_program_builder.h"

namespace kirsch {

// An operation of the program, whose operands are values of the builder. There are as many as its row says.
struct SourceOperation {
  const MlirOperation& of;
  const ImportedOperation& row;
  std::vector<int> operands = {};
  std::map<int, int> captured = {};    // what its regions read: from numbers in the module to values
  std::vector<MlirType> results = {};  // their types

  const MlirType& type() const { return results.front(); }
};

// Several dialects have these.
Lowering LowerElementwise;  // by the row's expression
Lowering LowerConvert;
Lowering LowerConstant;  // "value"
Lowering LowerReshape;   // to the result's shape
Lowering LowerSame;      // the operand

// stablehlo_lowering.cc
Lowering LowerStablehloCompare;
Lowering LowerStablehloIota;
Lowering LowerStablehloBroadcast;
Lowering LowerStablehloTranspose;
Lowering LowerStablehloReduce;
Lowering LowerStablehloDot;
Lowering LowerStablehloConvolution;
Lowering LowerStablehloSlice;
Lowering LowerStablehloPad;
Lowering LowerStablehloReduceWindow;

// stablehlo_gather.cc
Lowering LowerStablehloGather;
Lowering LowerReverse;
Lowering LowerStablehloArgument;  // of two tensors: argmax or argmin

// linalg_lowering.cc: all structured operations, by their maps, iterators and bodies.
Lowering LowerStructured;
Lowering LowerSoftmax;

// arith_lowering.cc: what linalg's programs have in bodies, and between operations.
Lowering LowerFloatCompare;
Lowering LowerIntegerCompare;
Lowering LowerSignedConvert;
Lowering LowerEmpty;
Lowering LowerSplat;
Lowering LowerPad;
Lowering LowerExtractSlice;
Lowering LowerConcat;  // of all dialects, by "dimension", "dim" or "axis"

// tosa_lowering.cc
Lowering LowerTosaElementwise;  // repeats dims of size 1
Lowering LowerTosaMul;
Lowering LowerTosaClamp;
Lowering LowerTosaTranspose;
Lowering LowerTosaReduceSum;
Lowering LowerTosaReduceMax;
Lowering LowerTosaReduceMin;
Lowering LowerTosaMatmul;
Lowering LowerTosaFullyConnected;
Lowering LowerTosaConv2d;
Lowering LowerTosaDepthwiseConv2d;
Lowering LowerTosaSlice;
Lowering LowerTosaPad;
Lowering LowerTosaMaxPool2d;
Lowering LowerTosaAvgPool2d;

// tosa_resize.cc
Lowering LowerTosaResize;
Lowering LowerTosaGather;
Lowering LowerTosaArgmax;
Lowering LowerTosaTile;

// What an operation with one result is lowered to.
inline LoweredValues Only(const absl::StatusOr<int>& value) {
  if (!value.ok()) return value.status();
  return std::vector{*value};
}

// Adds an operation that the program or a body has. Its row is FindRow's, which is InvalidArgument if it has
// none.
LoweredValues LowerOperation(const SourceOperation& operation, TensorProgramBuilder* builder);
absl::StatusOr<const ImportedOperation*> FindRow(const MlirOperation& operation,
                                                 const TensorProgramBuilder& builder);

// For each dim of a tensor, where a transposition moves it, whose result's dim i is the dim permutation[i];
// none if that is no permutation of so many dims.
std::vector<int64_t> Inverse(const std::vector<int64_t>& permutation, size_t rank);

// The numbers behind `name = ` in MLIR's text of an attribute: "lhs_contracting_dimensions = [1, 2]"; the one
// behind it, or -1: "index_vector_dim = 1".
std::vector<int64_t> NumbersBehind(std::string_view text, std::string_view name);
int64_t NumberBehind(std::string_view text, std::string_view name);

// The dims of an operand of this rank that are in neither list.
std::vector<int64_t> FreeDims(size_t rank, const std::vector<int64_t>& batch,
                              const std::vector<int64_t>& contract);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_LOWERING_H_
