// SPDX-License-Identifier: Apache-2.0
#include "bench/loops/compiled_loops.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"
#include "bench/machine/shared_library.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Names of the files in the directory of the compilation.
constexpr char kSource[] = "loops.c", kLibrary[] = "loops.so";

}  // namespace

std::string LoopsFlags(const std::vector<std::string>& features) {
  // -march=native takes all that this machine has, so a CPU with less has to be asked for.
  const bool avx512 = std::find(features.begin(), features.end(), "avx512bw") != features.end();
  return Cat(kLoopsFlags, avx512 ? "" : " -mno-avx512f");
}

absl::StatusOr<CompiledLoops> CompiledLoops::Compile(const Graph& graph, LoopsKind kind, bool parallel,
                                                     const std::string& flags) {
  KIRSCH_ASSIGN_OR_RETURN(const std::string compiler, FindCompiler(""));
  LoopsCode code = PrintLoops(graph, kind, parallel);
  // The command: compiler, flags, and what makes a shared library.
  std::vector<std::string> command = {compiler};
  for (absl::string_view flag : absl::StrSplit(flags, ' ')) command.emplace_back(flag);
  // The function calls nothing but the math library and, if parallel, OpenMP. An sgemm comes as an argument.
  if (parallel) command.emplace_back("-fopenmp");
  for (const char* argument : {"-fPIC", "-shared", kSource, "-o", kLibrary, "-lm"})
    command.emplace_back(argument);
  KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<Compilation> compilation,
                          Compilation::Start({{kSource, std::move(code.source)}}, command));
  KIRSCH_RETURN_IF_ERROR(compilation->Wait());
  CompiledLoops loops;
  loops.compilation_ = std::move(compilation);
  loops.scratch_bytes_ = code.scratch_bytes;
  loops.flags_ = flags;
  return loops;
}

absl::StatusOr<LoopsFn*> CompiledLoops::Load() const {
  // The library stays loaded even if the file is deleted.
  KIRSCH_ASSIGN_OR_RETURN(void* const library, OpenLibrary({compilation_->Path(kLibrary)}));
  return Symbol<LoopsFn>(library, kLoopsEntry);
}

}  // namespace kirsch
