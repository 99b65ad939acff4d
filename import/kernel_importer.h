// SPDX-License-Identifier: Apache-2.0
// Turns a flat function into a kernel. Internal to the folder: import_kernel.h is the interface.
#ifndef KIRSCH_IMPORT_KERNEL_IMPORTER_H_
#define KIRSCH_IMPORT_KERNEL_IMPORTER_H_

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
#include "import/flat_function.h"
#include "import/import_kernel.h"
#include "import/kernel_writer.h"
#include "import/operation_names.h"

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
  // `least_rank` as KernelWriter has it. Both must outlive the importer.
  KernelImporter(const FlatFunction& function, std::string_view source, size_t least_rank)
      : function_(function), source_(source), least_rank_(least_rank), writer_(least_rank) {}

  // Reads all operations. InvalidArgument with the operation's place.
  absl::Status Run();

  // The kernel's text, as KernelWriter::Print. After Run.
  absl::StatusOr<std::string> Print(const std::string& name, std::vector<KernelLine>* lines);

  const std::vector<KernelConstant>& constants() const { return constants_; }
  // The rank that parameters need for a matmul that could not be written; 0 if there was none.
  size_t wanted_rank() const { return wanted_rank_; }

 private:
  // An axis of what is computed next, as each operand has it: its factor, or kUnit.
  struct SharedAxis {
    int64_t size = 1;
    std::vector<int> of;
  };

  absl::Status InferFactors(const FlatOperation& operation);
  absl::Status UnifyAlike(const FlatOperation& operation, size_t first);
  absl::Status InferDotFactors(const FlatOperation& operation);  // dot_import.cc
  absl::Status Import(const FlatOperation& operation);
  absl::Status ImportElementwise(const FlatOperation& operation, const Expression& expression);
  absl::Status ImportCompare(const FlatOperation& operation);
  absl::Status ImportConvert(const FlatOperation& operation);
  absl::Status ImportConstant(const FlatOperation& operation);
  absl::Status ImportView(const FlatOperation& operation, ImportedKind kind);
  absl::Status ImportReduce(const FlatOperation& operation);
  absl::Status ImportDot(const FlatOperation& operation);          // dot_import.cc
  absl::Status ImportConvolution(const FlatOperation& operation);  // convolution_import.cc

  // The factors of all dims, as the operands have them.
  std::vector<SharedAxis> SharedAxes(const FlatOperation& operation,
                                     const std::vector<ImportedValue>& operands) const;
  // The order in which an elementwise result has these axes: indices, and kUnit.
  AxisOrder ElementwiseOrder(const std::vector<ImportedValue>& operands,
                             const std::vector<SharedAxis>& axes) const;
  // Adds what the expression is of these operands. `shape` is a value that has the result's axes and place.
  KernelArgument Apply(const Expression& expression, const std::vector<KernelArgument>& operands,
                       const KernelValue& shape);

  absl::Status Expected(const FlatOperation& operation, std::string_view what) const;
  const MlirType& TypeOf(int value) const { return function_.TypeOf(value); }
  const ImportedValue& Of(int value) const { return values_[static_cast<size_t>(value)]; }
  void Set(int value, ImportedValue imported) { values_[static_cast<size_t>(value)] = std::move(imported); }
  // A constant of several numbers becomes a parameter.
  absl::StatusOr<ImportedValue> AsTensor(const FlatOperation& operation, int value);
  // The value in the type, cast if it has another.
  int Cast(int value, Dtype type, TextPosition position);
  DimFactors::List Factors(const std::vector<DimFactors::List>& dims) const;
  std::vector<std::vector<ViewFactor>> ViewOf(int value, const std::vector<int>& axes) const;

  const FlatFunction& function_;
  const std::string_view source_;
  const size_t least_rank_;
  KernelWriter writer_;
  DimFactors factors_;
  std::vector<std::vector<DimFactors::List>> dims_;  // of all values
  std::vector<ImportedValue> values_;
  std::vector<KernelConstant> constants_;
  size_t wanted_rank_ = 0;
};

// The type of elements of that name in MLIR; nothing if the kernel language has none. Truth values are
// bytes.
std::optional<Dtype> ElementOf(std::string_view name);

// The numbers behind `name = ` in MLIR's text of an attribute: "lhs_contracting_dimensions = [1, 2]".
std::vector<int64_t> NumbersBehind(std::string_view text, std::string_view name);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_KERNEL_IMPORTER_H_
