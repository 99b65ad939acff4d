// SPDX-License-Identifier: Apache-2.0
// Holds the type of a tensor: its element type, its shape, and how it lies.
//
//   f32[12,1024,64] strides=[64,768,1]     element (h, t, d) is number 64 * h + 768 * t + d
#ifndef KIRSCH_SPEC_TENSOR_TYPE_H_
#define KIRSCH_SPEC_TENSOR_TYPE_H_

#include <cstdint>
#include <vector>

#include "spec/dtype.h"

namespace kirsch {

struct TensorType {
  Dtype dtype = Dtype::kF32;
  std::vector<uint32_t> dims;  // outermost first; none: a single element
  // Of a parameter or the result that does not lie row by row: elements from one index of each axis to the
  // next, as NormaliseStrides leaves them. None: dense.
  std::vector<int64_t> strides = {};

  int64_t elements() const {
    int64_t elements = 1;
    for (uint32_t size : dims) elements *= size;
    return elements;
  }
  int64_t bytes() const { return Bytes(dtype, elements()); }  // gaps left out
  bool dense() const { return strides.empty(); }
  // The strides of all axes, whether they are said or follow from the shape.
  std::vector<int64_t> Strides() const;
  // The elements from the first to the last one, both included, with what lies between them.
  int64_t span() const;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TENSOR_TYPE_H_
