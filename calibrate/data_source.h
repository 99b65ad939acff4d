// SPDX-License-Identifier: Apache-2.0
// Where a calibration's observations come from: this machine, or what was measured on it before.
#ifndef KIRSCH_CALIBRATE_DATA_SOURCE_H_
#define KIRSCH_CALIBRATE_DATA_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "calibrate/calibrate.h"
#include "calibrate/measurements.h"
#include "calibrate/observation.h"
#include "spec/target.h"

namespace kirsch {

// Not thread-safe. Errors are those of Calibrate.
class DataSource {
 public:
  virtual ~DataSource() = default;

  // What it was made for, with what there is of L3, once Patterns has found that.
  virtual const Target& base() const = 0;

  // Keys that have patterns of their own.
  virtual absl::StatusOr<std::vector<CalibratedKey>> Patterns() = 0;

  // Programs of the suite.
  virtual absl::StatusOr<std::vector<Observation>> Suite() = 0;

  // What `fitted` chooses for the suite's problems, but what Suite had.
  virtual absl::StatusOr<std::vector<Observation>> Choices(const Target& fitted) = 0;

  // What each of the targets chooses for the problems that are held out, of a problem all at once.
  virtual absl::StatusOr<std::vector<Observation>> HeldOut(const std::vector<Target>& targets) = 0;

  virtual double waited() const { return 0; }  // seconds, for others
  virtual std::string Interference() const { return ""; }
};

// Measures: on one pinned core, on two what threads cost. `base` and `options` outlive it.
absl::StatusOr<std::unique_ptr<DataSource>> MakeMachineSource(const Target& base,
                                                              const CalibrateOptions& options);

// Has what is in options.measurements; what is not in this target's space any more is left out.
std::unique_ptr<DataSource> MakeRecordedSource(const Target& base, const CalibrateOptions& options);

// Programs that were timed before, priced for `base`; likewise.
std::vector<Observation> RecallAll(const std::vector<Remembered>& remembered, const Target& base);

// Only what `target` chooses for a few problems.
absl::StatusOr<std::vector<Observation>> MeasureFewChoices(const Target& target,
                                                           const CalibrateOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_DATA_SOURCE_H_
