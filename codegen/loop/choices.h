// SPDX-License-Identifier: Apache-2.0
// Moves choices that depend on a run-time size out of the entry, so that equal ones are printed once.
#ifndef KIRSCH_CODEGEN_LOOP_CHOICES_H_
#define KIRSCH_CODEGEN_LOOP_CHOICES_H_

#include "codegen/loop/loop_program.h"

namespace kirsch {

// The tiles of any number of rows, or of columns, are whole ones and a Switch over what is left. That is much
// code, and an entry has it wherever it has such tiles: at other places of the operands, adding to the output
// or not. This makes a procedure of each (MakeOutline); equal ones are the same procedure. Then it does so
// with the blocks of rows around them, which call those. Called once, when the program is complete.
//
// Before, in the entry, and once more for other columns:
//   whole4 = (m) / 3
//   for i5 < whole4
//     call tile(lhs + i5 * 300, out + i5 * 300, 7, 0)
//   left6 = (m) % 3
//   if left6 = 1 ...
// After, in both places:
//   call tiles_<hash>(lhs, out, m, 0)
void ShareChoices(LoopProgram* program);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_CHOICES_H_
