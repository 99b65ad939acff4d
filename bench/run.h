// The benchmark of matmuls.
#ifndef KIRSCH_BENCH_RUN_H_
#define KIRSCH_BENCH_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/benchmark.h"
#include "bench/our_kernel.h"
#include "bench/report.h"
#include "bench/workload.h"
#include "spec/spec.h"

namespace kirsch {

struct BenchItem {
  std::string text;  // the spec as the user wrote it, for the report
  // The canonical root spec. Where the user's out was column-major its operands are swapped and transposed:
  // the same mathematics on the same memory, for everyone.
  Spec spec;
  OurKernel kernel = {};  // ours; null where it cannot run here
};

struct BenchRequest : BenchOptions {
  std::vector<BenchItem> items;
};

// Measures every item. A peer that is missing or fails is part of the report; InvalidArgument for a request
// that makes no sense, ResourceExhausted when the operands do not fit in memory. Forks: the caller's process
// must not have an OpenMP runtime loaded. Call from one thread at a time.
absl::StatusOr<BenchReport> RunBench(const BenchRequest& request);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_RUN_H_
