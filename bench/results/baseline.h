// SPDX-License-Identifier: Apache-2.0
// An earlier report of a benchmark, which a later one is held against.
#ifndef KIRSCH_BENCH_RESULTS_BASELINE_H_
#define KIRSCH_BENCH_RESULTS_BASELINE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/results/report.h"
#include "nlohmann/json_fwd.hpp"

namespace kirsch {

// A value.
struct Baseline {
  struct Rate {
    double gflops = 0, spread = 0;  // of the median: the interquartile range
  };
  std::string file;
  std::string cpu, operands;
  int threads = 1;
  std::map<std::string, Rate> rates;  // of our kernels, by spec
};

// What `bench --json` wrote. Errors: that there is no such file; one line with the place of what is not as in
// docs/json.md.
absl::StatusOr<Baseline> ReadBaseline(const std::string& file);

// One spec of both.
struct RateChange {
  std::string spec;
  double before = 0, now = 0;  // GFLOP/s
  bool slower = false;         // by more than half of both spreads

  double ratio() const { return now / before; }
};

// InvalidArgument if a report that begins like this one, of these specs, can't be compared: it is of another
// CPU, other operands or another number of threads, or none of the specs is in the baseline.
absl::Status CheckComparable(const Baseline& baseline, const BenchReport& begun,
                             const std::vector<std::string>& specs);

// In the order of a report that is comparable. InvalidArgument: no spec of both has a right result.
absl::StatusOr<std::vector<RateChange>> ChangesSince(const Baseline& baseline, const BenchReport& report);

// A line for each spec, and one with the geometric mean.
std::string FormatChanges(const std::vector<RateChange>& changes, std::string_view file);

nlohmann::json ToJson(const std::vector<RateChange>& changes, std::string_view file);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_RESULTS_BASELINE_H_
