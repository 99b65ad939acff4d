// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/fastest.h"

#include <cmath>

#include "spec/text/cat.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

// A gain must be larger than this share, and than so many standard errors.
constexpr double kLeastGain = 0.005;
constexpr double kErrors = 3;

// True if the trial can be compared at all.
bool Counts(const Trial& trial) { return trial.correct && !trial.cycles.empty(); }

// Returns the standard error of the median, from the interquartile range. Of a normal distribution the range
// is 1.349 standard deviations, and a median's error is 1.253 times that of a mean.
double ErrorOfMedian(const Trial& trial) {
  const double range = trial.Spread() * trial.MedianCycles();
  return 1.253 * range / 1.349 / std::sqrt(static_cast<double>(trial.cycles.size()));
}

bool IsFaster(const Trial& trial, const Trial& first) {
  const double gain = first.MedianCycles() - trial.MedianCycles();
  return gain > kLeastGain * first.MedianCycles() &&
         gain > kErrors * std::hypot(ErrorOfMedian(trial), ErrorOfMedian(first));
}

}  // namespace

Fastest FindFastest(const std::vector<Trial>& trials) {
  Fastest fastest;
  if (trials.empty() || !Counts(trials.front())) return fastest;
  const Trial& first = trials.front();
  bool lower = false;
  for (size_t i = 1; i < trials.size(); ++i) {
    // Neither slower programs nor wrong ones can replace the first.
    if (!Counts(trials[i]) || trials[i].MedianCycles() >= first.MedianCycles()) continue;
    lower = true;
    if (IsFaster(trials[i], first) &&
        (fastest.program == 0 || trials[i].MedianCycles() < trials[fastest.program].MedianCycles()))
      fastest.program = i;
  }
  // Some had a lower median, but none by more than noise can do.
  fastest.noise_decides = lower && fastest.program == 0;
  return fastest;
}

absl::Status CheckResults(const std::string& what, const std::vector<std::string>& schedules,
                          const std::vector<Trial>& trials) {
  // From the last to the first, so that `first` ends as the first wrong one.
  size_t wrong = 0, first = trials.size();
  for (size_t i = trials.size(); i-- > 0;)
    if (!trials[i].correct) ++wrong, first = i;
  if (wrong == 0) return absl::OkStatus();
  return absl::InternalError(Cat("bug: ", wrong, " of ", trials.size(), " programs of ", Quoted(what),
                                 " compute a wrong result; nothing is kept; the schedule of the first:\n",
                                 schedules[first]));
}

}  // namespace kirsch
