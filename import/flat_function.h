// SPDX-License-Identifier: Apache-2.0
// Lists a function's operations with all calls inlined, so that whoever reads them sees one list.
#ifndef KIRSCH_IMPORT_FLAT_FUNCTION_H_
#define KIRSCH_IMPORT_FLAT_FUNCTION_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "import/mlir_module.h"

namespace kirsch {

// An operation of the list. Operands and results are indices into FlatFunction::types.
struct FlatOperation {
  const MlirOperation* of = nullptr;  // in the module, which must outlive the list
  std::vector<int> operands, results;
  // What its regions read from around it: by their numbers in the module.
  std::map<int, int> captured = {};

  const std::string& name() const { return of->name; }
  int result() const { return results.front(); }
};

struct FlatFunction {
  std::string name;
  TextPosition position;
  std::vector<const MlirBlock::Argument*> parameters;  // the first values
  std::vector<MlirType> types;                         // of all values: of known shapes; scalars have none
  std::vector<FlatOperation> operations;               // an operation reads earlier values only
  std::vector<int> results;

  const MlirType& TypeOf(int value) const { return types[static_cast<size_t>(value)]; }
};

// InvalidArgument with the place in `source` if a function is called that is not there, or calls itself. The
// same if a value is no tensor of a known shape; within the function it may also be a number.
absl::StatusOr<FlatFunction> Flatten(const MlirModule& module, const MlirFunction& function,
                                     std::string_view source);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_FLAT_FUNCTION_H_
