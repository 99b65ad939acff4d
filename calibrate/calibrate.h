// SPDX-License-Identifier: Apache-2.0
// Measures what things cost on this machine, in the units of the cost model, and fits a target's constants to
// it.
//
// A calibration changes costs, never code or legality. README.md describes the method.
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

// Says how to calibrate. Defaults measure everything on this machine.
struct CalibrateOptions {
  bool quick = false;                       // a quarter of the suite, fewer rounds, less patience
  Origin unknown = Origin::kVendor;         // of the base's values, where nothing tells better ones
  std::vector<Remembered> remembered = {};  // earlier programs that are fitted, too
  // The measurements of an earlier calibration. If they are given, the constants are fitted to them and
  // nothing is measured.
  std::optional<Measurements> measurements = {};
  // Called before each measurement is prepared: experiments done and expected so far, and what comes next.
  std::function<void(int done, int all, std::string_view what)> progress = {};
  std::function<bool()> stop = {};  // asked now and then; true ends with Cancelled
};

// Calibrates this machine. `base` describes its instructions and caches, and has the constants to begin with;
// `base_name` is what it is called. Takes one pinned core, and two for what threads cost.
//
// Errors, one line: FailedPrecondition if this CPU can't run code for `base`; Unavailable if the machine was
// too noisy; Cancelled.
absl::StatusOr<Calibration> Calibrate(const Target& base, const std::string& base_name,
                                      const CalibrateOptions& options);

// Tells how well `target` describes this machine: the median of |predicted / measured - 1| over the programs
// that it chooses for a quarter of the suite. Nothing is fitted. Errors are those of Calibrate.
absl::StatusOr<double> MeasureError(const Target& target, const CalibrateOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_CALIBRATE_H_
