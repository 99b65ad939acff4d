// SPDX-License-Identifier: Apache-2.0
// The operands of a function as its user sees them. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_USER_MATRIX_H_
#define KIRSCH_CODEGEN_HEADER_USER_MATRIX_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/header/header_file.h"
#include "spec/language/family.h"

namespace kirsch {

// Element (batch, row, column) is at batch * batch_stride + row_axis.At(row) + column_axis.At(column).
struct UserMatrix {
  int64_t rows, columns;
  DigitAxis row_axis, column_axis;
  int64_t batch_stride;
  // Along which consecutive elements are elsewhere than at one distance.
  bool is_window() const { return row_axis.digits > 1 || column_axis.digits > 1; }
};

// The user's lhs, rhs, out.
std::array<UserMatrix, 3> UserMatrices(const HeaderMember& member);

// The sizes of the problem as the user states them.
UserSizes SizesOfUser(const HeaderMember& member);

// The epilogue with the user's rows and columns.
Epilogue EpilogueOfUser(const HeaderMember& member);

// The offset of the element at `index` along the axis, in C: "row % 56 * 64 + row / 56 * 3712".
std::string OffsetText(const DigitAxis& axis, const std::string& index);

// What the operands hold, one line each, and what is computed.
std::string MatricesText(const HeaderMember& member);

// Of HeaderFunction::signature, lhs, rhs, out, and what the epilogue takes, before any is packed.
std::vector<EntryTensor> Unpacked(const CSignature& signature);

// What the self-test calls a tensor, whatever the user does, and several with commas between.
std::string TestName(const EntryTensor& tensor);
std::string TestNames(const std::vector<EntryTensor>& tensors);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_USER_MATRIX_H_
