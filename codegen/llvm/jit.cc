// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/jit.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "codegen/llvm/array_caller.h"
#include "codegen/llvm/llvm_target.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "spec/check.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Keeps the JIT, which owns the memory of the code, as long as the kernel lives.
class OrcKernel : public JitKernel {
 public:
  OrcKernel(std::unique_ptr<llvm::orc::LLJIT> jit, std::string object, uintptr_t address,
            uintptr_t pack_address, size_t tensors, size_t constants, Abi abi)
      : JitKernel(std::move(object), address, pack_address, tensors, constants, abi), jit_(std::move(jit)) {}

 private:
  const std::unique_ptr<llvm::orc::LLJIT> jit_;
};

absl::Status JitStatus(llvm::Error error) {
  return absl::InternalError(Cat("LLVM: ", llvm::toString(std::move(error))));
}

// Sets up the linker for objects for Windows. They can be run here as well, as the code calls nothing of the
// system's.
void LinkCoff(llvm::orc::LLJITBuilder& builder) {
  builder.setPlatformSetUp(llvm::orc::setUpInactivePlatform);
  builder.setLinkProcessSymbolsByDefault(false);
  builder.setObjectLinkingLayerCreator(
      [](llvm::orc::ExecutionSession& session,
         const llvm::Triple&) -> llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>> {
        auto layer = std::make_unique<llvm::orc::RTDyldObjectLinkingLayer>(
            session, [] { return std::make_unique<llvm::SectionMemoryManager>(); });
        layer->setOverrideObjectFlagsWithResponsibilityFlags(true);
        layer->setAutoClaimResponsibilityForObjectSymbols(true);
        return layer;
      });
}

// Defines the symbol that the C runtime of Windows has for code with floating point. Nobody reads it.
llvm::Error DefineFltused(llvm::orc::LLJIT& jit) {
  static const int fltused = 0;
  return jit.getMainJITDylib().define(
      llvm::orc::absoluteSymbols({{jit.getExecutionSession().intern("_fltused"),
                                   {llvm::orc::ExecutorAddr::fromPtr(&fltused), llvm::JITSymbolFlags()}}}));
}

// A JIT for the platform of the ABI. That of the host needs nothing special.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> MakeJit(Abi abi) {
  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(llvm::Triple(TripleOf(abi))));
  if (abi == Abi::kSystemV) return builder.create();
  LinkCoff(builder);
  auto jit = builder.create();
  if (jit)
    if (llvm::Error error = DefineFltused(**jit)) return error;
  return jit;
}

}  // namespace

// A type for each tensor's number: only its type is used, by decltype.
void* PointerOf(size_t tensor);  // for its type

namespace {

// Returns a caller of a function that takes `tensors` tensors, at least one and `Most` at most. The number is
// known at run time, so types for all numbers are made, from `Most` down. Arguments that a function does not
// take come behind those that it takes, and it ignores them.
template <size_t Most>
std::function<void(const KernelCall&)> CallerOf(uintptr_t address, size_t tensors) {
  if constexpr (Most > 1)
    if (tensors < Most) return CallerOf<Most - 1>(address, tensors);
  return [address]<size_t... kTensor>(std::index_sequence<kTensor...>) {
    // kTensor is 0, 1, ..., so this has a pointer for each tensor, then the arguments that all kernels may
    // take.
    using Entry = void (*)(decltype(PointerOf(kTensor))..., void*, size_t, size_t, void*, size_t);
    return [entry = reinterpret_cast<Entry>(address)](const KernelCall& call) {
      entry(call.tensors[kTensor]..., call.scratch, call.thread, call.n_threads, call.shared, call.phase);
    };
  }(std::make_index_sequence<Most>());
}

// Returns a caller of a function as Windows calls it. Each argument has a place of 8 bytes, whatever it is,
// so all may be passed as pointers. GCC has no such function types that depend on a template's parameters, so
// there are always 10. A spec's kernel takes 6 tensors at most, scratch, a thread and their number.
std::function<void(const KernelCall&)> Win64CallerOf(uintptr_t address) {
  return [address](const KernelCall& call) {
    std::array<void*, 10> a = {};
    KIRSCH_CHECK(call.tensors.size() + 3 <= a.size());
    void** const rest = std::ranges::copy(call.tensors, a.begin()).out;
    rest[0] = call.scratch;
    rest[1] = reinterpret_cast<void*>(call.thread);
    rest[2] = reinterpret_cast<void*>(call.n_threads);
    using Entry =
        void(__attribute__((ms_abi))*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);
    reinterpret_cast<Entry>(address)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]);
  };
}

// Returns a caller of an array's function (array_caller.h), for more tensors than there are types for.
std::function<void(const KernelCall&)> ArrayCallerOf(uintptr_t address) {
  return [entry = reinterpret_cast<void (*)(void* const*)>(address)](const KernelCall& call) {
    std::vector<void*> arguments(call.tensors.begin(), call.tensors.end());
    arguments.insert(arguments.end(), {call.scratch, reinterpret_cast<void*>(call.thread),
                                       reinterpret_cast<void*>(call.n_threads), call.shared,
                                       reinterpret_cast<void*>(call.phase)});
    entry(arguments.data());
  };
}

std::function<void(const KernelCall&)> CallerFor(Abi abi, uintptr_t address, size_t tensors) {
  KIRSCH_CHECK(tensors > 0);
  if (abi == Abi::kWin64) return Win64CallerOf(address);
  return tensors > kMostPassed ? ArrayCallerOf(address) : CallerOf<kMostPassed>(address, tensors);
}

// The name of the function that CallerFor wants the address of.
std::string CallableName(const std::string& function, size_t tensors) {
  return tensors > kMostPassed ? ArrayCallerName(function) : function;
}

}  // namespace

// Links the very bytes of EmitObject, so that the code that is measured is the code that is emitted. It
// differs in one respect: it takes what every kernel may take.
absl::StatusOr<std::unique_ptr<JitKernel>> JitCompile(const LoopProgram& program, const Target& target,
                                                      Abi abi) {
  KIRSCH_ASSIGN_OR_RETURN(std::string object, EmitObject(program, target, {abi, true}));
  auto jit = MakeJit(abi);
  if (!jit) return JitStatus(jit.takeError());
  // Linking happens at the first look-up.
  if (llvm::Error error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, program.name)))
    return JitStatus(std::move(error));
  const size_t tensors = program.tensors.size() + program.sizes.size();
  // The function that packs takes the constants, then the packed memory.
  const size_t constants = program.packing ? program.packing->constants.size() : 0;
  auto address = (*jit)->lookup(CallableName(program.name, tensors));
  if (!address) return JitStatus(address.takeError());
  // 0: the program packs nothing ahead.
  uintptr_t pack_address = 0;
  if (program.packing) {
    auto pack = (*jit)->lookup(CallableName(PackName(program), constants + 1));
    if (!pack) return JitStatus(pack.takeError());
    pack_address = pack->getValue();
  }
  return std::make_unique<OrcKernel>(std::move(*jit), std::move(object), address->getValue(), pack_address,
                                     tensors, constants, abi);
}

std::function<void(const KernelCall&)> JitKernel::Caller() const {
  return CallerFor(abi_, address_, tensors_);
}

std::function<void(absl::Span<void* const>)> JitKernel::Packer() const {
  if (pack_address_ == 0) return nullptr;
  return [pack = CallerFor(abi_, pack_address_, constants_ + 1)](absl::Span<void* const> tensors) {
    pack({tensors});
  };
}

}  // namespace kirsch
