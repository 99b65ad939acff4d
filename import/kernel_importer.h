// SPDX-License-Identifier: Apache-2.0
// Turns a program of tensors into a kernel. Internal to the folder: import_kernel.h is the interface.
#ifndef KIRSCH_IMPORT_KERNEL_IMPORTER_H_
#define KIRSCH_IMPORT_KERNEL_IMPORTER_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "import/constant_tensor.h"
#include "import/dim_factors.h"
#include "import/expression.h"
#include "import/import_kernel.h"
#include "import/insert_copies.h"
#include "import/kernel_writer.h"
#include "import/tensor_program.h"

namespace kirsch {

// A dim's factor, as a view of a value has it: an axis of the value, or kUnit where the value is the same for
// all indices (broadcast).
struct ViewFactor {
  int64_t size = 1;
  int axis = kUnit;
};

// What a value of the program is: a view of a value of the kernel, with its factors for each dim; or a
// constant.
struct ImportedValue {
  std::optional<ConstantTensor> constant;
  int value = -1;
  std::vector<std::vector<ViewFactor>> dims;

  // Of all dims, in their order.
  std::vector<ViewFactor> factors() const;
};

class KernelImporter {
 public:
  // `least_rank` and `may_copy` as KernelWriter has them. Program and source must outlive the importer.
  KernelImporter(const TensorProgram& program, std::string_view source, size_t least_rank, bool may_copy)
      : program_(program),
        source_(source),
        least_rank_(least_rank),
        may_copy_(may_copy),
        writer_(least_rank, may_copy) {}

  // Reads all operations. InvalidArgument with the operation's place.
  absl::Status Run();

  // The kernel's text, as KernelWriter::Print. After Run.
  absl::StatusOr<std::string> Print(const std::string& name, std::vector<KernelLine>* lines);

  const std::vector<KernelConstant>& constants() const { return constants_; }
  // The rank that parameters need for a matmul that could not be written; 0 if there was none.
  size_t wanted_rank() const { return wanted_rank_; }
  // Dims that reshapes split, of an operation that could not be written because of that.
  const std::vector<DimCopy>& wanted_copies() const { return wanted_copies_; }

 private:
  // An axis of what is computed next, as each operand has it: its factor, or kUnit.
  struct SharedAxis {
    int64_t size = 1;
    std::vector<int> of;
  };

  // What an operation along a dim reads: the axes of each operand, as AxesOf has them; the number of that
  // which the operation goes along, and how many of the dim's indices each of its own is.
  struct AlongOperands {
    const std::vector<ImportedValue>& operands;
    const std::vector<std::vector<int>>& axes;
    size_t along;
    int64_t part;
  };

  // The axes of an image and its filters, in a layout's order.
  struct ConvolutionOrders {
    std::array<AxisOrder, 2> orders;
    int transposes = 0;
  };

  absl::Status InferFactors(const TensorOperation& operation);
  absl::Status InferBroadcastFactors(const TensorOperation& operation);
  absl::Status InferReduceFactors(const TensorOperation& operation);
  absl::Status UnifyAlike(const TensorOperation& operation);
  // Makes the factors of an operand's dim those of the list.
  absl::Status Unify(const TensorOperation& operation, int operand, int64_t dim, const DimFactors::List& as);
  absl::Status InferReshapeFactors(const TensorOperation& operation);
  absl::Status InferTakeFactors(const TensorOperation& operation);  // take_import.cc
  absl::Status InferDotFactors(const TensorOperation& operation);   // dot_import.cc
  absl::Status Import(const TensorOperation& operation);
  absl::Status ImportElementwise(const TensorOperation& operation, const Expression& expression);
  absl::Status ImportConvert(const TensorOperation& operation);
  absl::Status ImportView(const TensorOperation& operation);
  absl::Status ImportReduce(const TensorOperation& operation);
  absl::Status ImportDot(const TensorOperation& operation);          // dot_import.cc
  absl::Status ImportConvolution(const TensorOperation& operation);  // convolution_import.cc
  absl::Status ImportTake(const TensorOperation& operation);         // take_import.cc

  // copy_import.cc
  absl::Status ImportCopy(const TensorOperation& operation);
  ImportedValue Regrouped(const ImportedValue& value, const std::vector<int64_t>& sizes);
  ImportedValue Whole(const ImportedValue& value);
  bool WantOneFactor(const TensorOperation& operation, int operand, int64_t dim);

  // along_import.cc
  absl::Status InferAlongFactors(const TensorOperation& operation);
  absl::Status SplitAlong(const TensorOperation& operation);
  DimFactors::List FactorsWithin(const TensorOperation& operation) const;
  std::vector<int> AxesOf(const TensorOperation& operation, int value, const ImportedValue& imported) const;
  std::optional<AxisOrder> OrderAlong(const std::vector<ImportedValue>& operands,
                                      const std::vector<std::vector<int>>& axes, size_t along) const;
  absl::Status ImportAlong(const TensorOperation& operation);
  void WriteAlong(const TensorOperation& operation, const DimOperation& of, const AlongOperands& from,
                  const AxisOrder& order);

  std::optional<ConvolutionOrders> OrdersOf(const std::array<ImportedValue, 2>& operands,
                                            const std::array<std::vector<size_t>, 3>& places) const;
  absl::StatusOr<std::vector<int>> ConvolutionView(const TensorOperation& operation,
                                                   const std::vector<size_t>& places, KernelValue* image);

  // The factors of all dims, as the operands have them.
  std::vector<SharedAxis> SharedAxes(const TensorOperation& operation,
                                     const std::vector<ImportedValue>& operands) const;
  // The order in which an elementwise result has these axes: indices, and kUnit.
  AxisOrder ElementwiseOrder(const std::vector<ImportedValue>& operands,
                             const std::vector<SharedAxis>& axes) const;
  // Adds an operation that repeats its arguments to no more than the shape; casts an argument that is a
  // value.
  KernelArgument Make(std::string operation, std::vector<KernelArgument> arguments, Dtype type,
                      const KernelValue& shape);
  KernelArgument As(Dtype type, KernelArgument argument, TextPosition position);
  KernelArgument CompareIntegers(const std::string& name, const KernelArgument& x, const KernelArgument& y,
                                 const KernelValue& shape);
  // An operation that the kernel language has not for such operands, by others; nothing for any other.
  std::optional<KernelArgument> ApplyByOthers(const std::string& name,
                                              const std::vector<KernelArgument>& arguments,
                                              const KernelValue& shape);
  // Adds what the expression is of these operands. `shape` is a value that has the result's axes and place.
  KernelArgument Apply(const Expression& expression, const std::vector<KernelArgument>& operands,
                       const KernelValue& shape);

  absl::Status Expected(const TensorOperation& operation, std::string_view what) const;
  size_t IndexOf(const TensorOperation& operation) const {
    return static_cast<size_t>(&operation - program_.operations.data());
  }
  const MlirType& TypeOf(int value) const { return program_.types[static_cast<size_t>(value)]; }
  const ImportedValue& Of(int value) const { return values_[static_cast<size_t>(value)]; }
  void Set(int value, ImportedValue imported) { values_[static_cast<size_t>(value)] = std::move(imported); }
  // A constant becomes a parameter. `repeats`: the operation may read it repeated along dims.
  absl::StatusOr<ImportedValue> AsTensor(const TensorOperation& operation, int value, bool repeats = false);
  // The value in the type, cast if it has another.
  int Cast(int value, Dtype type, TextPosition position);
  int AddCast(int value, Dtype type, TextPosition position);  // perhaps to the type that it has
  const std::vector<DimFactors::List>& DimsOf(int value) const { return dims_[static_cast<size_t>(value)]; }
  DimFactors::List Factors(const std::vector<DimFactors::List>& dims) const;
  std::vector<std::vector<ViewFactor>> ViewOf(int value, const std::vector<int>& axes) const;

  const TensorProgram& program_;
  const std::string_view source_;
  const size_t least_rank_;
  const bool may_copy_;
  KernelWriter writer_;
  DimFactors factors_;
  std::vector<std::vector<DimFactors::List>> dims_;  // of all values
  std::vector<ImportedValue> values_;
  std::vector<KernelConstant> constants_;
  std::vector<int> constant_values_;  // their parameters, of the writer
  size_t wanted_rank_ = 0;
  std::vector<DimCopy> wanted_copies_;
};

// The type of elements of that name in MLIR; nothing if the kernel language has none. Truth values are
// bytes.
std::optional<Dtype> ElementOf(std::string_view name);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_KERNEL_IMPORTER_H_
