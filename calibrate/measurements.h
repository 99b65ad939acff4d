// SPDX-License-Identifier: Apache-2.0
// Keeps what a calibration measured as a file, so that constants can be fitted to it again without measuring,
// even by another version of the model.
//
// The file has measured cycles and the schedules they belong to, but no predictions: those are made anew when
// it is read.
#ifndef KIRSCH_CALIBRATE_MEASUREMENTS_H_
#define KIRSCH_CALIBRATE_MEASUREMENTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "calibrate/experiment.h"

namespace kirsch {

// Says where the value of a key comes from.
enum class Origin {
  kMeasured,  // by a pattern of its own
  kFitted,    // by the joint fit to whole programs
  kVendor,    // nothing told: the value of the base, or what the machine says of itself
  kDefault,   // nothing told, and the base has the default
};
std::string_view Name(Origin origin);

// A key with its value before and after, and the interval it lies in.
struct CalibratedKey {
  std::string name;  // as in cost_key.h
  double value = 0, before = 0;
  double low = 0, high = 0;  // two standard deviations to either side; both the value where nothing tells
  Origin origin = Origin::kVendor;
};

// A program that was timed before on this machine. Its experiment has a schedule.
struct Remembered {
  Experiment experiment;
  double cycles = 0, spread = 0;  // as in Observation, as are the next two
  bool chosen = false;
  double distance = 0;
  bool fresh = false;  // measured because a model that had been fitted to the others chose it
};

// All that one calibration measured. It is enough to do the same fit again.
struct Measurements {
  std::string signature;            // of the machine, see spec/target/host.h
  std::vector<CalibratedKey> keys;  // by patterns of their own
  std::vector<Remembered> programs;
};

// JSON; ParseMeasurements reads it back.
std::string PrintMeasurements(const Measurements& measurements);

// Reads a file of measurements, whose keys may have the names of earlier versions. `file` is the name for
// messages. InvalidArgument "<file>:<line>:<column>: expected <what>, got <value>".
absl::StatusOr<Measurements> ParseMeasurements(std::string_view text, std::string_view file);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_MEASUREMENTS_H_
