// SPDX-License-Identifier: Apache-2.0
// Compares a report with an earlier one of the same machine, so that a regression is noticed.
//
//   before 100 GFLOP/s, spread 0.04; now 95, spread 0.02:   95 * 1.01 = 95.95 < 100 * 0.98 = 98, so it is
//   slower
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

// The part of an earlier report that is compared. A value.
struct Baseline {
  struct Rate {
    double gflops = 0, spread = 0;  // of the median: the interquartile range
  };
  std::string file;
  std::string cpu, operands;
  int threads = 1;
  std::map<std::string, Rate> rates;  // of our kernels, by spec
};

// Reads what `bench --json` wrote. Errors: that there is no such file; or one line with the place of what is
// not as in docs/json.md.
absl::StatusOr<Baseline> ReadBaseline(const std::string& file);

// A spec that both reports have.
struct RateChange {
  std::string spec;
  double before = 0, now = 0;  // GFLOP/s
  bool slower = false;         // by more than half of both spreads

  double ratio() const { return now / before; }
};

// InvalidArgument if a report that begins like `begun`, with these specs, can't be compared: it is of another
// CPU, other operands or another number of threads, or none of the specs is in the baseline. It is asked
// before anything is measured.
absl::Status CheckComparable(const Baseline& baseline, const BenchReport& begun,
                             const std::vector<std::string>& specs);

// Returns the changes in the order of a report that is comparable. InvalidArgument if no spec of both has a
// right result.
absl::StatusOr<std::vector<RateChange>> ChangesSince(const Baseline& baseline, const BenchReport& report);

// Prints a line for each spec, and one with the geometric mean. `file` is the name of the baseline.
std::string FormatChanges(const std::vector<RateChange>& changes, std::string_view file);

nlohmann::json ToJson(const std::vector<RateChange>& changes, std::string_view file);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_RESULTS_BASELINE_H_
