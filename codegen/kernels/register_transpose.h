// SPDX-License-Identifier: Apache-2.0
// Transposes a square block of a matrix in registers: as many vectors as each has groups of elements.
// Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_REGISTER_TRANSPOSE_H_
#define KIRSCH_CODEGEN_KERNELS_REGISTER_TRANSPOSE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/loop/procedure_builder.h"
#include "spec/dtype.h"
#include "spec/text/cat.h"

namespace kirsch {

// Copies load rows of the source into the vectors, call LoadTurned(), and store the vectors as rows of the
// copy. So memory is read and written in whole vectors.
class RegisterTranspose {
 public:
  static constexpr int kLeast = 4;
  // Matrices are turned by strips of so many rows, and as many elements of each at a time: as many as a cache
  // line has words.
  static constexpr int64_t kStripRows = kLineBytes / kWordBytes;

  // For a matrix of so many rows and columns (of groups of `group` elements): as large as a vector of
  // `vector_bytes` has groups, if these are words or wider, but less than twice as large as the matrix.
  RegisterTranspose(ProcedureBuilder& builder, Dtype dtype, int group, int vector_bytes, int64_t rows,
                    int64_t columns)
      : builder_(builder), in_part_(std::min(kLeast, kPartBytes / (group * Bytes(dtype)))) {
    const int bytes = group * Bytes(dtype);
    int size = kLeast;
    if (bytes >= kWordBytes)
      while (2 * size * bytes <= vector_bytes && size < rows && size < columns) size *= 2;
    for (int row = 0; row < size; ++row) rows_.push_back(builder.Vector(Cat("v", row), dtype, size * group));
  }

  // Rows of the square, which are its columns, too.
  int size() const { return static_cast<int>(rows_.size()); }
  VarId row(int64_t number) const { return rows_[static_cast<size_t>(number)]; }

  // Loads `columns` elements of each of the first `rows` rows, row i from `from(i)`, and transposes them. The
  // rest of the square is zero.
  template <typename From>
  void LoadTurned(int64_t rows, int64_t columns, const From& from) {
    for (int64_t number = 0; number < size(); ++number) {
      if (number < rows)
        builder_.Do(Load{row(number), from(number), static_cast<int>(columns)});
      else
        builder_.Do(Zero{row(number)});
    }
    Turn(rows);
  }

 private:
  // Two steps: squares within 16 bytes of each vector, then the 16-byte parts as elements of a larger square.
  // Vectors beyond `filled` are zeros, as are the squares that they make.
  void Turn(int64_t filled) {
    for (int first = 0; first < std::min<int64_t>(filled, size()); first += in_part_) {
      Transpose turned{{kNoVar, kNoVar, kNoVar, kNoVar}};
      for (int i = 0; i < in_part_; ++i) turned.rows[static_cast<size_t>(i)] = row(first + i);
      builder_.Do(turned);
    }
    const int parts = size() / in_part_;
    for (int i = 0; parts > 1 && i < in_part_; ++i) {
      TransposeParts turned{{kNoVar, kNoVar, kNoVar, kNoVar}};
      for (int part = 0; part < parts; ++part)
        turned.rows[static_cast<size_t>(part)] = row(part * in_part_ + i);
      builder_.Do(turned);
    }
  }

  static constexpr int kPartBytes = 16;

  ProcedureBuilder& builder_;
  const int in_part_;  // groups that 16 bytes of a vector have, which are turned first
  std::vector<VarId> rows_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_REGISTER_TRANSPOSE_H_
