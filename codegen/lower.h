// SPDX-License-Identifier: Apache-2.0
// Program -> loop program.
#ifndef KIRSCH_CODEGEN_LOWER_H_
#define KIRSCH_CODEGEN_LOWER_H_

#include <string>

#include "codegen/loop/loop_program.h"
#include "spec/program/program.h"
#include "spec/program/program_tree.h"
#include "spec/target.h"

namespace kirsch {

// The program's code, its entry called `name` (a C identifier). It takes
// LoopProgram::tensors, parameters by their names, each with `_` behind it where the entry's own are called
// so. Thread-safe.
LoopProgram Lower(const Program& program, const Target& target, const std::string& name,
                  const EntryParameters& always = {});

// `always.tensors` also names a contraction's operands.
LoopProgram Lower(const ProgramTree& tree, const Target& target, const std::string& name,
                  const EntryParameters& always = {});

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOWER_H_
