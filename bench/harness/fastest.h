// SPDX-License-Identifier: Apache-2.0
// Which of several measured programs is the fastest, as far as noise lets tell.
#ifndef KIRSCH_BENCH_HARNESS_FASTEST_H_
#define KIRSCH_BENCH_HARNESS_FASTEST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/harness/trials.h"

namespace kirsch {

struct Fastest {
  size_t program = 0;
  bool noise_decides = false;  // others have a lower median than the first, none by more than noise can do
};

// Of trials, the first being what is taken unless another is faster beyond noise: by more than half a
// percent, and by more than three standard errors of the difference of their medians. A pure function.
// Programs whose result was wrong, or of which there are no samples, don't count; if the first is one of
// those, it is still the answer.
Fastest FindFastest(const std::vector<Trial>& trials);

// Internal if a trial's result was wrong, which is a bug of ours: says so of `what`, with the schedule of the
// first such program. `schedules`: theirs, in the order of the trials.
absl::Status CheckResults(const std::string& what, const std::vector<std::string>& schedules,
                          const std::vector<Trial>& trials);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_FASTEST_H_
