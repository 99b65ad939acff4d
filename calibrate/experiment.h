// One problem, and some of its programs measured: the experiments that a calibration is made of.
#ifndef KIRSCH_CALIBRATE_EXPERIMENT_H_
#define KIRSCH_CALIBRATE_EXPERIMENT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "calibrate/observation.h"
#include "spec/target/target.h"

namespace kirsch {

struct Experiment {
  std::string problem;        // a shorthand, or a kernel
  int programs = 4;           // of it, drawn from its space; the model's choice is always one
  bool cold = false;          // operands are in RAM at every call
  std::string schedule = {};  // of a matmul: the only program that is wanted
};

struct ExperimentOptions {
  int rounds = 4;
  double peak = 0;  // see TrialOptions
  std::function<bool()> stop = {};
};

// An observation made before: a program by its schedule, as Observe gives it. InvalidArgument if the schedule
// is not one of the problem's.
absl::StatusOr<Observation> Recall(const Experiment& experiment, std::string_view schedule, double cycles,
                                   double spread, const Target& target);

// Draws, compiles and times. InvalidArgument for a problem that isn't one; FailedPrecondition if this CPU
// can't run the target's code; otherwise the errors of RunTrials. A program whose result is wrong is an
// Internal error.
absl::StatusOr<std::vector<Observation>> Observe(const Experiment& experiment, const Target& target,
                                                 const ExperimentOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_EXPERIMENT_H_
