#include "rewrites/iteration.h"

namespace kirsch {

IterationSpace MatrixSpace(const std::vector<uint32_t>& dims) {
  IterationSpace space{dims, 0, 0};
  while (space.dims.size() < 2) space.dims.insert(space.dims.begin(), 1);
  space.columns_begin = space.dims.size() - 1;
  space.rows_begin = space.columns_begin - 1;
  return space;
}

std::optional<MatrixStrides> StridesIn(const IterationSpace& space, const TensorType& type) {
  std::vector<uint32_t> dims = type.dims;
  while (dims.size() > space.dims.size() && dims.front() == 1) dims.erase(dims.begin());
  if (dims.size() > space.dims.size()) return std::nullopt;
  dims.insert(dims.begin(), space.dims.size() - dims.size(), 1);
  // The stride of a part is that of its innermost axis that has more than one element.
  int64_t elements = 1;
  const auto part = [&](size_t begin, size_t end) -> std::optional<int64_t> {
    const int64_t stride = elements;
    bool repeated = false, full = false;
    for (size_t axis = end; axis-- > begin;) {
      if (dims[axis] != 1 && dims[axis] != space.dims[axis]) return std::nullopt;
      if (space.dims[axis] == 1) continue;
      (dims[axis] == 1 ? repeated : full) = true;
      elements *= dims[axis];
    }
    if (repeated && full) return std::nullopt;
    return full ? stride : 0;
  };
  const std::optional<int64_t> column = part(space.columns_begin, space.dims.size());
  const std::optional<int64_t> row = part(space.rows_begin, space.columns_begin);
  const std::optional<int64_t> batch = part(0, space.rows_begin);
  if (!column || !row || !batch) return std::nullopt;
  return MatrixStrides{*batch, *row, *column};
}

}  // namespace kirsch
