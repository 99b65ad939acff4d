// The benchmark of graphs.
#ifndef KIRSCH_BENCH_RUN_GRAPH_H_
#define KIRSCH_BENCH_RUN_GRAPH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/benchmark.h"
#include "bench/graph_kernel.h"
#include "spec/graph.h"

namespace kirsch {

struct GraphItem {
  std::string text;  // for the report: the spec as the user wrote it, or the kernel's name
  Graph graph;
};

struct GraphBenchRequest : BenchOptions {
  std::vector<GraphItem> items;
  GraphKernelMaker maker;  // of ours; empty: there are none
  GraphKernelMaker parts;  // the same for kPartsPeer, if that is among the peers
  double tolerance = 1;    // results may be so many times further off than what is usual
};

// Measures every item, as RunBench does. A graph that `maker` refuses is reported as failed.
absl::StatusOr<BenchReport> RunGraphBench(const GraphBenchRequest& request);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_RUN_GRAPH_H_
