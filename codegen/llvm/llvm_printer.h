// SPDX-License-Identifier: Apache-2.0
// Prints a loop program as an LLVM module: a function for each procedure. Internal to codegen/. Besides this
// header, only llvm_dispatch.h, llvm_target.h, llvm_vectors.h and disassembler.h show LLVM's types.
//
// For example, a load and a multiply-add in a loop, when Optimize (llvm_target.h) has made SSA values of the
// variables:
//   body:
//     %v = load <16 x float>, ptr %from, align 4
//     %sum = call <16 x float> @llvm.fma.v16f32(<16 x float> %a, <16 x float> %v, <16 x float> %before)
//     ...
//     br i1 %more, label %body, label %exit
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

// The names by which other files call a program's entry, and the function that packs ahead; empty: it is
// local to the module.
struct PublicNames {
  std::string entry, pack;
};

// Adds the program's functions to the module, and returns the entry. Variables are stack slots still.
llvm::Function* AddProgram(const LoopProgram& program, const Target& target, const EmitOptions& options,
                           const PublicNames& names, llvm::Module& module);

// Returns a module of one program, with no data layout or triple yet. The entry has external linkage.
std::unique_ptr<llvm::Module> PrintLlvm(const LoopProgram& program, const Target& target,
                                        const EmitOptions& options, llvm::LLVMContext& context);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_LLVM_PRINTER_H_
