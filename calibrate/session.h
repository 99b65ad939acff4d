// SPDX-License-Identifier: Apache-2.0
// Runs measurements one after the other on a machine that others may disturb.
//
// A measurement that was disturbed is made again after a pause, three times at most in all. The sum of all
// pauses is limited, so a calibration of a machine that stays busy ends with an error.
#ifndef KIRSCH_CALIBRATE_SESSION_H_
#define KIRSCH_CALIBRATE_SESSION_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "calibrate/calibrate.h"
#include "calibrate/experiment.h"
#include "calibrate/noise_monitor.h"
#include "calibrate/observation.h"

namespace kirsch {

// Waits for disturbances to pass, measures again what they spoilt, and counts what stayed disturbed. Not
// thread-safe.
class Session {
 public:
  // `options` outlive it. Measurements are made on `cpu`, which the noise monitor watches.
  Session(const CalibrateOptions& options, int cpu);

  // How programs are to be timed. Its `peak` is the most that Note has seen so far.
  const ExperimentOptions& experiment() const { return experiment_; }

  // Announces that there will be so many measurements more, for progress reports.
  void Expect(size_t measurements) { all_ += static_cast<int>(measurements); }

  // Reports what is prepared next.
  void Announce(std::string_view what);

  // Runs a measurement. `measure` may be called several times, and the last time counts. Its errors;
  // Cancelled.
  absl::Status Run(const std::function<absl::Status()>& measure);

  // Takes from observations what they tell of the core. `measure` calls this. Knowing what the core can do at
  // best, the session sees when it does less, since a neighbour shares it.
  void Note(const std::vector<Observation>& observations);

  // Unavailable if more than half of the measurements stayed disturbed: then the rest is no good either.
  absl::Status TooNoisy() const;

  double waited() const { return waited_; }  // seconds
  std::string Interference() const;          // for people; empty: there was none

 private:
  const CalibrateOptions& options_;
  NoiseMonitor noise_;
  ExperimentOptions experiment_;
  int all_ = 0, done_ = 0, disturbed_ = 0;
  double waited_ = 0;
  double neighbours_ = 0;  // of the running measurement: share of its programs that stayed disturbed
  Disturbance worst_;
};

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_SESSION_H_
