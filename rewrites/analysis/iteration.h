// SPDX-License-Identifier: Apache-2.0
// Tensors as batches of matrices: what the operations of a group run over.
#ifndef KIRSCH_REWRITES_ANALYSIS_ITERATION_H_
#define KIRSCH_REWRITES_ANALYSIS_ITERATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "spec/graph/graph.h"

namespace kirsch {

// The axes of a shape in three parts: batch, rows, columns.
struct IterationSpace {
  std::vector<uint32_t> dims;
  size_t rows_begin = 0, columns_begin = 0;
  bool reduces_rows = false;  // reductions are over the rows, else over the columns
  bool flat = false;          // nothing is reduced, and all axes are columns: any part of them will do
  uint32_t heads = 1;         // the axis before a shape's last two is two axes, the inner one of this size

  int64_t batch() const { return Product(0, rows_begin); }
  int64_t rows() const { return Product(rows_begin, columns_begin); }
  int64_t columns() const { return Product(columns_begin, dims.size()); }
  int64_t Product(size_t begin, size_t end) const {
    int64_t product = 1;
    for (size_t axis = begin; axis < end; ++axis) product *= dims[axis];
    return product;
  }
  friend bool operator==(const IterationSpace&, const IterationSpace&) = default;
};

// Batch, rows, columns: all axes but the last two, the last but one, the last one.
IterationSpace MatrixSpace(const std::vector<uint32_t>& dims);

// The same, but rows are those of `heads` matrices that follow each other, which share what they are
// multiplied by. `dims` of three axes at least, the last but two of them a multiple of `heads`, unless that
// is 1.
IterationSpace HeadsSpace(const std::vector<uint32_t>& dims, uint32_t heads);

// Elements from one item of the batch, row, column to the next; 0 where a tensor is repeated.
struct MatrixStrides {
  int64_t batch = 0, row = 0, column = 0;
};

// Of a tensor that is repeated to the space as NumPy does; nothing if these don't suffice, as it is
// repeated along some axes of a part and not along others, or the axes of a part do not follow each other.
// Its last axis may also have one element only, where it is reduced.
std::optional<MatrixStrides> StridesIn(const IterationSpace& space, const TensorType& type);

// How the matrices of a tensor's last two axes lie.
struct StoredMatrices {
  uint32_t ld;       // elements from row to row
  int64_t batch;     // from matrix to matrix; 0 of one
  bool is_together;  // the matrices follow each other without a gap, as a spec's do
};
// With rows of so many matrices as those of one (HeadsSpace). Nothing if they are not evenly apart.
std::optional<StoredMatrices> FindMatrices(const TensorType& type, uint32_t heads = 1);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_ANALYSIS_ITERATION_H_
