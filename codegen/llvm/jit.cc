// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/jit.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "codegen/llvm/llvm_target.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

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

// Objects for Windows can be linked and run here as well: the code calls nothing of the system's.
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

// What the C runtime of Windows has for code with floating point.
llvm::Error DefineFltused(llvm::orc::LLJIT& jit) {
  static const int fltused = 0;
  return jit.getMainJITDylib().define(
      llvm::orc::absoluteSymbols({{jit.getExecutionSession().intern("_fltused"),
                                   {llvm::orc::ExecutorAddr::fromPtr(&fltused), llvm::JITSymbolFlags()}}}));
}

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

void* PointerOf(size_t tensor);  // for its type

namespace {

// Calls a function that takes `tensors` tensors: at least one, `Most` at most. What follows those that it
// takes, it does not look at.
template <size_t Most>
std::function<void(const KernelCall&)> CallerOf(uintptr_t address, size_t tensors) {
  if constexpr (Most > 1)
    if (tensors < Most) return CallerOf<Most - 1>(address, tensors);
  return [address]<size_t... kTensor>(std::index_sequence<kTensor...>) {
    using Entry = void (*)(decltype(PointerOf(kTensor))..., void*, size_t, size_t, void*, size_t);
    return [entry = reinterpret_cast<Entry>(address)](const KernelCall& call) {
      entry(call.tensors[kTensor]..., call.scratch, call.thread, call.n_threads, call.shared, call.phase);
    };
  }(std::make_index_sequence<Most>());
}

// As Windows calls it: each argument has a place of 8 bytes, whatever it is. (GCC has no such function types
// that depend on a template's parameters.) A spec's kernel takes 6 tensors at most, scratch, a thread, their
// number.
std::function<void(const KernelCall&)> Win64CallerOf(uintptr_t address) {
  return [address](const KernelCall& call) {
    std::array<void*, 10> a = {};
    KIRSCH_CHECK(call.tensors.size() + 3 <= a.size());
    void** const rest = std::copy(call.tensors.begin(), call.tensors.end(), a.begin());
    rest[0] = call.scratch;
    rest[1] = reinterpret_cast<void*>(call.thread);
    rest[2] = reinterpret_cast<void*>(call.n_threads);
    using Entry =
        void(__attribute__((ms_abi))*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);
    reinterpret_cast<Entry>(address)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]);
  };
}

std::function<void(const KernelCall&)> CallerFor(Abi abi, uintptr_t address, size_t tensors) {
  KIRSCH_CHECK(tensors > 0 && tensors <= kMostTensors);
  return abi == Abi::kWin64 ? Win64CallerOf(address) : CallerOf<kMostTensors>(address, tensors);
}

}  // namespace

// The very bytes of EmitObject are linked, so that what is measured is what is emitted (but that it takes
// what every kernel may take).
absl::StatusOr<std::unique_ptr<JitKernel>> JitCompile(const LoopProgram& program, const Target& target,
                                                      Abi abi) {
  absl::StatusOr<std::string> object = EmitObject(program, target, {abi, true});
  if (!object.ok()) return object.status();
  auto jit = MakeJit(abi);
  if (!jit) return JitStatus(jit.takeError());
  if (llvm::Error error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(*object, program.name)))
    return JitStatus(std::move(error));
  auto address = (*jit)->lookup(program.name);
  if (!address) return JitStatus(address.takeError());
  uintptr_t pack_address = 0;
  if (program.packing) {
    auto pack = (*jit)->lookup(PackName(program));
    if (!pack) return JitStatus(pack.takeError());
    pack_address = pack->getValue();
  }
  const size_t constants = program.packing ? program.packing->constants.size() : 0;
  return std::make_unique<OrcKernel>(std::move(*jit), *std::move(object), address->getValue(), pack_address,
                                     program.tensors.size() + program.sizes.size(), constants, abi);
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
