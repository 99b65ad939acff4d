// The operands of a function as its user sees them. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_USER_MATRIX_H_
#define KIRSCH_CODEGEN_USER_MATRIX_H_

#include <array>
#include <cstdint>
#include <string>

#include "codegen/header_file.h"
#include "spec/family.h"

namespace kirsch {

// Element (batch, row, column) is at batch * batch_stride + row * row_stride + column * column_stride.
struct UserMatrix {
  int64_t rows, columns;
  int64_t row_stride, column_stride, batch_stride;
};

// The user's lhs, rhs, out.
std::array<UserMatrix, 3> UserMatrices(const HeaderMember& member);

// The sizes of the problem as the user states them.
UserSizes SizesOfUser(const HeaderMember& member);

// The epilogue with the user's rows and columns.
Epilogue EpilogueOfUser(const HeaderMember& member);

// What the operands hold, one line each, and what is computed.
std::string MatricesText(const HeaderMember& member);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_USER_MATRIX_H_
