// SPDX-License-Identifier: Apache-2.0
// Supplies a calibration with observations: from this machine, or from a file of earlier ones.
//
// With this interface the steps of a calibration are the same in both cases, so `--refit` needs no quiet
// machine.
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

// The steps of a calibration ask for observations through this interface. Call Patterns first, then Suite,
// Choices and HeldOut: what is measured later depends on what was found before. Not thread-safe. Errors are
// those of Calibrate.
class DataSource {
 public:
  virtual ~DataSource() = default;

  // The target that it was made for. After Patterns, its L3 has the bytes that were found.
  virtual const Target& base() const = 0;

  // Finds the keys that have patterns of their own.
  virtual absl::StatusOr<std::vector<CalibratedKey>> Patterns() = 0;

  // Programs of the suite, drawn with the base's model.
  virtual absl::StatusOr<std::vector<Observation>> Suite() = 0;

  // The choices of `fitted` for the suite's problems, without the programs that Suite had.
  virtual absl::StatusOr<std::vector<Observation>> Choices(const Target& fitted) = 0;

  // The choices of each of the targets for the held-out problems. All choices of one problem are timed side
  // by side.
  virtual absl::StatusOr<std::vector<Observation>> HeldOut(const std::vector<Target>& targets) = 0;

  virtual double waited() const { return 0; }  // seconds, for others to finish
  // For people; empty if nothing disturbed the measurements.
  virtual std::string Interference() const { return ""; }
};

// Measures: on one pinned core, on two what threads cost. `base` and `options` outlive it.
absl::StatusOr<std::unique_ptr<DataSource>> MakeMachineSource(const Target& base,
                                                              const CalibrateOptions& options);

// Has what is in options.measurements, which must be there and outlive it. Leaves out programs that are not
// in this target's space.
std::unique_ptr<DataSource> MakeRecordedSource(const Target& base, const CalibrateOptions& options);

// Prices programs for `base` that were timed before. Leaves out programs that are not in its space.
std::vector<Observation> RecallAll(const std::vector<Remembered>& remembered, const Target& base);

// Times only what `target` chooses for a few problems: enough to tell how well it describes this machine.
absl::StatusOr<std::vector<Observation>> MeasureFewChoices(const Target& target,
                                                           const CalibrateOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_DATA_SOURCE_H_
