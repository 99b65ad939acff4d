// SPDX-License-Identifier: Apache-2.0
// Imports elements of a tensor along a dim at given indices. The tensor's axes keep the program's order, as
// the indices for each part of it have those before the dim.
#include <cstdint>
#include <utility>
#include <vector>

#include "import/kernel_importer.h"
#include "spec/operation.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {

absl::Status KernelImporter::InferTakeFactors(const TensorOperation& operation) {
  const auto dim = static_cast<int64_t>(operation.of_dim.dim);
  const auto &to = DimsOf(operation.result), &indices = DimsOf(operation.operands[1]);
  const auto unify = [&](int operand, int64_t from, int64_t as) {
    return Unify(operation, operand, from, to[static_cast<size_t>(as)]);
  };
  absl::Status status = unify(1, std::ssize(indices) - 1, dim);
  for (int64_t other = 0; other < std::ssize(to) && status.ok(); ++other) {
    if (other != dim) status = unify(0, other, other);
    if (status.ok() && other + 1 < std::ssize(indices)) status = unify(1, other, other);
  }
  return status;
}

absl::Status KernelImporter::ImportTake(const TensorOperation& operation) {
  const size_t dim = operation.of_dim.dim;
  bool single = WantOneFactor(operation, 1, std::ssize(DimsOf(operation.operands[1])) - 1);
  for (const int operand : {0, kResult})
    single &= WantOneFactor(operation, operand, static_cast<int64_t>(dim));
  if (!single) return Expected(operation, "a dim that no reshape splits");
  std::vector<ImportedValue> operands;
  for (const int value : operation.operands) {
    KIRSCH_ASSIGN_OR_RETURN(const ImportedValue tensor, AsTensor(operation, value));
    operands.push_back(Whole(tensor));
  }
  const ImportedValue &x = operands[0], &indices = operands[1];
  // The axes before the dim, its own, and those behind it; the indices' axes, too.
  AxisOrder order, of_indices;
  size_t along = 0;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (i == dim) along = order.size();
    if (i == dim && x.dims[i].empty()) order.push_back(kUnit);
    for (const ViewFactor& factor : x.dims[i]) order.push_back(factor.axis);
  }
  for (const ViewFactor& factor : indices.factors()) of_indices.push_back(factor.axis);
  if (TypeOf(operation.result).shape[dim] == 1) of_indices.push_back(kUnit);
  // A tensor may have units in front.
  const AxisOrder placed = writer_.at(x.value).order;
  const bool own = indices.dims.size() > 1;
  if (writer_.at(x.value).placed && placed.size() > order.size()) {
    const size_t units = placed.size() - order.size();
    order.insert(order.begin(), units, kUnit);
    if (own) of_indices.insert(of_indices.begin(), units, kUnit);
    along += units;
  }
  KernelValue taken;
  taken.position = operation.position;
  taken.operation = Name(Operation::kTake);
  taken.type = writer_.at(x.value).type;
  taken.options = {Cat("axis=", along)};
  taken.arguments = {writer_.PlaceOrCopy(x.value, order), writer_.PlaceOrCopy(indices.value, of_indices)};
  if (taken.arguments[1].transposed) return Expected(operation, "indices in the order of the tensor's dims");
  taken.arguments[1].value = Cast(taken.arguments[1].value, Dtype::kS32, operation.position);
  std::vector<int> view;
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t size = i == along          ? TypeOf(operation.result).shape[dim]
                         : order[i] == kUnit ? 1
                                             : writer_.at(x.value).axes[static_cast<size_t>(order[i])];
    if (const int axis = taken.AddAxis(size); axis != kUnit) view.push_back(axis);
  }
  const int value = writer_.AddOperation(std::move(taken));
  Set(operation.result, {std::nullopt, value, ViewOf(operation.result, view)});
  return absl::OkStatus();
}

}  // namespace kirsch
