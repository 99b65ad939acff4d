// SPDX-License-Identifier: Apache-2.0
// Describes the operands of a function as its user sees them. A spec may be the transpose of what the user
// asked for; here rows and columns are the user's. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_USER_MATRIX_H_
#define KIRSCH_CODEGEN_HEADER_USER_MATRIX_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/header/header_file.h"
#include "spec/language/family.h"

namespace kirsch {

// Where the elements of an operand lie: (batch, row, column) is at batch * batch_stride + row_axis.At(row) +
// column_axis.At(column).
struct UserMatrix {
  int64_t rows, columns;
  DigitAxis row_axis, column_axis;
  int64_t batch_stride;
  // True if some axis has consecutive elements at more than one distance.
  bool is_window() const { return row_axis.digits > 1 || column_axis.digits > 1; }
};

// Returns the user's lhs, rhs and out.
std::array<UserMatrix, 3> UserMatrices(const HeaderMember& member);

// Returns the sizes of the problem as the user states them.
UserSizes SizesOfUser(const HeaderMember& member);

// Returns the epilogue with the user's rows and columns.
Epilogue EpilogueOfUser(const HeaderMember& member);

// Returns the offset of the element at `index` along the axis, in C: "row % 56 * 64 + row / 56 * 3712".
std::string OffsetText(const DigitAxis& axis, const std::string& index);

// Returns, for people, a line on each operand and one on the product:
//   lhs: f32, 32 x 512, row-major, leading dimension 512
std::string MatricesText(const HeaderMember& member);

// Returns lhs, rhs, out and the epilogue's operands, before any is packed. `signature` is that of
// HeaderFunction::signature.
std::vector<EntryTensor> Unpacked(const CSignature& signature);

// Returns the name that the self-test gives a tensor, whatever the user calls it. TestNames: several, with
// commas between.
std::string TestName(const EntryTensor& tensor);
std::string TestNames(const std::vector<EntryTensor>& tensors);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_USER_MATRIX_H_
