// SPDX-License-Identifier: Apache-2.0
// Lowers what TOSA takes from given places: gathers, repeated tiles, and images that get another size.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "import/lowering.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr int64_t kMostScale = 1 << 16;  // TOSA has less

// Where an axis of the resized image comes from: two indices for each of its own, and the share of the
// second.
struct ResizedAxis {
  std::vector<double> first, second, share;
};

// By the definition: index i is at (i * step + offset) / scale of the image.
ResizedAxis Resize(int64_t size, int64_t count, int64_t scale, int64_t step, int64_t offset) {
  ResizedAxis axis;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i * step + offset;
    const int64_t index = at >= 0 ? at / scale : -((scale - 1 - at) / scale);  // rounded down
    axis.first.push_back(static_cast<double>(std::clamp<int64_t>(index, 0, size - 1)));
    axis.second.push_back(static_cast<double>(std::clamp<int64_t>(index + 1, 0, size - 1)));
    axis.share.push_back(static_cast<double>(at - index * scale) / static_cast<double>(scale));
  }
  return axis;
}

// The shares along a dim, times the value's elements.
int Weighted(int value, std::vector<double> shares, size_t dim, TensorProgramBuilder* builder) {
  const MlirType type = builder->TypeOf(value);
  const int weights = builder->Constant({{std::ssize(shares)}, std::move(shares)}, type.element);
  const int repeated = builder->Broadcast(weights, type.shape, {static_cast<int64_t>(dim)});
  return builder->Elementwise(ParseExpression("mul($0, $1)"), {value, repeated}, type);
}

int Blended(int value, const ResizedAxis& axis, size_t dim, TensorProgramBuilder* builder) {
  std::vector<double> rest;
  for (const double share : axis.share) rest.push_back(1 - share);
  const int first = Weighted(builder->TakeAt(value, axis.first, dim), rest, dim, builder),
            second = Weighted(builder->TakeAt(value, axis.second, dim), axis.share, dim, builder);
  return builder->Elementwise(ParseExpression("add($0, $1)"), {first, second}, builder->TypeOf(first));
}

}  // namespace

LoweredValues LowerTosaResize(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const MlirAttribute* mode = operation.of.Find("mode");
  const std::vector<int64_t> scale = operation.of.Integers("scale"), offset = operation.of.Integers("offset"),
                             border = operation.of.Integers("border");
  const std::vector<int64_t> from = builder->ShapeOf(operation.operands[0]), to = operation.type().shape;
  const auto is = [&](const char* name) {
    return mode != nullptr && mode->words == std::vector<std::string>{name};
  };
  const bool nearest = is("NEAREST_NEIGHBOR");
  if ((!nearest && !is("BILINEAR")) || scale.size() != 4 || offset.size() != 2 || border.size() != 2 ||
      from.size() != 4 || to.size() != 4 || *std::min_element(scale.begin(), scale.end()) < 1)
    return builder->Expected("an image, a mode, and numbers of scale, offset and border");
  for (const auto* const numbers : {&scale, &offset, &border})
    for (const int64_t number : *numbers)
      if (std::abs(number) > kMostScale)
        return builder->Expected(Cat("numbers of at most ", kMostScale, " in scale, offset and border"));
  if (!nearest && operation.type().integer()) return builder->Expected("floats, or NEAREST_NEIGHBOR");
  int value = operation.operands[0];
  for (size_t i = 0; i < 2; ++i) {
    const int64_t up = scale[2 * i], down = scale[2 * i + 1],
                  last = (from[i + 1] - 1) * up - offset[i] + border[i];
    if (last < 0 || last % down != 0 || to[i + 1] != last / down + 1)
      return builder->Expected("an image of the size that scale, offset and border give it");
    ResizedAxis axis = Resize(from[i + 1], to[i + 1], up, down, offset[i]);
    for (size_t at = 0; at < axis.share.size(); ++at)
      if (nearest && axis.share[at] >= 0.5) axis.first[at] = axis.second[at];
    value = nearest ? builder->TakeAt(value, axis.first, i + 1) : Blended(value, axis, i + 1, builder);
  }
  return std::vector{value};
}

LoweredValues LowerTosaGather(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const int values = operation.operands[0], indices = operation.operands[1];
  const std::vector<int64_t>&x = builder->ShapeOf(values), &i = builder->ShapeOf(indices);
  if (x.size() != 3 || i.size() != 2 || x[0] != i[0])
    return builder->Expected("batches of rows, and of indices");
  return std::vector{builder->TakeAlong(values, indices, 1)};
}

LoweredValues LowerTosaArgmax(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const std::vector<int64_t> axis = operation.of.Integers("axis");
  if (axis.size() != 1 || axis[0] < 0 || axis[0] >= std::ssize(builder->ShapeOf(operation.operands[0])))
    return builder->Expected("an axis of the tensor");
  const MlirAttribute* const nans = operation.of.Find("nan_mode");
  if (nans != nullptr &&
      (nans->text.find("IGNORE") != std::string::npos || nans->words == std::vector<std::string>{"IGNORE"}))
    return builder->Expected("NaNs that are propagated");
  return std::vector{builder->Reduce(operation.operands[0], Operation::kArgmax, axis)};
}

LoweredValues LowerTosaTile(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const std::vector<int64_t> times = operation.of.Integers("multiples"),
                             from = builder->ShapeOf(operation.operands[0]);
  if (times.size() != from.size() || (!times.empty() && *std::min_element(times.begin(), times.end()) < 1))
    return builder->Expected("multiples, one for each dim");
  std::vector<int64_t> wide, dims;
  for (size_t dim = 0; dim < from.size(); ++dim) {
    // Asked of the quotient, as the product may be too large a number.
    const int64_t to = operation.type().shape.size() == from.size() ? operation.type().shape[dim] : -1;
    if (from[dim] < 1 || to % from[dim] != 0 || to / from[dim] != times[dim])
      return builder->Expected("a result of the size that the multiples give it");
    wide.insert(wide.end(), {times[dim], from[dim]});
    dims.push_back(static_cast<int64_t>(2 * dim + 1));
  }
  return std::vector{
      builder->Reshape(builder->Broadcast(operation.operands[0], wide, dims), operation.type().shape)};
}

}  // namespace kirsch
