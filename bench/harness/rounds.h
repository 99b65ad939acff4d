// SPDX-License-Identifier: Apache-2.0
// The measurement of one spec: screening, then interleaved rounds of the finalists.
#ifndef KIRSCH_BENCH_HARNESS_ROUNDS_H_
#define KIRSCH_BENCH_HARNESS_ROUNDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/harness/expected_result.h"
#include "bench/harness/roster.h"
#include "bench/results/report.h"

namespace kirsch {

// A spec whose inputs are filled.
struct FilledSpec {
  size_t item = 0;
  std::string text;  // as the user wrote it
  const Workload& workload;
  absl::StatusOr<ExpectedResult> reference;  // without one, no result is right
};

// Adds to the report one result for each peer (and ours) that has an entrant that takes the problem, that of
// its fastest entrant and method; wrong results only where a peer has no right one. Those who die are
// reported as failed and started again for the next spec.
void MeasureSpec(const FilledSpec& spec, std::vector<Entrant>& entrants, BenchReport& report);

// The calls per second of each of the entrant's methods, 0 where the CPU lacks what it takes. For the
// machine's limits, which are no matter of a spec.
std::vector<double> MeasureRates(Entrant& entrant, int threads);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_ROUNDS_H_
