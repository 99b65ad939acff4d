// Loop program -> machine code in this process.
#ifndef KIRSCH_CODEGEN_JIT_H_
#define KIRSCH_CODEGEN_JIT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "codegen/emit.h"
#include "codegen/kernel.h"
#include "codegen/loop_program.h"
#include "spec/target.h"

namespace kirsch {

// The entry of a compiled program that takes nothing for an epilogue. Operands are the spec's; `scratch` is
// 64-byte aligned and this thread's own (null if the program needs none). Thread t of T calls with (t, T);
// one thread alone with (0, 1), which is the only way if program.tasks == 1: `thread` is not looked at then.
using KernelFunction = void (*)(const void* lhs, const void* rhs, void* out, void* scratch, size_t thread,
                                size_t n_threads);

// Any spec's kernel behind a function that takes what the epilogue may take last; one that takes less looks
// at none of the rest.
using EpilogueKernelFunction = void (*)(const void* lhs, const void* rhs, void* out, void* scratch,
                                        size_t thread, size_t n_threads, const void* arg1, const void* arg2,
                                        const void* arg3);

// The first one as Windows calls it.
using Win64KernelFunction = void(__attribute__((ms_abi)) *)(const void* lhs, const void* rhs, void* out,
                                                            void* scratch, size_t thread, size_t n_threads);

// A graph's kernel behind a function that takes its tensors as an array.
// Of one that has a single phase, `shared` and `phase` are not looked at.
using GraphKernelFunction = void (*)(void* const* tensors, void* scratch, size_t thread, size_t n_threads,
                                     void* shared, size_t phase);

inline constexpr size_t kMostTensors = 24;  // that a graph's kernel takes

// Packs an operand ahead, into a buffer as LoopProgram::packing says.
using PackFunction = void (*)(const void* operand, void* packed);
// Packs a graph's constants: Packing::constants, in their order, then the packed buffer.
using PackConstantsFunction = void (*)(void* const* tensors);
using Win64PackFunction = void(__attribute__((ms_abi)) *)(const void* operand, void* packed);

// Owns the machine code: functions are valid as long as the kernel lives. Calling them is thread-safe. The
// code has the order of parameters that EmitObject gives it, and is uniform.
class JitKernel {
 public:
  virtual ~JitKernel() = default;
  // The one of the ABI that it was compiled for; only if program.arguments == 0.
  KernelFunction function() const { return reinterpret_cast<KernelFunction>(address_); }
  Win64KernelFunction win64_function() const { return reinterpret_cast<Win64KernelFunction>(address_); }
  // Of any spec's kernel, whatever its ABI.
  std::function<std::remove_pointer_t<EpilogueKernelFunction>> epilogue_function() const;
  // Calls a kernel that takes so many tensors (a graph's are LoopProgram::tensors, in their order; of a spec
  // without an epilogue lhs, rhs, out), compiled for this system. Without a detour, as it is measured.
  std::function<void(const KernelCall&)> Caller(size_t tensors) const;
  // The same for a single call.
  void CallGraph(absl::Span<void* const> tensors, void* scratch, size_t thread, size_t n_threads,
                 void* shared = nullptr, size_t phase = 0) const;

  // As PackConstantsFunction.
  void PackConstants(absl::Span<void* const> tensors) const;

  // Null if the program packs nothing ahead.
  PackFunction pack() const { return reinterpret_cast<PackFunction>(pack_address_); }
  Win64PackFunction win64_pack() const { return reinterpret_cast<Win64PackFunction>(pack_address_); }

  // The bytes that were linked, as EmitObject makes them.
  const std::string& object() const { return object_; }

 protected:
  // `arguments`: of the epilogue.
  JitKernel(std::string object, uintptr_t address, uintptr_t pack_address, int arguments, Abi abi)
      : object_(std::move(object)),
        address_(address),
        pack_address_(pack_address),
        arguments_(arguments),
        abi_(abi) {}

 private:
  const std::string object_;
  const uintptr_t address_, pack_address_;
  const int arguments_;
  const Abi abi_;
};

// Compiles for `target`. Whether the host can run it is the caller's business (see host_cpu.h); an error is a
// fault of LLVM's.
absl::StatusOr<std::unique_ptr<JitKernel>> JitCompile(const LoopProgram& program, const Target& target,
                                                      Abi abi = Abi::kSystemV);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_JIT_H_
