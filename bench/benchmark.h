// The order of events of a benchmark, whatever its contenders compute.
#ifndef KIRSCH_BENCH_BENCHMARK_H_
#define KIRSCH_BENCH_BENCHMARK_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/peers.h"
#include "bench/report.h"
#include "bench/rounds.h"
#include "bench/workload.h"

namespace kirsch {

struct BenchOptions {
  std::vector<std::string> peers;  // names as in --against
  int threads = 1;
  bool cold = false;                               // operands evicted before every call
  std::function<void(std::string_view)> progress;  // told what is being done, one line each; may be empty
};

// One spec of a benchmark. Its operands have their place already.
struct Measurement {
  std::string text;                  // as the user wrote it
  Problem types = {};                // of those of its operands is the peak that its rate is compared with
  std::function<FilledSpec()> fill;  // writes the inputs
};

struct BenchPlan {
  std::vector<Measurement> measurements;
  Worker::Factory ours;  // empty: none of ours takes part
  std::vector<Peer> peers;
};

// Measures one after the other. A peer that is missing or fails is part of the report; InvalidArgument where
// there are not so many CPUs. Forks: the caller's process must not have an OpenMP runtime loaded. Call from
// one thread at a time.
absl::StatusOr<BenchReport> RunPlan(const BenchPlan& plan, const BenchOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_BENCHMARK_H_
