// SPDX-License-Identifier: Apache-2.0
#include "import/insert_copies.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kirsch {
namespace {

// The copy that makes the value, for one reader alone, or, of a result, the one that reads it; null if there
// is none.
TensorOperation* FindCopy(int value, bool reads, TensorProgram* program) {
  int readers = 0;
  for (const TensorOperation& operation : program->operations)
    readers += static_cast<int>(std::count(operation.operands.begin(), operation.operands.end(), value));
  const auto shape = [&](int of) { return program->types[static_cast<size_t>(of)].shape; };
  for (TensorOperation& o : program->operations)
    if (o.kind == TensorKind::kCopy && readers == 1 && (reads ? o.operands[0] : o.result) == value &&
        shape(o.operands[0]) == shape(o.result))
      return &o;
  return nullptr;
}

}  // namespace

bool InsertCopy(const DimCopy& copy, TensorProgram* program) {
  TensorOperation& operation = program->operations[copy.operation];
  if (copy.operand == kItself) return std::exchange(operation.kind, TensorKind::kCopy) != TensorKind::kCopy;
  const bool is_result = copy.operand == kResult;
  int& value = is_result ? operation.result : operation.operands[static_cast<size_t>(copy.operand)];
  if (TensorOperation* known = FindCopy(value, is_result, program)) {
    std::vector<int64_t>& dims = known->dims;
    if (std::count(dims.begin(), dims.end(), copy.dim) != 0) return false;
    dims.push_back(copy.dim);
    return true;
  }
  TensorOperation added{TensorKind::kCopy, operation.name, operation.position};
  added.dims = {copy.dim};
  const int made = static_cast<int>(program->types.size());
  program->types.push_back(program->types[static_cast<size_t>(value)]);
  added.operands = {is_result ? made : value};
  added.result = is_result ? value : made;
  value = made;
  const auto place = static_cast<std::ptrdiff_t>(copy.operation) + (is_result ? 1 : 0);
  program->operations.insert(program->operations.begin() + place, std::move(added));
  return true;
}

}  // namespace kirsch
