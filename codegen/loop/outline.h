// SPDX-License-Identifier: Apache-2.0
// Statements of an entry as a procedure of their own.
#ifndef KIRSCH_CODEGEN_LOOP_OUTLINE_H_
#define KIRSCH_CODEGEN_LOOP_OUTLINE_H_

#include <vector>

#include "codegen/loop/loop_program.h"

namespace kirsch {

struct Outlined {
  Procedure procedure;  // without a name
  Call call;            // does what the statements did, once it has the procedure's number
};

// Of calls and what says which: Divide, For, IfAny, Switch; and of what configures tiles. The procedure takes
// the places where operands begin, the indices that its numbers follow from, and, if all of its calls say the
// same of whether they add to the output, that: so it is the same wherever else it would be written for other
// places.
Outlined MakeOutline(const LoopProgram& program, const std::vector<Stmt>& block);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_OUTLINE_H_
