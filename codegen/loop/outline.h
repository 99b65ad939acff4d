// SPDX-License-Identifier: Apache-2.0
// Turns statements of an entry into a procedure of their own and the call that replaces them.
#ifndef KIRSCH_CODEGEN_LOOP_OUTLINE_H_
#define KIRSCH_CODEGEN_LOOP_OUTLINE_H_

#include <vector>

#include "codegen/loop/loop_program.h"

namespace kirsch {

// Who asked for the procedure names it and adds it to the program.
struct Outlined {
  Procedure procedure;  // without a name
  Call call;            // does what the statements did, once it has the procedure's number
};

// The statements may be calls and what chooses them (Divide, For, IfAny, Switch), and TileConfigure; others
// abort. The parameters of the procedure make it equal to others that differ only in places:
//   - where each operand begins: all that the block's own indices don't say of an address;
//   - the indices from outside that its numbers follow from;
//   - whether it adds to the output, if all of its calls say the same of that.
Outlined MakeOutline(const LoopProgram& program, const std::vector<Stmt>& block);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_OUTLINE_H_
