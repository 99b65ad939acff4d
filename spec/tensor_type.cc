// SPDX-License-Identifier: Apache-2.0
#include "spec/tensor_type.h"

namespace kirsch {

std::vector<int64_t> TensorType::Strides() const {
  if (!strides.empty()) return strides;
  std::vector<int64_t> following(dims.size(), 1);
  // The last axis has stride 1, each other one the size of what is within it.
  for (size_t axis = dims.size(); axis-- > 1;) following[axis - 1] = following[axis] * dims[axis];
  return following;
}

int64_t TensorType::span() const {
  const std::vector<int64_t> apart = Strides();
  int64_t last = 0;
  for (size_t axis = 0; axis < dims.size(); ++axis) last += int64_t{dims[axis] - 1} * apart[axis];
  return last + 1;
}

}  // namespace kirsch
