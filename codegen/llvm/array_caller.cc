// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/array_caller.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace kirsch {

void AddArrayCaller(llvm::Function* function) {
  llvm::LLVMContext& context = function->getContext();
  auto* const caller = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::get(context, 0)}, false),
      llvm::Function::ExternalLinkage, ArrayCallerName(function->getName().str()), function->getParent());
  caller->setAttributes(llvm::AttributeList().addFnAttributes(
      context, llvm::AttrBuilder(context, function->getAttributes().getFnAttrs())));
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(context, "entry", caller));
  std::vector<llvm::Value*> arguments;
  for (const llvm::Argument& argument : function->args()) {
    llvm::Value* const place = ir.CreateConstGEP1_64(ir.getInt64Ty(), caller->getArg(0), arguments.size());
    arguments.push_back(ir.CreateLoad(argument.getType(), place));
  }
  ir.CreateCall(function, arguments);
  ir.CreateRetVoid();
}

}  // namespace kirsch
