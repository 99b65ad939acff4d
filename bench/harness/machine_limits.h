// SPDX-License-Identifier: Apache-2.0
// Measures what the machine can do at most, on the threads of the run: arithmetic by each instruction, and
// reading main memory. A result is good or bad only beside these limits.
#ifndef KIRSCH_BENCH_HARNESS_MACHINE_LIMITS_H_
#define KIRSCH_BENCH_HARNESS_MACHINE_LIMITS_H_

#include <vector>

#include "absl/status/status.h"
#include "bench/harness/roster.h"
#include "bench/machine/machine.h"

namespace kirsch {

// Owns the two entrants that measure. They are measured before each spec, so that they see the same machine.
class Limits {
 public:
  // Starts both processes. `options` are as for the contenders; the buffer follows from the caches of
  // `machine`.
  absl::Status Start(const Machine& machine, const WorkerOptions& options);

  // Measures all limits once more. Of all times the highest rate counts: noise only ever lowers one.
  void Measure();

  // Writes what was measured to the machine's card.
  void Describe(Machine& machine) const;

  // Returns the operations per nanosecond, of all threads, of the best instruction for a product of these
  // types; 0 if none was measured.
  double PeakGflops(const Problem& problem) const;

 private:
  int threads_ = 1;
  size_t buffer_bytes_ = 0;
  Entrant peak_, bandwidth_;
  std::vector<double> peak_rates_, bandwidth_rates_;  // calls per second, of each method
};

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_MACHINE_LIMITS_H_
