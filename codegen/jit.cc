#include "codegen/jit.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/emit.h"
#include "codegen/llvm_target.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kirsch {
namespace {

class OrcKernel : public JitKernel {
 public:
  OrcKernel(std::unique_ptr<llvm::orc::LLJIT> jit, KernelFunction function)
      : jit_(std::move(jit)), function_(function) {}
  KernelFunction function() const override { return function_; }

 private:
  const std::unique_ptr<llvm::orc::LLJIT> jit_;
  const KernelFunction function_;
};

absl::Status ToStatus(llvm::Error error) {
  return absl::InternalError(absl::StrCat("LLVM: ", llvm::toString(std::move(error))));
}

}  // namespace

// The very bytes of EmitObject are linked, so that what is measured is what is emitted.
absl::StatusOr<std::unique_ptr<JitKernel>> JitCompile(const LoopProgram& program, const Target& target) {
  const absl::StatusOr<std::string> object = EmitObject(program, target);
  if (!object.ok()) return object.status();
  llvm::orc::JITTargetMachineBuilder machine{llvm::Triple(kTriple)};
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create();
  if (!jit) return ToStatus(jit.takeError());
  if (llvm::Error error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(*object, program.name)))
    return ToStatus(std::move(error));
  auto address = (*jit)->lookup(program.name);
  if (!address) return ToStatus(address.takeError());
  const KernelFunction function = address->toPtr<KernelFunction>();
  return std::make_unique<OrcKernel>(std::move(*jit), function);
}

}  // namespace kirsch
