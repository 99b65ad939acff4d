// Our kernels of graphs, as the benchmark sees them.
#ifndef KIRSCH_BENCH_GRAPH_KERNEL_H_
#define KIRSCH_BENCH_GRAPH_KERNEL_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/graph_workload.h"
#include "spec/graph.h"

namespace kirsch {

class GraphKernel {
 public:
  virtual ~GraphKernel() = default;

  // Bytes, and whether each thread has that much to itself or all share it.
  virtual size_t scratch_bytes() const = 0;
  virtual bool scratch_is_shared() const = 0;

  // Called by each of `n_threads` threads with its own number. Inputs as the graph's parameters, `scratch`
  // 64-byte aligned.
  virtual void Run(const void* const* inputs, void* out, void* scratch, size_t thread,
                   size_t n_threads) const = 0;
};

// Makes the kernel of a graph for so many threads; an error says why there is none.
using GraphKernelMaker =
    std::function<absl::StatusOr<std::unique_ptr<GraphKernel>>(const Graph& graph, int threads)>;

// One kernel per item (null: none). They outlive the contender.
std::unique_ptr<GraphContender> MakeOurGraphContender(
    const std::vector<std::unique_ptr<GraphKernel>>& kernels, int threads);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_GRAPH_KERNEL_H_
