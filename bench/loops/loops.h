// SPDX-License-Identifier: Apache-2.0
// A graph as plain C: loops over each operation, in an order that a compiler makes vectors of. Weights of
// blocks are decoded ahead: they are taken as f32.
#ifndef KIRSCH_BENCH_LOOPS_LOOPS_H_
#define KIRSCH_BENCH_LOOPS_LOOPS_H_

#include <cstddef>
#include <string>

#include "spec/graph/graph.h"

namespace kirsch {

enum class LoopsKind {
  kLoops,
  kCblas,      // products of f32 matrices, and convolutions as such, are calls of cblas_sgemm
  kReference,  // all in float64, the result too unless it is narrower than f32; rounded where the graph casts
};

struct LoopsCode {
  std::string source;
  size_t scratch_bytes = 0;
};

// What the code has, by the name of kLoopsEntry: `scratch` 64-byte aligned, `sgemm` the library's (null
// without).
using LoopsFn = void(const void* const* inputs, void* out, char* scratch, void* sgemm);
inline constexpr char kLoopsEntry[] = "kirsch_loops";

// `parallel`: the outer loops are OpenMP's.
LoopsCode PrintLoops(const Graph& graph, LoopsKind kind, bool parallel);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_LOOPS_LOOPS_H_
