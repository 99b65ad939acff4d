// SPDX-License-Identifier: Apache-2.0
// The element type and the shape of a tensor, and how it lies.
#ifndef KIRSCH_SPEC_TENSOR_TYPE_H_
#define KIRSCH_SPEC_TENSOR_TYPE_H_

#include <cstdint>
#include <vector>

#include "spec/dtype.h"

namespace kirsch {

struct TensorType {
  Dtype dtype = Dtype::kF32;
  std::vector<uint32_t> dims;  // outermost first; none: a single element
  // Of a parameter or the result that does not lie row by row: from one index of each axis to the next, in
  // elements, as NormaliseStrides leaves them. None: dense.
  std::vector<int64_t> strides = {};

  int64_t elements() const {
    int64_t elements = 1;
    for (uint32_t size : dims) elements *= size;
    return elements;
  }
  int64_t bytes() const { return Bytes(dtype, elements()); }  // gaps left out
  bool dense() const { return strides.empty(); }
  // Of all axes, whether said or not.
  std::vector<int64_t> Strides() const;
  // Elements from the first to the last one, both included, and what lies between them.
  int64_t span() const;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TENSOR_TYPE_H_
