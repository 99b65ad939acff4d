// SPDX-License-Identifier: Apache-2.0
// Makes kernels of a program by each of three engines: interpreter, JIT, compiled C header. Verification
// compares them; measurement takes the fast ones.
#ifndef KIRSCH_CODEGEN_VERIFY_ENGINES_H_
#define KIRSCH_CODEGEN_VERIFY_ENGINES_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/header/header_file.h"
#include "codegen/kernel.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/spills.h"
#include "codegen/loop/loop_program.h"
#include "spec/program/program.h"
#include "spec/program/program_tree.h"
#include "spec/target.h"

namespace kirsch {

// A program with its code, to be verified or measured. Its problem's tensors are the caller's buffers of the
// program: of a graph its parameters and the result, of a spec the operands in their roles.
struct Subject {
  Subject(const ProgramTree& tree, const Target& target, const std::string& name);

  const Target& target;
  const Program program;
  const LoopProgram code;
  std::vector<size_t> packed = {};     // tensors that the code takes packed
  size_t columns = 0;                  // of code for blocks of columns: how many there are in all
  const HeaderFile* header = nullptr;  // with the code's function, if that is wanted
  std::vector<int64_t> sizes = {};     // of a program that takes some: their values
};

// A kernel with what its machine code looks like.
struct EngineKernel {
  Kernel kernel;
  std::optional<HotLoops> loops = {};  // of the code, if they are asked for
};

// True if an engine's error says what the machine lacks: a compiler, a place for its files, or memory.
// Other errors say what is wrong with the subject.
inline bool IsOfTheMachine(const absl::Status& error) {
  return absl::IsNotFound(error) || absl::IsUnavailable(error);
}

// A row of the ladder. `make` is called when the engine's turn comes, and may take long.
struct Engine {
  std::string name;
  bool runs_code = true;  // so the machine needs the code's features
  std::function<absl::StatusOr<EngineKernel>()> make;
};

struct EngineOptions {
  bool hot_loops = false;
  Abi abi = Abi::kSystemV;
  std::string compiler;
};

// Compiles the code for this process. The kernel stays valid when `subject` goes. If the program takes sizes,
// calls of the kernel have them before the tensors; CompiledEngine puts them there.
absl::StatusOr<EngineKernel> MakeJitKernel(const Subject& subject, const EngineOptions& options);

// The same, to be called here and now. FAILED_PRECONDITION if this CPU lacks what the code requires.
absl::StatusOr<Kernel> CompileForThisCpu(const Subject& subject);

// Compiles the subject's header by `compiler` (see FindCompiler) at -O2, to be called here and now.
// FAILED_PRECONDITION if this CPU lacks what the code requires, or if the compiler declines the header.
// NOT_FOUND if there is no compiler.
absl::StatusOr<Kernel> CompileHeader(const Subject& subject, const std::string& compiler);

// The engines of the ladder. `subject` must outlive them all.
Engine InterpreterEngine(const Subject& subject);
Engine JitEngine(const Subject& subject, const EngineOptions& options);
// Takes code that was compiled before: see MakeJitKernel. `compiled` must outlive the engine.
Engine CompiledEngine(const Subject& subject, const absl::StatusOr<EngineKernel>& compiled);
// If `start`, the C compiler starts at once, and works beside the caller. Else the engine has no code.
Engine HeaderEngine(const Subject& subject, const EngineOptions& options, bool start);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_ENGINES_H_
