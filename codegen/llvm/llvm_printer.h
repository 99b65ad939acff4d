// SPDX-License-Identifier: Apache-2.0
// Loop program -> LLVM module. Internal to codegen/: the only headers that show LLVM's types are this,
// llvm_dispatch.h and llvm_target.h.
#ifndef KIRSCH_CODEGEN_LLVM_LLVM_PRINTER_H_
#define KIRSCH_CODEGEN_LLVM_LLVM_PRINTER_H_

#include <memory>
#include <string>

#include "codegen/llvm/emit.h"
#include "codegen/loop/loop_program.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "spec/target.h"

namespace kirsch {

// What others call a program's entry, and the function that packs ahead; empty: local to the module.
struct PublicNames {
  std::string entry, pack;
};

// Adds the program's functions to the module, in SSA form. Returns the entry.
llvm::Function* AddProgram(const LoopProgram& program, const Target& target, const EmitOptions& options,
                           const PublicNames& names, llvm::Module& module);

// The module, with no data layout or triple yet. The entry has external linkage.
std::unique_ptr<llvm::Module> PrintLlvm(const LoopProgram& program, const Target& target,
                                        const EmitOptions& options, llvm::LLVMContext& context);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_LLVM_PRINTER_H_
