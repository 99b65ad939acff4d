// SPDX-License-Identifier: Apache-2.0
// Turns a program into a loop program, which the printers print as LLVM IR and as C. Each distinct kernel of
// the program becomes one procedure; the nodes around the kernels become the entry's loops and calls.
//
// For example, a loop over 8 tiles of rows, 4 rows each 512 elements apart:
//   for i < 8
//     call fma_4x32_...(lhs + i * 2048, rhs, out + i * 2048, 512)
#ifndef KIRSCH_CODEGEN_LOWER_H_
#define KIRSCH_CODEGEN_LOWER_H_

#include <string>

#include "codegen/loop/loop_program.h"
#include "spec/program/program.h"
#include "spec/program/program_tree.h"
#include "spec/target.h"

namespace kirsch {

// Returns the program's code, whose entry is called `name`, a C identifier. The entry takes
// LoopProgram::tensors as parameters of the same names, but for a packed one, whose name is that of its
// operand, or `constants`. A tensor that is called like one of the entry's own parameters gets a `_` behind
// its name. `always`: parameters that the public function has in any case.
// Thread-safe.
LoopProgram Lower(const Program& program, const Target& target, const std::string& name,
                  const EntryParameters& always = {});

// The same for a program tree or a plan, whose Program is written first. `always.tensors` also names its
// operands.
LoopProgram Lower(const ProgramTree& tree, const Target& target, const std::string& name,
                  const EntryParameters& always = {});

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOWER_H_
