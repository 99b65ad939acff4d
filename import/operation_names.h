// SPDX-License-Identifier: Apache-2.0
// Lists the operations of MLIR's dialects that are imported, a row each: StableHLO, CHLO, TOSA, linalg, and
// what linalg's programs have around their contractions.
#ifndef KIRSCH_IMPORT_OPERATION_NAMES_H_
#define KIRSCH_IMPORT_OPERATION_NAMES_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "import/mlir_module.h"

namespace kirsch {

struct SourceOperation;      // lowering.h
class TensorProgramBuilder;  // tensor_program_builder.h

// Adds what the operation is to the builder, and returns the values of its results. InvalidArgument if it is
// not imported in this form.
using LoweredValues = absl::StatusOr<std::vector<int>>;
using Lowering = LoweredValues(const SourceOperation& operation, TensorProgramBuilder* builder);

struct ImportedOperation {
  std::string_view name;
  Lowering* lower;
  std::string_view expression = "";  // elementwise: what it is in the kernel language (expression.h)
  int operands = 1;                  // if there is no expression; kAnyOperands
  bool truth_values = false;         // only of truth values, which are 1 and 0

  // How many operands it has; kAnyOperands if that differs.
  int OperandCount() const;
};

inline constexpr int kAnyOperands = -1;

// Null if the operation is not imported. Structured operations of linalg share a row, whatever their names.
const ImportedOperation* FindImported(const MlirOperation& operation);

// The names of all rows, for hints and help.
std::vector<std::string_view> ImportedNames();

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_OPERATION_NAMES_H_
