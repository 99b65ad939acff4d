// SPDX-License-Identifier: Apache-2.0
// Tells which of several measured programs is the fastest, as far as noise lets it be told.
#ifndef KIRSCH_BENCH_HARNESS_FASTEST_H_
#define KIRSCH_BENCH_HARNESS_FASTEST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/harness/trials.h"

namespace kirsch {

// The result. `program` is a number of the trials.
struct Fastest {
  size_t program = 0;
  bool noise_decides = false;  // others have a lower median than the first, none by more than noise can do
};

// Returns the first trial, unless another is faster beyond noise: by more than half a per cent, and by more
// than three standard errors of the difference of their medians. Programs whose result was wrong, or of which
// there are no samples, don't count; if the first is one of those, it is still the answer. A pure function.
//
//   medians 1000, 997, 960 with standard errors of 10: the answer is 0, and noise_decides. 960 is less by 40,
//   but 3 * sqrt(10^2 + 10^2) = 42
Fastest FindFastest(const std::vector<Trial>& trials);

// Returns Internal if a trial's result was wrong, which is a bug of ours. The message names `what`, and has
// the schedule of the first such program. `schedules` are in the order of the trials.
absl::Status CheckResults(const std::string& what, const std::vector<std::string>& schedules,
                          const std::vector<Trial>& trials);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_FASTEST_H_
