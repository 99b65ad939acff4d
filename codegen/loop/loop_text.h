// SPDX-License-Identifier: Apache-2.0
// Loop programs as text, for debugging and golden tests, and the text of expressions that printers share.
#ifndef KIRSCH_CODEGEN_LOOP_LOOP_TEXT_H_
#define KIRSCH_CODEGEN_LOOP_LOOP_TEXT_H_

#include <cstdint>
#include <string>

#include "codegen/loop/loop_program.h"

namespace kirsch {

// "i1 * 16 + 3", "0".
std::string AffineText(const Procedure& procedure, const Affine& affine);
// "lhs + i1 * 16 + 3", "lhs".
std::string AddressText(const Procedure& procedure, const Address& address);

// A procedure of the program, one statement a line; and the whole program.
std::string ProcedureText(const LoopProgram& program, const Procedure& procedure);
std::string LoopText(const LoopProgram& program);

// For names of procedures by what they do.
uint64_t HashOf(const std::string& text);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_LOOP_TEXT_H_
