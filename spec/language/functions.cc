// SPDX-License-Identifier: Apache-2.0
#include "spec/language/functions.h"

#include <algorithm>

#include "spec/language/along_axis_options.h"
#include "spec/language/convolution_options.h"
#include "spec/language/shorthand.h"

namespace kirsch {
namespace {

// The names of the operations that `accepts` is true for.
template <typename Predicate>
std::vector<std::string_view> NamesWhere(const Predicate& accepts) {
  std::vector<std::string_view> names;
  for (const OperationInfo& info : kOperations)
    if (accepts(info)) names.push_back(info.name);
  return names;
}

}  // namespace

const OperationInfo* FindFunction(std::string_view name) {
  const auto found = std::ranges::find_if(kOperations, [&](const OperationInfo& info) {
    return info.kind != OperationKind::kLeaf && info.name == name;
  });
  return found == kOperations.end() ? nullptr : &*found;
}

std::vector<std::string_view> FunctionNames() {
  return NamesWhere([](const OperationInfo& info) { return info.kind != OperationKind::kLeaf; });
}

std::vector<std::string_view> ContractionNames() {
  return NamesWhere(
      [](const OperationInfo& info) { return info.kind == OperationKind::kContraction && !info.transposed; });
}

std::vector<std::string_view> OptionsOf(Operation op) {
  if (op == Operation::kMatmul) return {kLhsAsOption};
  if (IsTransposedConvolution(op)) return OptionsOfConvolution(true);
  if (IsConvolution(op)) return OptionsOfConvolution(false);
  // An axis may be given several times; every other option once (GraphParser::ParseOption).
  if (Info(op).kind == OperationKind::kReduction) return {"axis"};
  std::vector<std::string_view> names;
  if (Info(op).kind == OperationKind::kAlongAxis) names = {"axis"};
  for (const AlongAxisOption& option : AlongAxisOptionsOf(op)) names.push_back(option.name);
  if (!Info(op).option.name.empty()) names.push_back(Info(op).option.name);
  return names;
}

}  // namespace kirsch
