// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/llvm_target.h"

#include <mutex>
#include <string>

#include "codegen/llvm/host_cpu.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/MergeFunctions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"
#include "spec/text/cat.h"

namespace kirsch {

void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();  // of IntegerBroadcast
    LLVMInitializeX86Disassembler();
  });
}

const char* TripleOf(Abi abi) { return abi == Abi::kWin64 ? "x86_64-pc-windows-msvc" : kTriple; }

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Target& target, Abi abi) {
  InitializeLlvm();
  const char* const triple = TripleOf(abi);
  std::string error;
  const llvm::Target* x86 = llvm::TargetRegistry::lookupTarget(triple, error);
  if (x86 == nullptr) return absl::InternalError(Cat("LLVM has no x86 backend: ", error));
  if (!KnowsCpu(target.cpu))
    return absl::InvalidArgumentError(
        Cat("target ", target.name, ": cpu \"", target.cpu, "\" is not a CPU that LLVM knows"));
  // The machine itself is a plain x86-64. The CPU and the features that matter are attributes of each
  // function; see PrintLlvm.
  std::unique_ptr<llvm::TargetMachine> machine(
      x86->createTargetMachine(triple, "x86-64", "", llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt,
                               llvm::CodeGenOptLevel::Aggressive));
  return machine;
}

absl::Status Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  std::string fault;
  llvm::raw_string_ostream stream(fault);
  // Passes may crash on a module that is not valid, so it is verified before they run.
  if (llvm::verifyModule(module, &stream)) return absl::InternalError(Cat("LLVM: ", fault));

  // Declared in this order so that they are destroyed in the opposite one, as LLVM wants it.
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);

  // Loop programs are written as they should run, so there is no unrolling and no vectorizer. Slots become
  // SSA values; common subexpressions, such as addresses, are joined; conditions are simplified.
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::PromotePass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager manager;
  manager.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  // Kernels that one function chooses among have procedures in common, and share one that packs ahead. Equal
  // functions are merged here; those that nobody calls any more are removed.
  manager.addPass(llvm::MergeFunctionsPass());
  manager.addPass(llvm::GlobalDCEPass());
  manager.run(module, modules);
  return absl::OkStatus();
}

}  // namespace kirsch
