// SPDX-License-Identifier: Apache-2.0
#include "calibrate/calibrate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/results/statistics.h"
#include "calibrate/cost_key.h"
#include "calibrate/data_source.h"
#include "calibrate/fit.h"
#include "calibrate/held_out.h"
#include "spec/target/host.h"
#include "spec/text/date.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Returns the median of |predicted / measured - 1| over the programs that a model chose, not over those drawn
// at random. Choices are what users get. 0 if there are none.
double ErrorOfChoices(const Target& target, const std::vector<Observation>& observations) {
  const CostModel model(target);
  std::vector<double> errors;
  for (const Observation& observation : observations)
    if (observation.chosen) errors.push_back(std::abs(observation.predict(model) / observation.cycles - 1));
  return errors.empty() ? 0 : Median(errors);
}

// Appends what a file of measurements keeps of `observations`. `fresh`, `held_out`: see Remembered.
void Remember(const std::vector<Observation>& observations, bool fresh, bool held_out,
              std::vector<Remembered>* remembered) {
  for (const Observation& one : observations) {
    Experiment experiment = {one.problem, 1, false, one.schedule};
    experiment.group = one.group;
    experiment.held_out = held_out;
    remembered->push_back({std::move(experiment), one.cycles, one.spread, one.chosen, one.distance, fresh});
  }
}

// Runs one calibration, in this order: patterns, suite, first fit, choices of the fit, second fit, held-out
// problems. It does not know whether its source measures or reads a file.
class Calibrator {
 public:
  Calibrator(const Target& base, const std::string& base_name, const CalibrateOptions& options,
             DataSource& source)
      : options_(options), source_(source) {
    // The fit only computes, so it may use all cores, unlike the measurements.
    fit_options_.workers = ReadHost().cores;
    result_.base = base_name;
    result_.target = base;
  }

  absl::StatusOr<Calibration> Run() {
    const Clock::time_point start = Clock::now();
    absl::Status status = TakePatterns();
    if (status.ok()) status = FitAll();
    if (!status.ok()) return status;
    result_.seconds = SecondsSince(start);
    result_.waited_seconds = source_.waited();
    result_.interference = source_.Interference();
    result_.signature = result_.measurements.signature = Signature(ReadHost());
    result_.date = Today();
    return std::move(result_);
  }

 private:
  // Measures the keys that have patterns of their own and sets them at once: the fit that follows must see
  // them.
  absl::Status TakePatterns() {
    KIRSCH_ASSIGN_OR_RETURN(std::vector<CalibratedKey> found, source_.Patterns());
    std::vector<CostKey> keys = MakePatternKeys();
    keys.push_back(SharedBytesKey());
    for (CalibratedKey& one : found) {
      const auto key = std::find_if(keys.begin(), keys.end(),
                                    [&](const CostKey& other) { return other.name == one.name; });
      // A file of measurements may have keys that this version does not know.
      if (key == keys.end()) continue;
      one.before = key->get(result_.target);
      key->set(std::clamp(one.value, key->low, key->high), result_.target);
      result_.keys.push_back(one);
    }
    result_.measurements.keys = std::move(found);
    return absl::OkStatus();
  }

  // Measures and fits twice, then decides what of the fit is kept.
  absl::Status FitAll() {
    KIRSCH_ASSIGN_OR_RETURN(std::vector<Observation> suite, source_.Suite());
    Keep(std::move(suite), /*fresh=*/false);
    const Target& base = source_.base();
    // Programs of earlier runs are priced with this model and count like those of the suite.
    std::vector<Observation> recalled = RecallAll(options_.remembered, base);
    result_.recalled = static_cast<int>(recalled.size());
    std::move(recalled.begin(), recalled.end(), std::back_inserter(observations_));
    result_.error_before = ErrorOfChoices(base, observations_);
    // First fit, to the programs that the base's model drew.
    const std::vector<CostKey> keys = MakeCostKeys(base);
    Fit fit = FitKeys(result_.target, keys, observations_, fit_options_);
    // A fitted model tends to choose what it underrates. That need not be among the programs that it was
    // fitted to, so its choices are measured, too.
    KIRSCH_ASSIGN_OR_RETURN(std::vector<Observation> choices, source_.Choices(fit.target));
    result_.error_of_new = ErrorOfChoices(fit.target, choices);
    Keep(std::move(choices), /*fresh=*/true);
    // Second fit. It sees the choices as well, and begins where the first ended.
    const Target first = fit.target;
    FitOptions second = fit_options_;
    second.begin = &first;
    fit = FitKeys(result_.target, keys, observations_, second);
    TakeAll(fit, keys);
    KIRSCH_RETURN_IF_ERROR(KeepWhatDoesNoHarm(fit.target, keys));
    Report();
    return absl::OkStatus();
  }

  // Keeps observations twice: in the form of a file, and as what the fit sees.
  void Keep(std::vector<Observation> observations, bool fresh) {
    Remember(observations, fresh, /*held_out=*/false, &result_.measurements.programs);
    std::move(observations.begin(), observations.end(), std::back_inserter(observations_));
  }

  // Reports all fitted keys. KeepWhatDoesNoHarm may later take some of them back.
  void TakeAll(const Fit& fit, const std::vector<CostKey>& keys) {
    for (size_t k = 0; k < keys.size(); ++k) {
      const KeyEstimate& estimate = fit.keys[k];
      result_.keys.push_back({keys[k].name, estimate.value, keys[k].get(source_.base()), estimate.low,
                              estimate.high, estimate.fitted ? Origin::kFitted : options_.unknown});
    }
  }

  // Keeps those of the fitted constants that choose well for problems that the fit never saw.
  absl::Status KeepWhatDoesNoHarm(const Target& fitted, std::vector<CostKey> keys) {
    for (CostKey& key : MakePatternKeys())  // but what threads cost, on which no choice here depends
      if (key.name.starts_with(kMemoryKeys)) keys.push_back(std::move(key));
    const Target& base = source_.base();
    const std::vector<Candidate> candidates = FindCandidates(base, fitted, keys);
    std::vector<Target> targets;
    for (const Candidate& candidate : candidates) targets.push_back(candidate.target);
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<Observation> programs, source_.HeldOut(targets));
    Remember(programs, /*fresh=*/true, /*held_out=*/true, &result_.measurements.programs);
    // All candidates are compared on the same programs, each choosing by its own predictions.
    std::vector<HeldOutTimes> times;
    for (const Target& target : targets) times.push_back(TimesOf(target, base, programs));
    const size_t kept = KeptCandidate(times);
    // Report the candidate that was taken, beside all fitted constants, which come first.
    result_.target = targets[kept];
    result_.held_out = {times.front(), times[kept], candidates[kept].kept};
    for (const CostKey& key : keys)
      if (Keeps(candidates[kept], key.name)) TakeBack(key.name, key.get(result_.target));
    return absl::OkStatus();
  }

  // Reports the key with the candidate's value, without an interval: the base's, or more where Ordered raised
  // it.
  void TakeBack(std::string_view name, double value) {
    for (CalibratedKey& key : result_.keys) {
      if (key.name != name) continue;
      key.value = key.low = key.high = value;
      key.origin = options_.unknown;
    }
  }

  // Fills in how well the final constants predict everything that was fitted. Held-out programs are not among
  // them.
  void Report() {
    std::set<std::string> problems;
    for (const Observation& one : observations_) problems.insert(one.problem);
    result_.problems = static_cast<int>(problems.size());
    result_.programs = static_cast<int>(observations_.size());
    result_.error = ErrorOfChoices(result_.target, observations_);
    const CostModel model(result_.target);
    for (const Observation& one : observations_)
      result_.predictions.push_back(
          {one.problem, Index(one.level), one.predict(model), one.cycles, one.chosen});
  }

  const CalibrateOptions& options_;
  DataSource& source_;
  FitOptions fit_options_;
  std::vector<Observation> observations_;
  Calibration result_;
};

}  // namespace

absl::StatusOr<Calibration> Calibrate(const Target& base, const std::string& base_name,
                                      const CalibrateOptions& options) {
  // The constants change in the fit; the code that was measured must not change with them.
  const Target fixed = WithCodeOf(base);
  KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<DataSource> source, options.measurements
                                                                  ? MakeRecordedSource(fixed, options)
                                                                  : MakeMachineSource(fixed, options));
  return Calibrator(fixed, base_name, options, *source).Run();
}

absl::StatusOr<double> MeasureError(const Target& target, const CalibrateOptions& options) {
  KIRSCH_ASSIGN_OR_RETURN(const std::vector<Observation> observations, MeasureFewChoices(target, options));
  return ErrorOfChoices(target, observations);
}

}  // namespace kirsch
