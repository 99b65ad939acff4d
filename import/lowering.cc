// SPDX-License-Identifier: Apache-2.0
#include "import/lowering.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The operations that the results need.
void RemoveUnused(TensorProgram* program) {
  std::vector<bool> needed(program->types.size(), false);
  for (const int result : program->results) needed[static_cast<size_t>(result)] = true;
  for (auto operation = program->operations.rbegin(); operation != program->operations.rend(); ++operation)
    if (needed[static_cast<size_t>(operation->result)])
      for (const int operand : operation->operands) needed[static_cast<size_t>(operand)] = true;
  std::erase_if(program->operations,
                [&](const TensorOperation& o) { return !needed[static_cast<size_t>(o.result)]; });
}

}  // namespace

LoweredValues LowerOperation(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const int count = operation.row.OperandCount();
  if (count != kAnyOperands && operation.operands.size() != static_cast<size_t>(count))
    return builder->Expected(Cat(count, count == 1 ? " operand" : " operands"));
  if (count != kAnyOperands && operation.results.size() != 1)
    return builder->Expected("an operation with one result");
  if (operation.row.truth_values && builder->TypeOf(operation.operands[0]).element != "i1")
    return builder->Expected("operands of i1");
  return operation.row.lower(operation, builder);
}

absl::StatusOr<const ImportedOperation*> FindRow(const MlirOperation& operation,
                                                 const TensorProgramBuilder& builder) {
  if (const ImportedOperation* row = FindImported(operation)) return row;
  return builder.Expected(Cat("an operation that is imported, got ", Quoted(operation.name),
                              DidYouMean(operation.name, ImportedNames())));
}

absl::StatusOr<TensorProgram> LowerToTensors(const FlatFunction& function, std::string_view source) {
  TensorProgramBuilder builder(source);
  std::vector<int> values(function.types.size(), -1);  // of the function's, the builder's
  const auto of = [&](int value) { return values[static_cast<size_t>(value)]; };
  for (size_t i = 0; i < function.parameters.size(); ++i)
    values[i] = builder.Parameter(*function.parameters[i]);
  for (const FlatOperation& flat : function.operations) {
    builder.Begin(*flat.of);
    KIRSCH_ASSIGN_OR_RETURN(const ImportedOperation* const row, FindRow(*flat.of, builder));
    SourceOperation operation{*flat.of, *row};
    for (const int operand : flat.operands) operation.operands.push_back(of(operand));
    for (const auto& [id, value] : flat.captured) operation.captured[id] = of(value);
    for (const int result : flat.results) operation.results.push_back(function.TypeOf(result));
    const LoweredValues lowered = LowerOperation(operation, &builder);
    if (!lowered.ok()) return lowered.status();
    if (lowered->size() != flat.results.size())
      return builder.Expected(Cat(lowered->size(), lowered->size() == 1 ? " result" : " results"));
    for (size_t i = 0; i < flat.results.size(); ++i) {
      if (builder.ShapeOf((*lowered)[i]) != operation.results[i].shape)
        return builder.Expected("a result of the shape that its operands give it");
      values[static_cast<size_t>(flat.results[i])] = (*lowered)[i];
    }
  }
  TensorProgram program = builder.Take();
  program.position = function.position;
  for (const int result : function.results) program.results.push_back(of(result));
  RemoveUnused(&program);
  return program;
}

std::vector<int64_t> Inverse(const std::vector<int64_t>& permutation, size_t rank) {
  std::vector<int64_t> inverse(rank, -1);
  if (permutation.size() != rank) return {};
  for (size_t i = 0; i < rank; ++i) {
    const int64_t from = permutation[i];
    if (from < 0 || from >= static_cast<int64_t>(rank) || inverse[static_cast<size_t>(from)] != -1) return {};
    inverse[static_cast<size_t>(from)] = static_cast<int64_t>(i);
  }
  return inverse;
}

std::vector<int64_t> FreeDims(size_t rank, const std::vector<int64_t>& batch,
                              const std::vector<int64_t>& contract) {
  std::vector<int64_t> free;
  for (int64_t dim = 0; dim < static_cast<int64_t>(rank); ++dim)
    if (std::find(batch.begin(), batch.end(), dim) == batch.end() &&
        std::find(contract.begin(), contract.end(), dim) == contract.end())
      free.push_back(dim);
  return free;
}

LoweredValues LowerElementwise(const SourceOperation& operation, TensorProgramBuilder* builder) {
  return std::vector{
      builder->Elementwise(ParseExpression(operation.row.expression), operation.operands, operation.type())};
}

LoweredValues LowerConvert(const SourceOperation& operation, TensorProgramBuilder* builder) {
  return std::vector{builder->Convert(operation.operands[0], operation.type().element)};
}

LoweredValues LowerConstant(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const MlirAttribute* value = operation.of.Find("value");
  const MlirType& type = operation.type();
  if (value == nullptr || value->numbers.empty() ||
      (value->numbers.size() != 1 && static_cast<int64_t>(value->numbers.size()) != type.elements()))
    return builder->Expected("numbers, at most 1048576 of them");
  return std::vector{builder->Constant({type.shape, value->numbers}, type.element)};
}

LoweredValues LowerReshape(const SourceOperation& operation, TensorProgramBuilder* builder) {
  return std::vector{builder->Reshape(operation.operands[0], operation.type().shape)};
}

LoweredValues LowerSame(const SourceOperation& operation, TensorProgramBuilder*) {
  return operation.operands;
}

}  // namespace kirsch
