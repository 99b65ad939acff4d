// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/group_shape.h"

#include <algorithm>
#include <utility>

namespace kirsch {

void GroupShape::Reserve(int value, int64_t elements, Dtype dtype) {
  const int64_t bytes = elements * Bytes(dtype);
  for (Buffer& known : buffers)
    if (known.value == value) {
      known.bytes = std::max(known.bytes, bytes);
      return;
    }
  buffers.push_back({value, bytes});
}

void GroupShape::Fail(int node, std::string why) {
  if (!error.empty()) return;
  error = std::move(why);
  error_node = node;
}

int GroupMemory::MemoryOf(int node) const {
  const auto alias = alias_.find(node);
  return alias == alias_.end() ? node : alias->second;
}

StageOperand GroupMemory::OperandFor(int node, int64_t batch_stride, int64_t row_stride) const {
  if (group_.IsLocal(node)) return {MemoryOf(node), 0, 0, 0};
  return {node, 0, batch_stride, row_stride};
}

void GroupMemory::Reserve(int node, int64_t rows, int64_t columns, GroupShape* shape) const {
  if (group_.graph().IsResult(node) || alias_.contains(node)) return;
  const TensorType& type = group_.graph().at(node).type;
  shape->Reserve(node, group_.IsLocal(node) ? rows * columns : type.elements(), type.dtype);
}

bool GroupMemory::Replace(int result, int input) {
  if (!in_place_) return false;
  alias_[result] = MemoryOf(input);
  return true;
}

}  // namespace kirsch
