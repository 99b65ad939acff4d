// SPDX-License-Identifier: Apache-2.0
// Puts copies into a program of tensors where an operation cannot take dims as reshapes elsewhere split them.
// Then its own dims are split as it likes, and the copy is one of the kernel only if they are split
// otherwise.
#ifndef KIRSCH_IMPORT_INSERT_COPIES_H_
#define KIRSCH_IMPORT_INSERT_COPIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "import/tensor_program.h"

namespace kirsch {

// Instead of the number of an operand: the operation's result; the operation, a reshape, itself.
inline constexpr int kResult = -1, kItself = -2;

// A dim of an operand or of the result of TensorProgram::operations[operation].
struct DimCopy {
  size_t operation = 0;
  int operand = 0;
  int64_t dim = 0;
};

// Returns false if there are all of these copies. Numbers of operations change.
bool InsertCopies(std::vector<DimCopy> copies, TensorProgram* program);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_INSERT_COPIES_H_
