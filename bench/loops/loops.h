// SPDX-License-Identifier: Apache-2.0
// Prints a graph as plain C: loops over each operation, in an order that a compiler makes vectors of.
//
// The loops are a peer (what a user gets without any library), and in float64 the reference that results of
// graphs are compared with. Weights of blocks are decoded ahead: the loops take them as f32.
//
//   matmul 64x16x32:
//     for (ptrdiff_t i0 = 0; i0 < 64; ++i0)
//     {
//       for (ptrdiff_t j = 0; j < 32; ++j) v2[(i0) * 32 + j] = 0;
//       for (ptrdiff_t k = 0; k < 16; ++k) {
//         const real a = (real)v0[(i0) * 16 + k];
//         #pragma GCC ivdep
//         for (ptrdiff_t j = 0; j < 32; ++j) v2[(i0) * 32 + j] += a * (real)v1[(k) * 32 + j];
//       }
//     }
#ifndef KIRSCH_BENCH_LOOPS_LOOPS_H_
#define KIRSCH_BENCH_LOOPS_LOOPS_H_

#include <cstddef>
#include <string>

#include "spec/graph/graph.h"

namespace kirsch {

// Says what the loops are for.
enum class LoopsKind {
  kLoops,      // a peer: loops only
  kCblas,      // products of f32 matrices, and convolutions as such, are calls of cblas_sgemm
  kReference,  // all in float64, results too unless they are narrower than f32; rounded where the graph casts
};

// A source file with one function, and the scratch memory that the function takes.
struct LoopsCode {
  std::string source;
  size_t scratch_bytes = 0;
};

// The function's type; kLoopsEntry is its name. `inputs` are the graph's parameters, `results` its
// results; `scratch` is 64-byte
// aligned; `sgemm` is the library's cblas_sgemm, null without one.
using LoopsFn = void(const void* const* inputs, void* const* results, char* scratch, void* sgemm);
inline constexpr char kLoopsEntry[] = "kirsch_loops";

// Prints the loops. With `parallel` the outer loops are OpenMP's.
LoopsCode PrintLoops(const Graph& graph, LoopsKind kind, bool parallel);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_LOOPS_LOOPS_H_
