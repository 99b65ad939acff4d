// SPDX-License-Identifier: Apache-2.0
// What is chosen by a size that is known only when the program runs, as procedures of its own.
#ifndef KIRSCH_CODEGEN_LOOP_CHOICES_H_
#define KIRSCH_CODEGEN_LOOP_CHOICES_H_

#include "codegen/loop/loop_program.h"

namespace kirsch {

// The tiles of any number of rows, or of columns, are whole ones and a Switch over what is left. That is much
// code, which the entry has wherever it has such tiles: at other places of the operands, adding to the output
// or not. Each becomes a procedure (MakeOutline), equal ones the same. Then so do the blocks of rows around
// them, which call those.
void ShareChoices(LoopProgram* program);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_CHOICES_H_
