// SPDX-License-Identifier: Apache-2.0
// The loops of a graph, compiled by the system's compiler and loaded.
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

// The flags that the loops are compiled with.
inline constexpr char kLoopsFlags[] = "-O3 -ffast-math -march=native";
// The same for a CPU with these features.
std::string LoopsFlags(const std::vector<std::string>& features);

class CompiledLoops {
 public:
  // Compiles. `parallel`: with OpenMP, so that only a worker may load them. NotFound without a compiler.
  static absl::StatusOr<CompiledLoops> Compile(const Graph& graph, LoopsKind kind, bool parallel,
                                               const std::string& flags = kLoopsFlags);

  // The function, for good. NotFound with the loader's words.
  absl::StatusOr<LoopsFn*> Load() const;

  size_t scratch_bytes() const { return scratch_bytes_; }
  const std::string& flags() const { return flags_; }

 private:
  std::shared_ptr<const Compilation> compilation_;  // keeps the file
  size_t scratch_bytes_ = 0;
  std::string flags_;
};

}  // namespace kirsch

#endif  // KIRSCH_BENCH_LOOPS_COMPILED_LOOPS_H_
