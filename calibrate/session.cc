// SPDX-License-Identifier: Apache-2.0
#include "calibrate/session.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Limits of the effort: rounds of a measurement, attempts at it, and seconds of waiting.
constexpr int kRounds = 4, kQuickRounds = 3;
constexpr int kAttempts = 3;                          // at a measurement that was disturbed
constexpr double kPatience = 60, kQuickPatience = 8;  // seconds to wait for others, in all
constexpr double kPause = 1;                          // of one wait
constexpr double kTooNoisy = 0.5;                     // share of measurements that stayed disturbed

}  // namespace

Session::Session(const CalibrateOptions& options, int cpu) : options_(options), noise_(cpu) {
  experiment_.rounds = options.quick ? kQuickRounds : kRounds;
  experiment_.stop = options.stop;
}

void Session::Announce(std::string_view what) {
  if (options_.progress) options_.progress(done_, all_, what);
}

// Measures until nothing was in the way, or attempts or patience are used up.
absl::Status Session::Run(const std::function<absl::Status()>& measure) {
  ++done_;
  for (int attempt = 1;; ++attempt) {
    noise_.Begin();
    KIRSCH_RETURN_IF_ERROR(measure());
    if (options_.stop && options_.stop()) return absl::CancelledError("calibration: stopped");
    Disturbance disturbance = noise_.End();
    // Known only if this attempt called Note. Patterns do not.
    disturbance.neighbours = std::exchange(neighbours_, 0);
    if (!disturbance.matters()) return absl::OkStatus();
    worst_.stolen = std::max(worst_.stolen, disturbance.stolen);
    worst_.others = std::max(worst_.others, disturbance.others);
    worst_.neighbours = std::max(worst_.neighbours, disturbance.neighbours);
    // The last measurement is used all the same; TooNoisy decides whether too many are disturbed.
    if (attempt == kAttempts || waited_ >= (options_.quick ? kQuickPatience : kPatience)) {
      ++disturbed_;
      return absl::OkStatus();
    }
    usleep(static_cast<useconds_t>(kPause * 1e6));
    waited_ += kPause;
  }
}

void Session::Note(const std::vector<Observation>& observations) {
  double disturbed = 0;
  for (const Observation& observation : observations) {
    experiment_.peak = std::max(experiment_.peak, observation.peak);
    disturbed += observation.disturbed ? 1 : 0;
  }
  if (!observations.empty()) neighbours_ = disturbed / static_cast<double>(observations.size());
}

absl::Status Session::TooNoisy() const {
  if (disturbed_ <= kTooNoisy * done_) return absl::OkStatus();
  return absl::UnavailableError(Cat("calibration: this machine is too noisy now, ", disturbed_, " of ", done_,
                                    " experiments were disturbed (", worst_.Describe(), ")"));
}

std::string Session::Interference() const {
  if (worst_.Describe().empty()) return "";
  return Cat(disturbed_, " of ", done_, " experiments stayed disturbed (at worst ", worst_.Describe(), ")");
}

}  // namespace kirsch
