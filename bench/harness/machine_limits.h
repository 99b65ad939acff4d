// SPDX-License-Identifier: Apache-2.0
// What the machine can do at most, measured on the threads of the run: arithmetic by each instruction, and
// reading main memory.
#ifndef KIRSCH_BENCH_HARNESS_MACHINE_LIMITS_H_
#define KIRSCH_BENCH_HARNESS_MACHINE_LIMITS_H_

#include <vector>

#include "absl/status/status.h"
#include "bench/harness/roster.h"
#include "bench/machine/machine.h"

namespace kirsch {

class Limits {
 public:
  // `options` as for the contenders. Uses the caches of `machine`.
  absl::Status Start(const Machine& machine, const WorkerOptions& options);

  // Measures them all once more. Of all times the highest counts: noise only ever lowers one.
  void Measure();

  void Describe(Machine& machine) const;

  // Operations per nanosecond of the best instruction for a product of these types; 0 if none was measured.
  double PeakGflops(const Problem& problem) const;

 private:
  int threads_ = 1;
  size_t buffer_bytes_ = 0;
  Entrant peak_, bandwidth_;
  std::vector<double> peak_rates_, bandwidth_rates_;  // calls per second, of each method
};

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_MACHINE_LIMITS_H_
