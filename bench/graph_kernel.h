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

  // One call of one thread. Inputs as the graph's parameters; all memory 64-byte aligned.
  struct Call {
    const void* const* inputs;
    const void* packed;  // as Pack left it
    void* out;
    void* scratch;  // this thread's
    void* shared;   // all threads'
    size_t thread, n_threads;
    size_t phase;
  };

  virtual size_t packed_bytes() const { return 0; }  // of the constants; 0: there are none
  virtual size_t scratch_bytes() const = 0;          // of each thread
  virtual size_t shared_bytes() const { return 0; }
  virtual size_t phases() const { return 1; }
  virtual bool shares_work() const { return true; }  // false: one thread does all of it, in one phase

  // Packs the constants among the inputs.
  virtual void Pack(const void* const* /*inputs*/, void* /*packed*/) const {}

  // Called by each thread for each phase, when all threads are done with the one before.
  virtual void Run(const Call& call) const = 0;
};

// Makes the kernel of a graph for so many threads; an error says why there is none.
using GraphKernelMaker =
    std::function<absl::StatusOr<std::unique_ptr<GraphKernel>>(const Graph& graph, int threads)>;

// One kernel per item (null: none). They outlive the contender, which goes by `name`.
std::unique_ptr<GraphContender> MakeOurGraphContender(
    const std::vector<std::unique_ptr<GraphKernel>>& kernels, int threads, const char* name);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_GRAPH_KERNEL_H_
