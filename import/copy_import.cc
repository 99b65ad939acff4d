// SPDX-License-Identifier: Apache-2.0
// Imports what takes a copy: values whose dims are wanted otherwise than they are split, or repeated values
// that are wanted whole.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "import/kernel_importer.h"

namespace kirsch {

// Notes that the dim of an operand, or of the result, is to be copied if reshapes split it. Returns whether
// they do not.
bool KernelImporter::WantOneFactor(const TensorOperation& operation, int operand, int64_t dim) {
  const int value = operand == kResult ? operation.result : operation.operands[static_cast<size_t>(operand)];
  if (factors_.Split(DimsOf(value)[static_cast<size_t>(dim)]).size() <= 1) return true;
  wanted_copies_.push_back({IndexOf(operation), operand, dim});
  return false;
}

// The value with factors of these sizes in the place of those that it has: a copy, if they are others, or if
// it is repeated along one. In the view that is returned, all factors are those of one dim.
ImportedValue KernelImporter::Regrouped(const ImportedValue& value, const std::vector<int64_t>& sizes) {
  std::vector<ViewFactor> factors = value.factors();
  std::vector<int64_t> own;
  AxisOrder axes;
  bool repeated = false;
  for (const ViewFactor& factor : factors) {
    own.push_back(factor.size);
    if (factor.axis == kUnit) repeated = true;
    axes.push_back(factor.axis);
  }
  if (own == sizes && !repeated) return {std::nullopt, value.value, {factors}};
  writer_.PlaceAsItLies(value.value);
  int copied = value.value;
  if (repeated)
    copied = writer_.AddCopy("broadcast", writer_.Rearranged(copied, axes), own, own);
  else
    copied = writer_.Permuted(copied, axes);
  if (own != sizes) copied = writer_.AddCopy("reshape", copied, sizes, sizes);
  ImportedValue regrouped{std::nullopt, copied, {{}}};
  for (size_t i = 0; i < sizes.size(); ++i) regrouped.dims[0].push_back({sizes[i], static_cast<int>(i)});
  return regrouped;
}

ImportedValue KernelImporter::Whole(const ImportedValue& value) {
  std::vector<int64_t> sizes;
  for (const ViewFactor& factor : value.factors()) sizes.push_back(factor.size);
  const ImportedValue regrouped = Regrouped(value, sizes);
  ImportedValue whole{std::nullopt, regrouped.value, value.dims};
  size_t next = 0;
  for (std::vector<ViewFactor>& dim : whole.dims)
    for (ViewFactor& factor : dim) factor = regrouped.dims[0][next++];
  return whole;
}

absl::Status KernelImporter::ImportCopy(const TensorOperation& operation) {
  const ImportedValue& value = Of(operation.operands[0]);
  if (value.constant) {
    Set(operation.result, {ConstantTensor{TypeOf(operation.result).shape, value.constant->values}, -1, {}});
    return absl::OkStatus();
  }
  std::vector<int64_t> sizes;
  for (const int factor : Factors(DimsOf(operation.result))) sizes.push_back(factors_.size(factor));
  const ImportedValue regrouped = Regrouped(value, sizes);
  std::vector<int> axes;
  for (const ViewFactor& factor : regrouped.dims[0]) axes.push_back(factor.axis);
  Set(operation.result, {std::nullopt, regrouped.value, ViewOf(operation.result, axes)});
  return absl::OkStatus();
}

}  // namespace kirsch
