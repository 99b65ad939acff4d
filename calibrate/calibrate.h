// SPDX-License-Identifier: Apache-2.0
// Measures this machine: what things cost on it, as the cost model counts. See README.md.
#ifndef KIRSCH_CALIBRATE_CALIBRATE_H_
#define KIRSCH_CALIBRATE_CALIBRATE_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "calibrate/calibration.h"
#include "calibrate/measurements.h"
#include "spec/target.h"

namespace kirsch {

struct CalibrateOptions {
  bool quick = false;
  Origin unknown = Origin::kVendor;  // of the values that `base` has, which keys keep that nothing tells
  std::vector<Remembered> remembered = {};  // what the constants are fitted to, too
  // What a calibration measured before: constants are fitted to that, and nothing is measured.
  std::optional<Measurements> measurements = {};
  // Told now and then what is being measured: done and to do, in experiments.
  std::function<void(int done, int all, std::string_view what)> progress = {};
  std::function<bool()> stop = {};  // true: end with Cancelled
};

// `base` describes this machine's instructions and caches, and has the constants to begin with; `base_name`
// is what it is called. Takes one pinned core, two for what threads cost. Errors, one line:
// FailedPrecondition if this CPU can't run code for `base`; Unavailable if the machine was too noisy;
// Cancelled.
absl::StatusOr<Calibration> Calibrate(const Target& base, const std::string& base_name,
                                      const CalibrateOptions& options);

// How well `target` describes this machine: the median of |predicted / measured - 1| over the programs that
// it chooses. Errors as above.
absl::StatusOr<double> MeasureError(const Target& target, const CalibrateOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_CALIBRATE_H_
