// SPDX-License-Identifier: Apache-2.0
// Asks LLVM's machine code analyser (the MCA library) how long a loop takes. It is a second opinion beside
// our own cost model.
#ifndef KIRSCH_CODEGEN_LLVM_ANALYSER_H_
#define KIRSCH_CODEGEN_LLVM_ANALYSER_H_

#include "absl/status/statusor.h"
#include "codegen/llvm/spills.h"
#include "spec/target.h"

namespace kirsch {

// Returns the cycles of a trip of the loop in the steady state on the target's CPU, by LLVM's model of that
// CPU. All loads are taken to hit L1. FAILED_PRECONDITION says what the analyser lacks: a model of the CPU,
// or of an instruction.
absl::StatusOr<double> AnalysedCycles(const LoopCode& loop, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_ANALYSER_H_
