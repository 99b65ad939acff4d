// SPDX-License-Identifier: Apache-2.0
// Measurements one after the other, on a machine that others may disturb.
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

// Waits for disturbances to pass, and measures again what they spoilt. Not thread-safe.
class Session {
 public:
  // `options` outlive it. Measurements are made on `cpu`.
  Session(const CalibrateOptions& options, int cpu);

  const ExperimentOptions& experiment() const { return experiment_; }

  // There will be so many measurements more, as far as is known by now.
  void Expect(size_t measurements) { all_ += static_cast<int>(measurements); }

  // Says that a measurement is being prepared.
  void Announce(std::string_view what);

  // `measure` may be called several times, and the last time counts. Its errors; Cancelled.
  absl::Status Run(const std::function<absl::Status()>& measure);

  // What observations tell of the core: whoever knows what it can do sees when it does less.
  void Note(const std::vector<Observation>& observations);

  // Unavailable if so much was disturbed that the rest is no good either.
  absl::Status TooNoisy() const;

  double waited() const { return waited_; }  // seconds
  std::string Interference() const;          // for people; empty: there was none

 private:
  const CalibrateOptions& options_;
  NoiseMonitor noise_;
  ExperimentOptions experiment_;
  int all_ = 0, done_ = 0, disturbed_ = 0;
  double waited_ = 0;
  double neighbours_ = 0;  // of the measurement that runs
  Disturbance worst_;
};

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_SESSION_H_
