// What is chosen by a number of rows that is known only when the program runs, as procedures of its own.
#ifndef KIRSCH_CODEGEN_LOOP_CHOICES_H_
#define KIRSCH_CODEGEN_LOOP_CHOICES_H_

#include "codegen/loop/loop_program.h"

namespace kirsch {

// The tiles of any number of rows are whole ones, and a Switch over what is left: much code, which the entry
// has wherever it has such tiles, at other places of the operands. Each becomes a procedure, equal ones the
// same, that takes the places where its tiles begin and the indices that its numbers of trips follow from.
void ShareChoices(LoopProgram* program);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_CHOICES_H_
