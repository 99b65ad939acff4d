// SPDX-License-Identifier: Apache-2.0
// A function whose sizes vary -> LLVM module. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_LLVM_LLVM_DISPATCH_H_
#define KIRSCH_CODEGEN_LLVM_LLVM_DISPATCH_H_

#include <memory>

#include "codegen/header/header_file.h"
#include "codegen/llvm/emit.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace kirsch {

// The kernels of the function's only variant, local to the module, and the public function that chooses among
// them by the sizes, with the header's parameters (see PrintHeaderFile): 1 if a kernel ran, else 0. If an
// operand is prepacked, there is NAME_pack, too. Sizes vary.
std::unique_ptr<llvm::Module> PrintLlvmDispatch(const HeaderFunction& function, Abi abi,
                                                llvm::LLVMContext& context);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_LLVM_DISPATCH_H_
