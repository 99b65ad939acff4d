// SPDX-License-Identifier: Apache-2.0
// The engines that compute a program: interpreter, JIT, compiled C header.
#ifndef KIRSCH_CODEGEN_VERIFY_ENGINES_H_
#define KIRSCH_CODEGEN_VERIFY_ENGINES_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "codegen/header/header_file.h"
#include "codegen/kernel.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/spills.h"
#include "codegen/loop/loop_program.h"
#include "spec/program/program.h"
#include "spec/program/program_tree.h"
#include "spec/target.h"

namespace kirsch {

// What is verified or measured, for a problem whose tensors are the caller's buffers of the program: of a
// graph its parameters and the result, of a spec the operands in their roles.
struct Subject {
  Subject(const ProgramTree& tree, const Target& target, const std::string& name);

  const Target& target;
  const Program program;
  const LoopProgram code;
  std::vector<size_t> packed = {};     // tensors that the code takes packed
  size_t columns = 0;                  // of code for blocks of columns, which are all there are
  const HeaderFile* header = nullptr;  // with the code's function, if that is wanted
  std::vector<int64_t> sizes = {};     // of a program that takes some: their values
};

struct EngineKernel {
  Kernel kernel;
  std::optional<HotLoops> loops = {};  // of the code, if they are asked for
};

// Whether an engine's error says what the machine lacks: a compiler, or a place for the compiler's files.
// Others say what is wrong with the subject.
inline bool IsOfTheMachine(const absl::Status& error) {
  return absl::IsNotFound(error) || absl::IsUnavailable(error);
}

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

// The code compiled for this process. It stays when `subject` goes. (Of a program that takes a number of
// rows, that comes before the tensors: CompiledEngine says it.)
absl::StatusOr<EngineKernel> MakeJitKernel(const Subject& subject, const EngineOptions& options);

// The same, to be called here and now. FailedPrecondition if this CPU lacks what the code requires.
absl::StatusOr<Kernel> CompileForThisCpu(const Subject& subject);

// The subject's header compiled by `compiler` (see FindCompiler) at -O2, likewise. FailedPrecondition also if
// that declines it, NotFound if there is none.
absl::StatusOr<Kernel> CompileHeader(const Subject& subject, const std::string& compiler);

// `subject` outlives them all.
Engine InterpreterEngine(const Subject& subject);
Engine JitEngine(const Subject& subject, const EngineOptions& options);
// What was compiled before: see MakeJitKernel.
Engine CompiledEngine(const Subject& subject, const absl::StatusOr<EngineKernel>& compiled);
// If `start`, the C compiler starts at once, and works beside the caller.
Engine HeaderEngine(const Subject& subject, const EngineOptions& options, bool start);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_ENGINES_H_
