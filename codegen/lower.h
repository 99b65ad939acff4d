// SPDX-License-Identifier: Apache-2.0
// Program -> loop program.
#ifndef KIRSCH_CODEGEN_LOWER_H_
#define KIRSCH_CODEGEN_LOWER_H_

#include <string>

#include "codegen/loop/loop_program.h"
#include "spec/impl.h"
#include "spec/program/plan.h"
#include "spec/program/program.h"
#include "spec/target.h"

namespace kirsch {

// The program's code, its entry called `name` (a C identifier). It takes
// LoopProgram::tensors, parameters by their names, each with `_` behind it where the entry's own are called
// so. Thread-safe.
LoopProgram Lower(const Program& program, const Target& target, const std::string& name,
                  const EntryParameters& always = {});

// Of a contraction's tree, and of a graph's plan.
LoopProgram Lower(const Impl& impl, const Target& target, const std::string& name,
                  const EntryParameters& always = {});
LoopProgram Lower(const Plan& plan, const Target& target, const std::string& name,
                  const EntryParameters& always = {});

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOWER_H_
