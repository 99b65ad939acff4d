// SPDX-License-Identifier: Apache-2.0
// Views tensors of any rank as batches of matrices, so that the operations of a fusion group can run over the
// same rows. Axes are only grouped, never reordered.
//
//   dims [12, 64, 256]:
//     MatrixSpace           batch 12, rows 64, columns 256
//     HeadsSpace, 4 heads   dims [3, 4, 64, 256]: batch 3, rows 4 * 64, columns 256
#ifndef KIRSCH_REWRITES_ANALYSIS_ITERATION_H_
#define KIRSCH_REWRITES_ANALYSIS_ITERATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "spec/graph/graph.h"

namespace kirsch {

// Dims that rarely need memory of their own: spaces are made all the time.
inline constexpr size_t kUsualAxes = 6;
struct SpaceDims : absl::InlinedVector<uint32_t, kUsualAxes> {
  SpaceDims(const std::vector<uint32_t>& dims)  // NOLINT(google-explicit-constructor)
      : InlinedVector(dims.begin(), dims.end()) {}
};

// The axes of a shape in three parts: batch is [batch_begin, rows_begin), rows [rows_begin, columns_begin),
// columns the rest. A part may be empty; it has one element then.
struct IterationSpace {
  SpaceDims dims;
  size_t rows_begin = 0, columns_begin = 0;
  bool reduces_rows = false;  // reductions are over the rows, else over the columns
  bool flat = false;          // nothing is reduced, and all axes are columns: any part of them will do
  uint32_t heads = 1;         // the axis before a shape's last two is two axes, the inner one of this size
  size_t batch_begin = 0;     // the axes before it are a part of their own: images, of several blocks each

  // Elements in each part.
  int64_t batch() const { return Product(batch_begin, rows_begin); }
  int64_t rows() const { return Product(rows_begin, columns_begin); }
  int64_t columns() const { return Product(columns_begin, dims.size()); }
  int64_t Product(size_t begin, size_t end) const {
    int64_t product = 1;
    for (size_t axis = begin; axis < end; ++axis) product *= dims[axis];
    return product;
  }
  friend bool operator==(const IterationSpace&, const IterationSpace&) = default;
};

// Takes all axes but the last two as batch, the last but one as rows, the last as columns. Shapes of fewer
// axes get leading axes of one element.
IterationSpace MatrixSpace(const std::vector<uint32_t>& dims);

// Does the same, but takes the rows of `heads` matrices that follow each other as those of one: they share
// what they are multiplied by, as the query heads of grouped attention share their keys. Unless `heads` is 1,
// `dims` has at least three axes, and the last but two of them is a multiple of `heads`.
IterationSpace HeadsSpace(const std::vector<uint32_t>& dims, uint32_t heads);

// Elements from one item of the batch, one row, one column to the next. 0 where the tensor is repeated, as it
// has the same element for all of them.
struct MatrixStrides {
  int64_t batch = 0, row = 0, column = 0;
  int64_t outer = 0;  // from one index of the axes before the batch to the next
};

// Returns the strides of a tensor that is repeated to the space as NumPy broadcasts it. Returns nothing where
// three strides cannot say it: a part's axes do not follow each other, some axes of a part are repeated and
// others not, or neighbouring columns are apart. The tensor's last axis may also have a single element, as a
// reduction leaves it.
//
//   In the space [4, 8, 64], 4 * 8 rows of 64 columns:
//     f32[4,8,64]                        row 64, column 1
//     f32[64], a bias                    row 0, column 1
//     f32[4,8,1], a mean                 row 1, column 0
//     f32[4,8,64] strides=[64,256,1]     nothing: rows are not evenly apart
//     f32[8,64]                          nothing: rows are repeated along one of two axes
std::optional<MatrixStrides> StridesIn(const IterationSpace& space, const TensorType& type);

// Says how the matrices of a tensor's last two axes lie in memory.
struct StoredMatrices {
  uint32_t ld;       // elements from row to row
  int64_t batch;     // from matrix to matrix; 0 of one
  bool is_together;  // the matrices follow each other without a gap, as a spec's do
};
// Returns how they lie, the rows of `heads` matrices being those of one (HeadsSpace). Returns nothing if rows
// or matrices are not evenly apart, or the leading dimension needs more than 32 bits.
std::optional<StoredMatrices> FindMatrices(const TensorType& type, uint32_t heads = 1);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_ANALYSIS_ITERATION_H_
