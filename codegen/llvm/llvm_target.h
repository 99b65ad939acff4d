// SPDX-License-Identifier: Apache-2.0
// LLVM set up for x86-64. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_LLVM_LLVM_TARGET_H_
#define KIRSCH_CODEGEN_LLVM_LLVM_TARGET_H_

#include <memory>

#include "absl/status/statusor.h"
#include "codegen/llvm/emit.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "spec/target.h"

namespace kirsch {

inline constexpr char kTriple[] = "x86_64-unknown-linux-gnu";  // Abi::kSystemV

const char* TripleOf(Abi abi);

// Registers LLVM's X86 backend, once per process. Thread-safe.
void InitializeLlvm();

// A machine for the target's CPU; an error if LLVM does not know it.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Target& target, Abi abi);

// Gives the module the machine's triple and layout, brings it into SSA form and simplifies it. An error is a
// fault in the module, that is, a bug in the printer.
absl::Status Optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_LLVM_TARGET_H_
