// SPDX-License-Identifier: Apache-2.0
#include "import/along_dims.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "spec/graph/types.h"
#include "spec/spec.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

bool IsBetween(int64_t least, int64_t number, int64_t most) { return least <= number && number <= most; }

// True if each window ends at its own index, and begins with the dim or before it.
bool IsRunningSum(const DimWindow& window, int64_t size) {
  return size > 1 && window.size == size && window.before == size - 1 && window.after == 0 &&
         window.stride == 1 && window.dilation == 1;
}

AlongAxis OfWindow(const DimWindow& window) {
  AlongAxis along;
  along.size = static_cast<uint32_t>(window.size);
  along.steps = {static_cast<uint32_t>(window.stride), static_cast<uint32_t>(window.dilation),
                 static_cast<uint32_t>(window.before), static_cast<uint32_t>(window.after)};
  return along;
}

}  // namespace

absl::StatusOr<int> SliceDims(int value, const std::vector<int64_t>& start, const std::vector<int64_t>& sizes,
                              const std::vector<int64_t>& step, TensorProgramBuilder* builder) {
  const size_t rank = builder->ShapeOf(value).size();
  if (start.size() != rank || sizes.size() != rank || step.size() != rank)
    return builder->Expected("a start, a size and a step for each dim, which are known");
  for (size_t dim = 0; dim < rank; ++dim) {
    const int64_t size = builder->ShapeOf(value)[dim];
    if (!IsBetween(0, start[dim], size - 1) || !IsBetween(1, step[dim], kMaxSide) ||
        !IsBetween(1, sizes[dim], (size - 1 - start[dim]) / step[dim] + 1))
      return builder->Expected(Cat("a slice within dim ", dim, ", with a step of 1 or more"));
    AlongAxis along;
    along.from = static_cast<uint32_t>(start[dim]);
    along.to = static_cast<uint32_t>(start[dim] + (sizes[dim] - 1) * step[dim] + 1);
    along.steps.stride = static_cast<uint32_t>(step[dim]);
    if (sizes[dim] != size) value = builder->Along(Operation::kSlice, {value}, dim, along, 0);
  }
  return value;
}

absl::StatusOr<int> PadDims(int value, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                            double number, TensorProgramBuilder* builder) {
  const size_t rank = builder->ShapeOf(value).size();
  if (before.size() != rank || after.size() != rank)
    return builder->Expected("known sizes of what is before and after each dim");
  for (size_t dim = 0; dim < rank; ++dim) {
    if (!IsBetween(0, before[dim], kMaxSide) || !IsBetween(0, after[dim], kMaxSide))
      return builder->Expected("sizes of 0 or more before and after each dim: nothing is cut off");
    AlongAxis along;
    along.steps.before = static_cast<uint32_t>(before[dim]);
    along.steps.after = static_cast<uint32_t>(after[dim]);
    if (along.steps.padded()) value = builder->Along(Operation::kPad, {value}, dim, along, number);
  }
  return value;
}

absl::StatusOr<int> ConcatDims(std::vector<int> values, int64_t dim, TensorProgramBuilder* builder) {
  const auto shape_without = [&](int value) {
    std::vector<int64_t> shape = builder->ShapeOf(value);
    if (dim >= 0 && dim < static_cast<int64_t>(shape.size())) shape[static_cast<size_t>(dim)] = 0;
    return shape;
  };
  for (const int value : values)
    if (dim < 0 || dim >= static_cast<int64_t>(builder->ShapeOf(value).size()) ||
        shape_without(value) != shape_without(values.front()))
      return builder->Expected("operands that differ along one of their dims only");
  if (values.empty()) return builder->Expected("an operand");
  // Neighbours in pairs, so that few elements are copied more than once.
  while (values.size() > 1) {
    std::vector<int> pairs;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      pairs.push_back(builder->Along(Operation::kConcat, {values[i], values[i + 1]}, static_cast<size_t>(dim),
                                     AlongAxis{}, 0));
    if (values.size() % 2 != 0) pairs.push_back(values.back());
    values = std::move(pairs);
  }
  return values.front();
}

absl::StatusOr<int> WindowDims(int value, bool sum, const std::vector<DimWindow>& windows,
                               TensorProgramBuilder* builder) {
  const std::vector<int64_t> shape = builder->ShapeOf(value);
  if (windows.size() != shape.size()) return builder->Expected("a window along each dim");
  for (size_t dim = 0; dim < windows.size(); ++dim) {
    const DimWindow& window = windows[dim];
    if (sum && IsRunningSum(window, shape[dim])) continue;
    if (window.size > kMaxWindow)
      return builder->Expected(Cat("windows of at most ", kMaxWindow, " elements along each dim"));
    if (window.size < 1 || !IsBetween(1, window.stride, kMaxSide) ||
        !IsBetween(1, window.dilation, kMaxSide) || !IsBetween(0, window.before, kMaxSide) ||
        !IsBetween(0, window.after, kMaxSide) ||
        (window.size - 1) * window.dilation >= shape[dim] + window.before + window.after)
      return builder->Expected(Cat("windows within dim ", dim, " and what is around it"));
  }
  for (size_t dim = 0; dim < windows.size(); ++dim)
    if (sum && IsRunningSum(windows[dim], shape[dim]))
      value = builder->Along(Operation::kCumsum, {value}, dim, {}, 0);
    else if (const AlongAxis along = OfWindow(windows[dim]); along != AlongAxis{})
      value = builder->Along(sum ? Operation::kWindowSum : Operation::kWindowMax, {value}, dim, along, 0);
  return value;
}

ConstantTensor ElementsInWindows(const std::vector<int64_t>& shape, const std::vector<DimWindow>& windows) {
  ConstantTensor all{{}, {1}};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const DimWindow& window = windows[dim];
    const int64_t count =
        (shape[dim] + window.before + window.after - (window.size - 1) * window.dilation - 1) /
            window.stride +
        1;
    all.shape.push_back(count);
    std::vector<double> values;
    for (const double outer : all.values)
      for (int64_t i = 0; i < count; ++i) {
        double inside = 0;
        for (int64_t tap = 0; tap < window.size; ++tap) {
          const int64_t at = i * window.stride - window.before + tap * window.dilation;
          inside += at >= 0 && at < shape[dim] ? 1 : 0;
        }
        values.push_back(outer * inside);
      }
    all.values = std::move(values);
  }
  return all;
}

}  // namespace kirsch
