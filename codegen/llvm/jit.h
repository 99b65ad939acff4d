// SPDX-License-Identifier: Apache-2.0
// Compiles a loop program to machine code in this process, to be run and measured here. For a program of
// three tensors that needs no threads:
//   const auto kernel = JitCompile(program, target);
//   (*kernel)->function()(lhs, rhs, out, scratch, 0, 1);
#ifndef KIRSCH_CODEGEN_LLVM_JIT_H_
#define KIRSCH_CODEGEN_LLVM_JIT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "codegen/kernel.h"
#include "codegen/llvm/emit.h"
#include "codegen/loop/loop_program.h"
#include "spec/target.h"

namespace kirsch {

// The entry of a compiled program of three tensors, which are the spec's operands. `scratch` is 64-byte
// aligned and this thread's own; null if the program needs none. Thread t of T calls with (t, T), a single
// thread with (0, 1). A program with program.tasks == 1 does not look at `thread`: only one thread may call
// it.
using KernelFunction = void (*)(const void* lhs, const void* rhs, void* out, void* scratch, size_t thread,
                                size_t n_threads);

// KernelFunction in the convention of Windows.
using Win64KernelFunction = void(__attribute__((ms_abi)) *)(const void* lhs, const void* rhs, void* out,
                                                            void* scratch, size_t thread, size_t n_threads);

// A kernel behind a function that takes its tensors as an array. If the kernel has a single phase, `shared`
// and `phase` are not looked at.
using GraphKernelFunction = void (*)(void* const* tensors, void* scratch, size_t thread, size_t n_threads,
                                     void* shared, size_t phase);

// Packs constants: Packing::constants, in their order, then the packed buffer.
using PackConstantsFunction = void (*)(void* const* tensors);

// Owns the machine code: functions are valid as long as the kernel lives. Calling them is thread-safe. The
// code has the order of parameters that EmitObject gives it, and is uniform (EmitOptions).
class JitKernel {
 public:
  virtual ~JitKernel() = default;
  // Returns the function of the ABI that it was compiled for. Only if the program has three tensors.
  KernelFunction function() const { return reinterpret_cast<KernelFunction>(address_); }
  Win64KernelFunction win64_function() const { return reinterpret_cast<Win64KernelFunction>(address_); }
  // Returns a function that calls the kernel with LoopProgram::tensors, in their order, whatever its ABI. If
  // the kernel takes a size, that is passed before them, in the place of a pointer. There is no detour
  // between the call and the kernel, as the call is measured.
  std::function<void(const KernelCall&)> Caller() const;
  // Returns a function that packs constants, as PackConstantsFunction; empty if the program packs nothing
  // ahead.
  std::function<void(absl::Span<void* const>)> Packer() const;

  // Returns the bytes that were linked, as EmitObject makes them.
  const std::string& object() const { return object_; }

 protected:
  // `tensors`, `constants`: how many the kernel and what packs ahead take.
  JitKernel(std::string object, uintptr_t address, uintptr_t pack_address, size_t tensors, size_t constants,
            Abi abi)
      : object_(std::move(object)),
        address_(address),
        pack_address_(pack_address),
        tensors_(tensors),
        constants_(constants),
        abi_(abi) {}

 private:
  const std::string object_;
  const uintptr_t address_, pack_address_;
  const size_t tensors_, constants_;
  const Abi abi_;
};

// Compiles for `target`. The caller has to know whether the host can run it (see host_cpu.h). An error is a
// fault of LLVM's.
absl::StatusOr<std::unique_ptr<JitKernel>> JitCompile(const LoopProgram& program, const Target& target,
                                                      Abi abi = Abi::kSystemV);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_JIT_H_
