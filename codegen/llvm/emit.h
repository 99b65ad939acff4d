// SPDX-License-Identifier: Apache-2.0
// Emits a loop program as LLVM IR text, assembly, or an object file. It does so for any x86-64 target,
// whatever the host is.
#ifndef KIRSCH_CODEGEN_LLVM_EMIT_H_
#define KIRSCH_CODEGEN_LLVM_EMIT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "codegen/header/header_file.h"
#include "codegen/loop/loop_program.h"
#include "spec/target.h"

namespace kirsch {

// The calling convention and the format of objects.
enum class Abi : uint8_t {
  kSystemV,  // ELF for Linux
  kWin64,    // COFF for Windows: arguments in rcx, rdx, r8, r9 and on the stack; xmm6..15 are preserved. Like
             // all code with floating point, the object refers to _fltused, which the C runtime has.
};

// The JIT calls functions of so many tensors and sizes directly, and others through an array
// (array_caller.h).
inline constexpr size_t kMostPassed = 48;

struct EmitOptions {
  Abi abi = Abi::kSystemV;
  // True: the entry takes scratch memory, a thread and their number even if it needs none of them. So all
  // entries of a kind can be called alike, as the JIT does. Functions of more than kMostPassed tensors get
  // one beside them that takes an array.
  bool uniform = false;
};

// Return the text or the bytes of the file. The entry has the C ABI. Its parameters are those of the header's
// function, in their order (see PrintHeaderFile). Text begins with its prototype, as a comment, and with what
// else a caller has to know:
//   void NAME(const T* lhs, const T* rhs {, const A* bias}, T* out [, void* scratch_memory]
//             [, size_t thread, size_t n_threads] [, void* shared_memory, size_t phase])
// with the text's own parameters before `out`. If an operand is prepacked, there is also NAME_pack. An error
// is a fault of LLVM's, for example a CPU name that it does not know.
absl::StatusOr<std::string> EmitLlvmIr(const LoopProgram& program, const Target& target,
                                       const EmitOptions& options = {});
absl::StatusOr<std::string> EmitAssembly(const LoopProgram& program, const Target& target,
                                         const EmitOptions& options = {});
absl::StatusOr<std::string> EmitObject(const LoopProgram& program, const Target& target,
                                       const EmitOptions& options = {});

enum class CodeForm : uint8_t { kLlvmIr, kAssembly, kObject };

// The same of a header's function with a single variant. If its sizes vary, the kernels are local to the
// file. The public function chooses among them by the sizes, as in the header:
//   int NAME(size_t <size>, for each of them, as above)
absl::StatusOr<std::string> EmitFunction(const HeaderFunction& function, CodeForm form,
                                         Abi abi = Abi::kSystemV);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_EMIT_H_
