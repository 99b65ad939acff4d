// SPDX-License-Identifier: Apache-2.0
#include "import/flat_function.h"

#include <algorithm>
#include <map>
#include <utility>

#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// More than a program of any use has. Calls of calls can be far more than the text has lines.
constexpr size_t kMostOperations = 20000;
// A size that no kernel has.
constexpr int64_t kMostElements = int64_t{1} << 40;

bool IsScalar(const std::string& element) {
  for (const char* name : {"f32", "f64", "f16", "bf16", "i1", "i8", "i16", "i32", "i64", "index"})
    if (element == name) return true;
  return false;
}

class Inliner {
 public:
  Inliner(const MlirModule& module, std::string_view source) : module_(module), source_(source) {}

  absl::StatusOr<FlatFunction> Run(const MlirFunction& function) {
    flat_.name = function.name;
    flat_.position = function.position;
    std::vector<int> parameters;
    for (const MlirBlock::Argument& argument : function.body.arguments) {
      flat_.parameters.push_back(&argument);
      KIRSCH_ASSIGN_OR_RETURN(const int value, Define(argument.value.type, argument.position, true));
      parameters.push_back(value);
    }
    KIRSCH_ASSIGN_OR_RETURN(flat_.results, Inline(function, parameters));
    return std::move(flat_);
  }

 private:
  // Parameters are tensors; between operations there may be numbers.
  absl::StatusOr<int> Define(const MlirType& type, TextPosition position, bool parameter) {
    const bool defined = type.tensor || (!parameter && IsScalar(type.element));
    if (!defined || std::any_of(type.shape.begin(), type.shape.end(), [](int64_t s) { return s < 1; }) ||
        type.elements() > kMostElements)
      return ErrorAt(source_, position,
                     Cat("expected a tensor of known sizes from 1 on, got one of ", Quoted(type.element)));
    flat_.types.push_back(type);
    return static_cast<int>(flat_.types.size()) - 1;
  }

  // The values that the function returns for these arguments.
  absl::StatusOr<std::vector<int>> Inline(const MlirFunction& function, const std::vector<int>& arguments) {
    if (arguments.size() != function.body.arguments.size() ||
        std::find(calls_.begin(), calls_.end(), &function) != calls_.end())
      return ErrorAt(
          source_, function.position,
          Cat("expected calls of ", Quoted(function.name), " with its arguments, and none by itself"));
    calls_.push_back(&function);
    std::map<int, int> values;  // of this call, by their numbers in the module
    for (size_t i = 0; i < arguments.size(); ++i) values[function.body.arguments[i].value.id] = arguments[i];
    for (const MlirOperation& operation : function.body.operations) {
      std::vector<int> operands;
      for (const int operand : operation.operands) operands.push_back(values.at(operand));
      if (operation.name == "func.return") {
        calls_.pop_back();
        return operands;
      }
      KIRSCH_ASSIGN_OR_RETURN(std::vector<int> results, operation.name == "func.call"
                                                            ? Call(operation, operands)
                                                            : Add(operation, std::move(operands), values));
      if (results.size() != operation.results.size())
        return ErrorAt(source_, operation.position, "expected a call that takes all results");
      for (size_t i = 0; i < results.size(); ++i) values[operation.results[i].id] = results[i];
    }
    return ErrorAt(source_, function.position,
                   Cat("expected a return at the end of ", Quoted(function.name)));
  }

  absl::StatusOr<std::vector<int>> Call(const MlirOperation& operation, const std::vector<int>& operands) {
    const MlirAttribute* callee = operation.Find("callee");
    const std::string name = callee == nullptr || callee->words.empty() ? "" : callee->words.front();
    const MlirFunction* function = module_.Find(name);
    if (function == nullptr || !function->defined)
      return ErrorAt(source_, operation.position,
                     Cat("expected a function that the file defines, got ", Quoted(name)));
    return Inline(*function, operands);
  }

  absl::StatusOr<std::vector<int>> Add(const MlirOperation& operation, std::vector<int> operands,
                                       const std::map<int, int>& values) {
    if (flat_.operations.size() == kMostOperations)
      return ErrorAt(source_, operation.position,
                     Cat("expected at most ", kMostOperations, " operations, calls inlined"));
    std::vector<int> results;
    for (const MlirValue& result : operation.results) {
      KIRSCH_ASSIGN_OR_RETURN(const int value, Define(result.type, operation.position, false));
      results.push_back(value);
    }
    flat_.operations.push_back({&operation, std::move(operands), results});
    for (const MlirBlock& region : operation.regions)
      for (const MlirOperation& inner : region.operations)
        for (const int operand : inner.operands)
          if (const auto outer = values.find(operand); outer != values.end())
            flat_.operations.back().captured.insert(*outer);
    return results;
  }

  const MlirModule& module_;
  const std::string_view source_;
  std::vector<const MlirFunction*> calls_;  // that are being inlined
  FlatFunction flat_;
};

}  // namespace

absl::StatusOr<FlatFunction> Flatten(const MlirModule& module, const MlirFunction& function,
                                     std::string_view source) {
  return Inliner(module, source).Run(function);
}

}  // namespace kirsch
