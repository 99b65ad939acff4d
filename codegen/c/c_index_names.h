// SPDX-License-Identifier: Apache-2.0
// Gives the indices of a procedure short names for C.
#ifndef KIRSCH_CODEGEN_C_C_INDEX_NAMES_H_
#define KIRSCH_CODEGEN_C_C_INDEX_NAMES_H_

#include "codegen/loop/loop_program.h"

namespace kirsch {

// Returns the procedure with each index numbered by how many others are in scope. The loop program numbers
// its variables through instead. Blocks that do the same then read the same wherever they are, and c_macros.h
// finds that they do. Names that end in no number stay.
//
// For example, the second of two nests side by side:
//   for i6 < 4                 for i1 < 4
//     for i7 < 2       ->        for i2 < 2
Procedure WithScopedNames(Procedure procedure);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_INDEX_NAMES_H_
