// SPDX-License-Identifier: Apache-2.0
// Holds a tensor that a program computes from its own constants alone: numbers, iotas, masks of these. It is
// folded while the program is read.
#ifndef KIRSCH_IMPORT_CONSTANT_TENSOR_H_
#define KIRSCH_IMPORT_CONSTANT_TENSOR_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"

namespace kirsch {

struct ConstantTensor {
  std::vector<int64_t> shape;
  std::vector<double> values;  // in row-major order; or a single one, which all elements are

  bool uniform() const { return values.size() == 1; }
  int64_t elements() const;
  double at(int64_t element) const { return uniform() ? values[0] : values[static_cast<size_t>(element)]; }
};

// More elements than this are not folded.
inline constexpr int64_t kMostFolded = int64_t{1} << 22;

// The index along `axis`, of each element.
ConstantTensor Iota(const std::vector<int64_t>& shape, size_t axis);

// A tensor of `shape` whose axis dims[i] is the axis i of `tensor`, which may have size 1. Axes that are not
// in `dims` are repeated. So a transposition is one of these, too.
ConstantTensor Broadcast(const ConstantTensor& tensor, const std::vector<int64_t>& shape,
                         const std::vector<int64_t>& dims);

// Without the axes along which all elements are the same; `varies` says for each axis if it stays. Masks that
// a program repeats for each head are stored once so.
ConstantTensor WithoutRepetitions(const ConstantTensor& tensor, std::vector<bool>* varies);

// The function of each element of tensors that have the shape, or are uniform.
ConstantTensor Map(const std::vector<int64_t>& shape, absl::Span<const ConstantTensor* const> tensors,
                   const std::function<double(absl::Span<const double>)>& function);

// A tensor of `shape`. Its element at index `at` along `dim` is function(at, element): element(i, j) is that
// of tensor i at index j of `dim`, other indices as the result's.
using ElementAlong = std::function<double(size_t tensor, int64_t at)>;
ConstantTensor MadeAlong(absl::Span<const ConstantTensor* const> tensors, const std::vector<int64_t>& shape,
                         size_t dim, const std::function<double(int64_t at, const ElementAlong&)>& function);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_CONSTANT_TENSOR_H_
