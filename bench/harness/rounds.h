// SPDX-License-Identifier: Apache-2.0
// Measures one spec: a screening of all entrants, then interleaved rounds of the finalists.
//
//   screening: A1 A2 B1 B2 B3 C1   each one checked, then up to three samples
//   rounds:    A1 B1 B2 C1  A1 B1 B2 C1  ...   so that a drift of the clock hits all alike
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

// A spec whose inputs have their values.
struct FilledSpec {
  size_t item = 0;
  std::string text;  // as the user wrote it
  const Workload& workload;
  absl::StatusOr<ExpectedResult> reference;  // without one, no result is right
};

// Measures the spec, and adds a result for each peer, and for ours, that has an entrant which takes the
// problem. It is the result of the peer's fastest entrant and method; a wrong one only if the peer has no
// right one. Entrants that die are reported as failed and started again for the next spec.
void MeasureSpec(const FilledSpec& spec, std::vector<Entrant>& entrants, BenchReport& report);

// Returns the calls per second of each of the entrant's methods, 0 where the CPU lacks what it takes. It is
// for the machine's limits, which depend on no spec.
std::vector<double> MeasureRates(Entrant& entrant, int threads);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_ROUNDS_H_
