// Loop programs as text, for debugging and golden tests, and the text of expressions that printers share.
#ifndef KIRSCH_CODEGEN_LOOP_LOOP_TEXT_H_
#define KIRSCH_CODEGEN_LOOP_LOOP_TEXT_H_

#include <string>

#include "codegen/loop/loop_program.h"

namespace kirsch {

// "i1 * 16 + 3", "0".
std::string AffineText(const Procedure& procedure, const Affine& affine);
// "lhs + i1 * 16 + 3", "lhs".
std::string AddressText(const Procedure& procedure, const Address& address);

// The whole program, one statement a line.
std::string LoopText(const LoopProgram& program);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_LOOP_TEXT_H_
