// SPDX-License-Identifier: Apache-2.0
// Prints a function whose sizes vary as an LLVM module, with the same choices as in the header
// (size_dispatch.h). Without it, an object would have one function for each size, and callers a table.
// Internal to codegen/.
#ifndef KIRSCH_CODEGEN_LLVM_LLVM_DISPATCH_H_
#define KIRSCH_CODEGEN_LLVM_LLVM_DISPATCH_H_

#include <memory>

#include "codegen/header/header_file.h"
#include "codegen/llvm/emit.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace kirsch {

// Returns a module with the kernels of the function's only variant, which are local to it, and the public
// function. That chooses among the kernels by the sizes. It has the header's parameters (see
// PrintHeaderFile), and returns 1 if a kernel ran, else 0. If an operand is prepacked, there is NAME_pack,
// too. Some size must vary.
std::unique_ptr<llvm::Module> PrintLlvmDispatch(const HeaderFunction& function, Abi abi,
                                                llvm::LLVMContext& context);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_LLVM_DISPATCH_H_
