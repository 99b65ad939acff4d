// SPDX-License-Identifier: Apache-2.0
// Prints loop programs as text, for people (`synth --emit loops`) and for tests. The C printer takes the text
// of its expressions from here.
#ifndef KIRSCH_CODEGEN_LOOP_LOOP_TEXT_H_
#define KIRSCH_CODEGEN_LOOP_LOOP_TEXT_H_

#include <cstdint>
#include <string>

#include "codegen/loop/loop_program.h"

namespace kirsch {

// For example "i1 * 16 + 3", or "0".
std::string AffineText(const Procedure& procedure, const Affine& affine);
// For example "lhs + i1 * 16 + 3", or "lhs".
std::string AddressText(const Procedure& procedure, const Address& address);

// Prints a procedure of the program, one statement a line; or the whole program. `program` names the
// procedures that are called.
std::string ProcedureText(const LoopProgram& program, const Procedure& procedure);
std::string LoopText(const LoopProgram& program);

// Names a procedure by what it does: "tiles_" and a hash of the text, which is the same on every machine and
// in every run. So equal procedures have one name in all programs.
std::string HashedName(const std::string& stem, const std::string& text);
// Returns the stem of such a name, and any other name as it is.
std::string WithoutHash(const std::string& name);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_LOOP_TEXT_H_
