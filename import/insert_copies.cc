// SPDX-License-Identifier: Apache-2.0
#include "import/insert_copies.h"

#include <algorithm>
#include <cstddef>
#include <optional>
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

// Notes the dim at the copy that there is for the operand or the result; else adds one, and returns its
// place.
std::optional<size_t> InsertCopy(const DimCopy& copy, TensorProgram* program, bool* changed) {
  TensorOperation& operation = program->operations[copy.operation];
  if (copy.operand == kItself) {
    *changed |= std::exchange(operation.kind, TensorKind::kCopy) != TensorKind::kCopy;
    return std::nullopt;
  }
  const bool is_result = copy.operand == kResult;
  int& value = is_result ? operation.result : operation.operands[static_cast<size_t>(copy.operand)];
  if (TensorOperation* known = FindCopy(value, is_result, program)) {
    if (std::count(known->dims.begin(), known->dims.end(), copy.dim) != 0) return std::nullopt;
    known->dims.push_back(copy.dim);
    *changed = true;
    return std::nullopt;
  }
  TensorOperation added{TensorKind::kCopy, operation.name, operation.position};
  added.dims = {copy.dim};
  const int made = static_cast<int>(program->types.size());
  program->types.push_back(program->types[static_cast<size_t>(value)]);
  added.operands = {is_result ? made : value};
  added.result = is_result ? value : made;
  value = made;
  *changed = true;
  const size_t place = copy.operation + (is_result ? 1 : 0);
  program->operations.insert(program->operations.begin() + static_cast<std::ptrdiff_t>(place),
                             std::move(added));
  return place;
}

}  // namespace

bool InsertCopies(std::vector<DimCopy> copies, TensorProgram* program) {
  bool changed = false;
  for (size_t i = 0; i < copies.size(); ++i) {
    const std::optional<size_t> place = InsertCopy(copies[i], program, &changed);
    // Operations from there on have moved.
    for (size_t later = i + 1; place && later < copies.size(); ++later)
      if (copies[later].operation >= *place) ++copies[later].operation;
  }
  return changed;
}

}  // namespace kirsch
