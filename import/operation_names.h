// SPDX-License-Identifier: Apache-2.0
// Lists the operations of MLIR's dialects that are imported, a row each: StableHLO, CHLO, TOSA, and what
// linalg's programs have around their contractions.
#ifndef KIRSCH_IMPORT_OPERATION_NAMES_H_
#define KIRSCH_IMPORT_OPERATION_NAMES_H_

#include <string_view>
#include <vector>

#include "import/mlir_module.h"

namespace kirsch {

enum class ImportedKind {
  kElementwise,  // of tensors of one shape; a scalar may stand for one
  kCompare,      // the same; 1 or 0
  kConvert,
  kConstant,
  kIota,
  kBroadcast,  // operand axes go to `broadcast_dimensions`
  kTranspose,
  kReshape,
  kReduce,
  kDot,
  kConvolution,
};

struct ImportedOperation {
  std::string_view name;
  ImportedKind kind;
  // kElementwise: what it is in the kernel language (expression.h).
  std::string_view expression = "";
};

// Null if the operation is not imported.
const ImportedOperation* FindImported(std::string_view name);

// The names of all rows, for hints and help.
std::vector<std::string_view> ImportedNames();

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_OPERATION_NAMES_H_
