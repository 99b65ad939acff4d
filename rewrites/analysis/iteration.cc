// SPDX-License-Identifier: Apache-2.0
#include "rewrites/analysis/iteration.h"

#include <limits>

namespace kirsch {

IterationSpace MatrixSpace(const std::vector<uint32_t>& dims) {
  IterationSpace space{dims, 0, 0};
  while (space.dims.size() < 2) space.dims.insert(space.dims.begin(), 1);
  space.columns_begin = space.dims.size() - 1;
  space.rows_begin = space.columns_begin - 1;
  return space;
}

IterationSpace HeadsSpace(const std::vector<uint32_t>& dims, uint32_t heads) {
  IterationSpace space = MatrixSpace(dims);
  if (heads == 1) return space;
  space.heads = heads;
  // The axis of matrices becomes two: the outer one stays in the batch, the inner one joins the rows.
  const auto axis = space.dims.end() - 3;
  *axis /= heads;
  space.dims.insert(axis + 1, heads);
  ++space.columns_begin;
  return space;
}

std::optional<MatrixStrides> StridesIn(const IterationSpace& space, const TensorType& type) {
  // The tensor's axes are brought into the form of the space's: first the heads become an axis of their own,
  // ...
  SpaceDims dims = type.dims;
  const std::vector<int64_t> stored = type.Strides();
  absl::InlinedVector<int64_t, kUsualAxes> strides(stored.begin(), stored.end());
  if (space.heads > 1 && dims.size() > 2) {
    const size_t axis = dims.size() - 3;
    const bool one = dims[axis] == 1;  // repeated
    if (!one && dims[axis] % space.heads != 0) return std::nullopt;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, one ? 1 : space.heads);
    strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(axis) + 1, strides[axis]);
    if (!one) dims[axis] /= space.heads;
    strides[axis] *= space.heads;
  }
  // ... then leading axes of one element go, or come, until there are as many axes as the space has. An axis
  // that is repeated has the stride 0.
  while (dims.size() > space.dims.size() && dims.front() == 1) {
    dims.erase(dims.begin());
    strides.erase(strides.begin());
  }
  if (dims.size() > space.dims.size()) return std::nullopt;
  const size_t missing = space.dims.size() - dims.size();
  dims.insert(dims.begin(), missing, 1);
  strides.insert(strides.begin(), missing, 0);
  // Returns a part's stride: that of its innermost axis of more than one element, provided that the others
  // follow it. `next` is what the stride of the next outer axis has to be.
  const auto part = [&](size_t begin, size_t end) -> std::optional<int64_t> {
    int64_t stride = 0, next = 0;
    bool repeated = false;
    for (size_t axis = end; axis-- > begin;) {
      if (dims[axis] != 1 && dims[axis] != space.dims[axis]) return std::nullopt;
      if (space.dims[axis] == 1) continue;
      if (dims[axis] == 1) {
        repeated = true;
        continue;
      }
      if (stride == 0) stride = next = strides[axis];
      if (strides[axis] != next) return std::nullopt;
      next *= dims[axis];
    }
    if (repeated && stride != 0) return std::nullopt;
    return stride;
  };
  const std::optional<int64_t> column = part(space.columns_begin, space.dims.size());
  const std::optional<int64_t> row = part(space.rows_begin, space.columns_begin);
  const std::optional<int64_t> batch = part(space.batch_begin, space.rows_begin);
  const std::optional<int64_t> outer = part(0, space.batch_begin);
  // Columns have to be neighbours, or the same: kernels read rows as vectors.
  if (!column || !row || !batch || !outer || *column > 1) return std::nullopt;
  return MatrixStrides{*batch, *row, *column, *outer};
}

std::optional<StoredMatrices> FindMatrices(const TensorType& type, uint32_t heads) {
  const IterationSpace space = HeadsSpace(type.dims, heads);
  const std::optional<MatrixStrides> strides = StridesIn(space, type);
  if (!strides) return std::nullopt;
  // Where there is a single row, its own length stands for the leading dimension.
  const int64_t ld = strides->row != 0 ? strides->row : space.columns();
  if (ld > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return StoredMatrices{static_cast<uint32_t>(ld), strides->batch,
                        space.batch() == 1 || strides->batch == ld * space.rows()};
}

}  // namespace kirsch
