// SPDX-License-Identifier: Apache-2.0
// LLVM's own prediction of machine code: its machine code analyser (the MCA library), beside ours.
#ifndef KIRSCH_CODEGEN_LLVM_ANALYSER_H_
#define KIRSCH_CODEGEN_LLVM_ANALYSER_H_

#include "absl/status/statusor.h"
#include "codegen/llvm/spills.h"
#include "spec/target.h"

namespace kirsch {

// Cycles of a trip of the loop in the steady state on the target's CPU, all loads from L1, by LLVM's model of
// that CPU. An error says what the analyser lacks: a model of the CPU, or of an instruction.
absl::StatusOr<double> AnalysedCycles(const LoopCode& loop, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_ANALYSER_H_
