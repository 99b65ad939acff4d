// SPDX-License-Identifier: Apache-2.0
#include "import/constant_tensor.h"

#include <algorithm>
#include <numeric>

namespace kirsch {
namespace {

int64_t Product(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// Calls use(index) for each element of the shape, in row-major order.
template <typename Use>
void ForEachIndex(const std::vector<int64_t>& shape, Use use) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t left = Product(shape); left > 0; --left) {
    use(index);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// One value instead of many that are the same, bit for bit or in being no number.
void Shorten(ConstantTensor* tensor) {
  const double first = tensor->values.front();
  if (std::all_of(tensor->values.begin(), tensor->values.end(), [&](double value) { return value == first; }))
    tensor->values.resize(1);
}

}  // namespace

int64_t ConstantTensor::elements() const { return Product(shape); }

ConstantTensor Iota(const std::vector<int64_t>& shape, size_t axis) {
  ConstantTensor tensor{shape, {}};
  ForEachIndex(shape, [&](const auto& index) { tensor.values.push_back(static_cast<double>(index[axis])); });
  Shorten(&tensor);
  return tensor;
}

ConstantTensor Broadcast(const ConstantTensor& tensor, const std::vector<int64_t>& shape,
                         const std::vector<int64_t>& dims) {
  if (tensor.uniform()) return {shape, tensor.values};
  ConstantTensor wide{shape, {}};
  ForEachIndex(shape, [&](const auto& index) {
    int64_t element = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const int64_t at = tensor.shape[axis] == 1 ? 0 : index[static_cast<size_t>(dims[axis])];
      element = element * tensor.shape[axis] + at;
    }
    wide.values.push_back(tensor.at(element));
  });
  return wide;
}

ConstantTensor WithoutRepetitions(const ConstantTensor& tensor, std::vector<bool>* varies) {
  varies->assign(tensor.shape.size(), false);
  int64_t element = 0;
  ForEachIndex(tensor.shape, [&](const std::vector<int64_t>& index) {
    // The element beside this one, before it along the axis.
    int64_t stride = 1;
    for (size_t axis = tensor.shape.size(); axis-- > 0; stride *= tensor.shape[axis])
      if (index[axis] > 0 && tensor.at(element) != tensor.at(element - stride)) (*varies)[axis] = true;
    ++element;
  });
  ConstantTensor once;
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis)
    if ((*varies)[axis]) once.shape.push_back(tensor.shape[axis]);
  element = 0;
  ForEachIndex(tensor.shape, [&](const std::vector<int64_t>& index) {
    bool first = true;
    for (size_t axis = 0; axis < index.size(); ++axis) first = first && ((*varies)[axis] || index[axis] == 0);
    if (first) once.values.push_back(tensor.at(element));
    ++element;
  });
  return once;
}

ConstantTensor Map(const std::vector<int64_t>& shape, absl::Span<const ConstantTensor* const> tensors,
                   const std::function<double(absl::Span<const double>)>& function) {
  const bool uniform = std::all_of(tensors.begin(), tensors.end(),
                                   [](const ConstantTensor* tensor) { return tensor->uniform(); });
  ConstantTensor mapped{shape, {}};
  std::vector<double> arguments(tensors.size());
  for (int64_t element = 0; element < (uniform ? 1 : Product(shape)); ++element) {
    for (size_t i = 0; i < tensors.size(); ++i) arguments[i] = tensors[i]->at(element);
    mapped.values.push_back(function(arguments));
  }
  Shorten(&mapped);
  return mapped;
}

ConstantTensor MadeAlong(absl::Span<const ConstantTensor* const> tensors, const std::vector<int64_t>& shape,
                         size_t dim, const std::function<double(int64_t at, const ElementAlong&)>& function) {
  ConstantTensor made{shape, {}};
  ForEachIndex(shape, [&](const std::vector<int64_t>& index) {
    made.values.push_back(function(index[dim], [&](size_t tensor, int64_t at) {
      const std::vector<int64_t>& own = tensors[tensor]->shape;
      int64_t element = 0;
      for (size_t axis = 0; axis < own.size(); ++axis)
        element = element * own[axis] + (axis == dim ? at : index[axis]);
      return tensors[tensor]->at(element);
    }));
  });
  Shorten(&made);
  return made;
}

}  // namespace kirsch
