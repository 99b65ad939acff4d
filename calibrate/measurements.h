// SPDX-License-Identifier: Apache-2.0
// What a calibration measured, as a file: constants can be fitted to it again, by another version of the
// model too, without measuring.
#ifndef KIRSCH_CALIBRATE_MEASUREMENTS_H_
#define KIRSCH_CALIBRATE_MEASUREMENTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "calibrate/experiment.h"

namespace kirsch {

enum class Origin {
  kMeasured,  // by a pattern of its own
  kFitted,    // by the joint fit to whole programs
  kVendor,    // of the named target for this CPU, or what the machine says of itself: noise hides it
  kDefault,   // of no target: nothing knows better
};
std::string_view Name(Origin origin);

struct CalibratedKey {
  std::string name;  // as in cost_key.h
  double value = 0, before = 0;
  double low = 0, high = 0;  // two standard deviations to either side; both the value where nothing tells
  Origin origin = Origin::kVendor;
};

// A program that was timed before, on this machine; its experiment has a schedule.
struct Remembered {
  Experiment experiment;
  double cycles = 0, spread = 0;  // see Observation, and the next two
  bool chosen = false;
  double distance = 0;
  bool fresh = false;  // measured because a model that had been fitted to the others chose it
};

struct Measurements {
  std::string signature;            // of the machine, see spec/target/host.h
  std::vector<CalibratedKey> keys;  // by patterns of their own
  std::vector<Remembered> programs;
};

std::string PrintMeasurements(const Measurements& measurements);

// InvalidArgument "<file>:<line>:<column>: expected <what>, got <value>".
absl::StatusOr<Measurements> ParseMeasurements(std::string_view text, std::string_view file);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_MEASUREMENTS_H_
