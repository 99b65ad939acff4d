// The parts of an emitted file that speak of its operands as the user sees them. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_SELF_TEST_H_
#define KIRSCH_CODEGEN_SELF_TEST_H_

#include <string>

#include "codegen/loop_program.h"
#include "spec/spec.h"

namespace kirsch {

// What the operands hold, one line each. `swapped`: as in HeaderOptions.
std::string OperandsText(const Spec& spec, bool swapped);

// C code: a main, under a macro, that compares the kernel with a naive loop on small integers.
std::string SelfTest(const LoopProgram& program, const Spec& spec, bool swapped);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_SELF_TEST_H_
