// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of a graph with the system's compiler, and loads them.
//
// The compiled file lives as long as some copy of the CompiledLoops does.
#ifndef KIRSCH_BENCH_LOOPS_COMPILED_LOOPS_H_
#define KIRSCH_BENCH_LOOPS_COMPILED_LOOPS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/loops/loops.h"
#include "codegen/c/compilation.h"

namespace kirsch {

// The flags that loops are compiled with, if no others are given.
inline constexpr char kLoopsFlags[] = "-O3 -ffast-math -march=native";
// Returns the flags for a CPU with these features. Without AVX-512 among them the compiler must not use it,
// either.
std::string LoopsFlags(const std::vector<std::string>& features);

// The loops of one graph, of one kind. Copies share the file.
class CompiledLoops {
 public:
  // Prints and compiles the loops. With `parallel` they use OpenMP, so that only a worker may load them.
  // NotFound without a compiler.
  static absl::StatusOr<CompiledLoops> Compile(const Graph& graph, LoopsKind kind, bool parallel,
                                               const std::string& flags = kLoopsFlags);

  // Loads the function, which is never unloaded. NotFound with the loader's words.
  absl::StatusOr<LoopsFn*> Load() const;

  // Bytes of the scratch memory that each call takes.
  size_t scratch_bytes() const { return scratch_bytes_; }
  const std::string& flags() const { return flags_; }

 private:
  std::shared_ptr<const Compilation> compilation_;  // keeps the file
  size_t scratch_bytes_ = 0;
  std::string flags_;
};

}  // namespace kirsch

#endif  // KIRSCH_BENCH_LOOPS_COMPILED_LOOPS_H_
