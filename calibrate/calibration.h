// SPDX-License-Identifier: Apache-2.0
// Holds the result of a calibration, and writes it as a target file with one more key, "calibration".
//
// That key says when and how the constants were measured. No answer of the search depends on it.
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

// Everything that one calibration found. The program needs only `target`; the rest is a report.
struct Calibration {
  Target target;
  std::string base;                 // the target that it began with: "znver3"
  std::string signature;            // of the machine, see spec/target/host.h
  std::string date;                 // "2026-11-22"
  std::vector<CalibratedKey> keys;  // those of patterns first, then those of the fit
  int problems = 0, programs = 0;   // that the constants were fitted to
  int recalled = 0;                 // of the programs, those measured at another time
  // Median of |predicted / measured - 1| over the programs that a model chooses, with the base's and the
  // final constants.
  double error_before = 0, error = 0;
  // The same over the choices of the first fit, which that fit had not seen: the honest figure.
  double error_of_new = 0;
  // The times on the problems that were held out of the fit: with all fitted constants, and with those that
  // were taken. `kept` has the prefixes of keys whose values are the base's: "memory." for all of caches and
  // RAM.
  struct HeldOut {
    HeldOutTimes fitted, taken;
    std::vector<std::string_view> kept;
  } held_out = {};
  // The measured programs beside the predictions of the final constants. Their groups are memory levels.
  std::vector<PredictedProgram> predictions = {};
  Measurements measurements = {};          // all of it, to be fitted to again
  double seconds = 0, waited_seconds = 0;  // in all; of these, for others to finish
  std::string interference;                // for people; empty: there was none
};

// The text of the target file: all that PrintTarget writes, and the key "calibration".
std::string PrintCalibration(const Calibration& calibration);

// Describes the result for people: the keys that were measured or fitted with their intervals, and how good
// the model is.
std::string Summarize(const Calibration& calibration);

// Draws measured against predicted cycles as an SVG document, grouped by the level where operands are at
// first.
std::string DrawCalibration(const Calibration& calibration);

// Reads from a target file's text the error that its calibration reported, a share. `file` is the name for
// messages. NotFound if no calibration wrote the file; InvalidArgument if the text is not JSON, or the error
// is no share.
absl::StatusOr<double> PromisedError(std::string_view text, std::string_view file);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_CALIBRATION_H_
