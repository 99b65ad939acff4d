#include "calibrate/calibrate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "bench/machine.h"
#include "bench/statistics.h"
#include "calibrate/cost_key.h"
#include "calibrate/fit.h"
#include "calibrate/session.h"
#include "calibrate/suite.h"
#include "calibrate/team_costs.h"
#include "calibrate/usable.h"
#include "spec/target/host.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRefinements = 1;
constexpr Level kCaches[] = {Level::kL1, Level::kL2, Level::kL3};

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm day;
  gmtime_r(&now, &day);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &day);
  return text;
}

// The programs of experiments but those in `known`.
absl::StatusOr<std::vector<Observation>> ObserveAll(const std::vector<Experiment>& suite,
                                                    const std::set<std::string>& known,
                                                    Laboratory& laboratory, Session& session) {
  std::vector<Observation> observations;
  for (const Experiment& experiment : suite) {
    session.Announce(experiment.problem);
    const absl::StatusOr<PreparedExperiment> prepared = laboratory.Prepare(experiment, known);
    if (!prepared.ok()) return prepared.status();
    std::vector<Observation> of_this;
    const absl::Status status = session.Run([&] {
      absl::StatusOr<std::vector<Observation>> observed = Observe(*prepared, session.experiment());
      if (observed.ok()) of_this = *std::move(observed);
      session.Note(of_this);
      return observed.status();
    });
    if (!status.ok()) return status;
    std::move(of_this.begin(), of_this.end(), std::back_inserter(observations));
  }
  return observations;
}

// The suite with nothing but what the model chooses.
std::vector<Experiment> ChoicesOf(std::vector<Experiment> suite) {
  std::erase_if(suite, [](const Experiment& experiment) { return !experiment.schedule.empty(); });
  for (Experiment& experiment : suite) experiment.programs = 1;
  return suite;
}

// Over the programs that were the choice of the model they were drawn for.
double ErrorOfChoices(const Target& target, const std::vector<Observation>& observations) {
  const CostModel model(target);
  std::vector<double> errors;
  for (const Observation& observation : observations)
    if (observation.chosen) errors.push_back(std::abs(observation.predict(model) / observation.cycles - 1));
  return errors.empty() ? 0 : Median(errors);
}

class Calibrator {
 public:
  Calibrator(const Target& base, const std::string& base_name, const CalibrateOptions& options, int cpu,
             int cores)
      : base_(base),
        suite_(CalibrationSuite(base, options.quick)),
        options_(options),
        session_(
            options, cpu,
            static_cast<int>((1 + kRefinements) * suite_.size() + std::size(kCaches)) + (cores > 1 ? 1 : 0)),
        cores_(cores) {
    result_.base = base_name;
    result_.target = base;
  }

  absl::StatusOr<Calibration> Run() {
    const Clock::time_point start = Clock::now();
    for (Level level : kCaches)
      if (absl::Status status = FindUsable(level); !status.ok()) return status;
    if (cores_ > 1)
      if (absl::Status status = FindTeamCosts(); !status.ok()) return status;
    if (absl::Status status = FitAll(); !status.ok()) return status;
    result_.seconds = SecondsSince(start);
    result_.waited_seconds = session_.waited();
    result_.interference = session_.Interference();
    result_.signature = Signature(ReadHost());
    result_.date = Today();
    return std::move(result_);
  }

 private:
  void Add(std::string name, double before, double value, double low, double high, Origin origin) {
    result_.keys.push_back({std::move(name), value, before, low, high, origin});
  }

  absl::Status FindUsable(Level level) {
    std::vector<Filling> fillings;
    session_.Announce(Cat("filling ", Name(level)));
    const absl::Status status = session_.Run([&] {
      absl::StatusOr<std::vector<Filling>> measured = MeasureFillings(level, base_, session_.experiment());
      if (measured.ok()) fillings = *std::move(measured);
      return measured.status();
    });
    if (!status.ok()) return status;
    const Usable usable = UsableOf(fillings);
    double& value = result_.target.memory[static_cast<size_t>(level)].usable;
    Add(Cat("memory.", Name(level), ".usable"), value, usable.share, usable.share, usable.next,
        Origin::kMeasured);
    value = usable.share;
    return absl::OkStatus();
  }

  absl::Status FindTeamCosts() {
    TeamCosts costs;
    session_.Announce("a team of two threads");
    const absl::Status status = session_.Run([&] {
      absl::StatusOr<TeamCosts> measured = MeasureTeamCosts(4 * session_.experiment().rounds);
      if (measured.ok()) costs = *std::move(measured);
      return measured.status();
    });
    if (!status.ok()) return status;
    const auto take = [&](const char* name, double measured, double& key) {
      Add(name, key, measured, measured * (1 - costs.spread), measured * (1 + costs.spread),
          Origin::kMeasured);
      key = measured;
    };
    take("fork_join_cycles", costs.fork_join_cycles, result_.target.fork_join_cycles);
    take("barrier_cycles", costs.barrier_cycles, result_.target.barrier_cycles);
    return absl::OkStatus();
  }

  absl::Status FitAll() {
    Laboratory laboratory(base_, cores_);
    absl::StatusOr<std::vector<Observation>> observed = ObserveAll(suite_, {}, laboratory, session_);
    if (!observed.ok()) return observed.status();
    if (absl::Status noisy = session_.TooNoisy(); !noisy.ok()) return noisy;
    observations_ = *std::move(observed);
    RecallAll(laboratory);
    result_.error_before = ErrorOfChoices(base_, observations_);
    std::vector<CostKey> keys = CostKeysOf(base_);
    std::erase_if(keys, [](const CostKey& key) {
      return key.name == "fork_join_cycles" || key.name == "barrier_cycles";
    });
    Fit fit = FitKeys(result_.target, keys, observations_, {});
    for (int i = 0; i < kRefinements; ++i) {
      if (absl::Status status = ObserveChoices(fit.target); !status.ok()) return status;
      fit = FitKeys(result_.target, keys, observations_, {});
    }
    for (size_t k = 0; k < keys.size(); ++k) {
      const KeyEstimate& estimate = fit.keys[k];
      Add(keys[k].name, keys[k].get(base_), estimate.value, estimate.low, estimate.high,
          estimate.fitted ? Origin::kFitted : Origin::kVendor);
    }
    result_.target = std::move(fit.target);
    result_.problems = static_cast<int>(suite_.size());
    result_.programs = static_cast<int>(observations_.size());
    result_.error = ErrorOfChoices(result_.target, observations_);
    const CostModel model(result_.target);
    for (const Observation& one : observations_)
      result_.predictions.push_back(
          {one.problem, Index(one.level), one.predict(model), one.cycles, one.chosen});
    return absl::OkStatus();
  }

  // What a fitted model chooses is what it holds to be cheaper than it is, sooner than what it holds to be
  // dearer, and need not be among the programs that it was fitted to; so that is measured, too.
  absl::Status ObserveChoices(const Target& fitted) {
    std::set<std::string> known;
    for (const Observation& observation : observations_) known.insert(observation.program);
    Laboratory laboratory(fitted, cores_);
    absl::StatusOr<std::vector<Observation>> observed =
        ObserveAll(ChoicesOf(suite_), known, laboratory, session_);
    if (!observed.ok()) return observed.status();
    result_.error_of_new = ErrorOfChoices(fitted, *observed);
    std::move(observed->begin(), observed->end(), std::back_inserter(observations_));
    return absl::OkStatus();
  }

  // What is not in this target's space any more is left out.
  void RecallAll(Laboratory& laboratory) {
    for (const Remembered& remembered : options_.remembered) {
      absl::StatusOr<Observation> observation =
          laboratory.Recall(remembered.experiment, remembered.cycles, remembered.spread);
      if (!observation.ok()) continue;
      observations_.push_back(*std::move(observation));
      ++result_.recalled;
    }
  }

  const Target& base_;
  const std::vector<Experiment> suite_;
  const CalibrateOptions& options_;
  Session session_;
  const int cores_;
  std::vector<Observation> observations_;
  Calibration result_;
};

absl::StatusOr<int> PinnedCpu() {
  const absl::StatusOr<std::vector<int>> cpus = ChooseCpus(1);
  if (!cpus.ok()) return cpus.status();
  return cpus->front();
}

}  // namespace

absl::StatusOr<Calibration> Calibrate(const Target& base, const std::string& base_name,
                                      const CalibrateOptions& options) {
  const absl::StatusOr<int> cpu = PinnedCpu();
  if (!cpu.ok()) return cpu.status();
  return Calibrator(base, base_name, options, *cpu, ReadHost().cores).Run();
}

absl::StatusOr<double> MeasureError(const Target& target, const CalibrateOptions& options) {
  const absl::StatusOr<int> cpu = PinnedCpu();
  if (!cpu.ok()) return cpu.status();
  const std::vector<Experiment> suite = ChoicesOf(CalibrationSuite(target, /*quick=*/true));
  Session session(options, *cpu, static_cast<int>(suite.size()));
  Laboratory laboratory(target, ReadHost().cores);
  const absl::StatusOr<std::vector<Observation>> observations = ObserveAll(suite, {}, laboratory, session);
  if (!observations.ok()) return observations.status();
  if (absl::Status noisy = session.TooNoisy(); !noisy.ok()) return noisy;
  return ErrorOfChoices(target, *observations);
}

}  // namespace kirsch
