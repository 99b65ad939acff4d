// Impl -> loop program.
#ifndef KIRSCH_CODEGEN_LOWER_H_
#define KIRSCH_CODEGEN_LOWER_H_

#include <string>

#include "codegen/loop_program.h"
#include "spec/impl.h"
#include "spec/target.h"

namespace kirsch {

// The program that computes `impl`, its entry called `name` (a C identifier). `impl` is complete: every leaf
// is a microkernel. If an operand is constant, the first decision is how it is packed; that is the program's
// `packing`, and the entry computes the rest. Thread-safe.
LoopProgram Lower(const Impl& impl, const Target& target, const std::string& name);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOWER_H_
