// SPDX-License-Identifier: Apache-2.0
// Sets up LLVM for x86-64: its backend, its machines, and the few passes that our modules need. Internal to
// codegen/.
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

// Returns LLVM's name of the platform.
const char* TripleOf(Abi abi);

// Registers LLVM's X86 backend, once per process. Thread-safe.
void InitializeLlvm();

// Returns a machine for the target's CPU. INVALID_ARGUMENT if LLVM does not know that CPU.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Target& target, Abi abi);

// Gives the module the machine's triple and layout, brings it into SSA form and simplifies it. INTERNAL if
// the module is not valid, which is a bug in the printer.
absl::Status Optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_LLVM_TARGET_H_
