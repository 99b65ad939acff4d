// SPDX-License-Identifier: Apache-2.0
// What a calibration found, and how it is kept: a target file with one more key, "calibration".
#ifndef KIRSCH_CALIBRATE_CALIBRATION_H_
#define KIRSCH_CALIBRATE_CALIBRATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "calibrate/held_out.h"
#include "calibrate/measurements.h"
#include "page/predictions.h"
#include "spec/target.h"

namespace kirsch {

struct Calibration {
  Target target;
  std::string base;       // the target that it began with: "znver3"
  std::string signature;  // of the machine, see spec/target/host.h
  std::string date;       // "2026-11-22"
  std::vector<CalibratedKey> keys;
  int problems = 0, programs = 0;
  int recalled = 0;  // of the programs, those that were measured at some other time
  // Median of |predicted / measured - 1| over the programs that the model chooses, before and after.
  double error_before = 0, error = 0;
  // The same over what the model chose when it had been fitted once, and had not been measured before.
  double error_of_new = 0;
  // Of the choices for problems that were held out of the fit: how those of all fitted constants did, and
  // those of the constants that were taken, and which ones are the base's.
  struct HeldOut {
    HeldOutTimes fitted, taken;
    std::vector<std::string_view> kept;
  } held_out = {};
  // What was measured, beside what the fitted model says; groups are levels.
  std::vector<PredictedProgram> predictions = {};
  Measurements measurements = {};  // all of it, to be fitted to again
  double seconds = 0, waited_seconds = 0;
  std::string interference;  // for people; empty: there was none
};

// The target file.
std::string PrintCalibration(const Calibration& calibration);

// For people: the keys that changed, with their intervals, and how good the model is now.
std::string Summarize(const Calibration& calibration);

// What was measured beside what is predicted now, as an SVG document; by the levels where operands wait.
std::string DrawCalibration(const Calibration& calibration);

// The error that a target file promises. NotFound: it is no calibration's.
absl::StatusOr<double> PromisedError(std::string_view text, std::string_view file);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_CALIBRATION_H_
