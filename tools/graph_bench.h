// Kernels of graphs for the benchmark.
#ifndef KIRSCH_TOOLS_GRAPH_BENCH_H_
#define KIRSCH_TOOLS_GRAPH_BENCH_H_

#include "bench/graph_kernel.h"
#include "tools/solve.h"

namespace kirsch {

// Solves each graph for the target of `arguments`, whose threads are those of the benchmark, and says what it
// found on standard error. `arguments` outlives the maker.
GraphKernelMaker GraphKernels(const SolveArguments& arguments);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_GRAPH_BENCH_H_
