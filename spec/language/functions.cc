// SPDX-License-Identifier: Apache-2.0
#include "spec/language/functions.h"

#include <algorithm>

#include "spec/language/shorthand.h"

namespace kirsch {

const OperationInfo* FindFunction(std::string_view name) {
  const auto found = std::find_if(kOperations.begin(), kOperations.end(), [&](const OperationInfo& info) {
    return info.kind != OperationKind::kLeaf && info.name == name;
  });
  return found == kOperations.end() ? nullptr : &*found;
}

std::vector<std::string_view> FunctionNames() {
  std::vector<std::string_view> names;
  for (const OperationInfo& info : kOperations)
    if (info.kind != OperationKind::kLeaf) names.push_back(info.name);
  return names;
}

std::vector<std::string_view> OptionsOf(Operation op) {
  if (op == Operation::kMatmul) return {kLhsAsOption};
  if (op == Operation::kConv2d) return {"stride", "pad", "dilation", "groups", "layout"};
  if (Info(op).kind == OperationKind::kReduction) return {"axis"};
  if (Info(op).option.name.empty()) return {};
  return {Info(op).option.name};
}

}  // namespace kirsch
