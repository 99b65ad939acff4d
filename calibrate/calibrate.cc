#include "calibrate/calibrate.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "bench/machine.h"
#include "bench/statistics.h"
#include "calibrate/conditions.h"
#include "calibrate/cost_key.h"
#include "calibrate/fit.h"
#include "calibrate/suite.h"
#include "calibrate/team_costs.h"
#include "calibrate/usable.h"
#include "spec/target/host.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 4, kQuickRounds = 3;
constexpr int kAttempts = 3;                          // at an experiment that was disturbed
constexpr double kPatience = 60, kQuickPatience = 8;  // seconds to wait for others, in all
constexpr double kPause = 1;                          // of one wait
constexpr double kTooNoisy = 0.5;                     // share of experiments that stayed disturbed
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

// Runs experiments one after the other, again where they were disturbed.
class Session {
 public:
  Session(const CalibrateOptions& options, int cpu, int experiments)
      : options_(options), conditions_(cpu), all_(experiments) {
    experiment_.rounds = options.quick ? kQuickRounds : kRounds;
    experiment_.stop = options.stop;
  }

  const ExperimentOptions& experiment() const { return experiment_; }

  // What observations tell of the core: whoever knows what it can do sees when it does less.
  void Note(const std::vector<Observation>& observations) {
    double disturbed = 0;
    for (const Observation& observation : observations) {
      experiment_.peak = std::max(experiment_.peak, observation.peak);
      disturbed += observation.disturbed ? 1 : 0;
    }
    if (!observations.empty()) neighbours_ = disturbed / static_cast<double>(observations.size());
  }

  // `measure` returns a status; it may be called several times, and the last time counts.
  template <typename Measure>
  absl::Status Run(std::string_view what, const Measure& measure) {
    if (options_.progress) options_.progress(done_, all_, what);
    ++done_;
    for (int attempt = 1;; ++attempt) {
      conditions_.Begin();
      if (absl::Status status = measure(); !status.ok()) return status;
      if (options_.stop && options_.stop()) return absl::CancelledError("calibration: stopped");
      Disturbance disturbance = conditions_.End();
      disturbance.neighbours = std::exchange(neighbours_, 0);
      if (!disturbance.matters()) return absl::OkStatus();
      worst_.stolen = std::max(worst_.stolen, disturbance.stolen);
      worst_.others = std::max(worst_.others, disturbance.others);
      worst_.neighbours = std::max(worst_.neighbours, disturbance.neighbours);
      if (attempt == kAttempts || waited_ >= (options_.quick ? kQuickPatience : kPatience)) {
        ++disturbed_;
        return absl::OkStatus();
      }
      usleep(static_cast<useconds_t>(kPause * 1e6));
      waited_ += kPause;
    }
  }

  absl::Status TooNoisy() const {
    if (disturbed_ <= kTooNoisy * done_) return absl::OkStatus();
    return absl::UnavailableError(Cat("calibration: this machine is too noisy now, ", disturbed_, " of ",
                                      done_, " experiments were disturbed (", worst_.Describe(), ")"));
  }

  double waited() const { return waited_; }
  std::string Interference() const {
    if (worst_.Describe().empty()) return "";
    return Cat(disturbed_, " of ", done_, " experiments stayed disturbed (at worst ", worst_.Describe(), ")");
  }

 private:
  const CalibrateOptions& options_;
  Conditions conditions_;
  ExperimentOptions experiment_;
  const int all_;
  int done_ = 0, disturbed_ = 0;
  double waited_ = 0;
  double neighbours_ = 0;  // of the experiment that runs
  Disturbance worst_;
};

absl::StatusOr<std::vector<Observation>> ObserveAll(const std::vector<Experiment>& suite,
                                                    const Target& target, Session& session) {
  std::vector<Observation> observations;
  for (const Experiment& experiment : suite) {
    std::vector<Observation> of_this;
    const absl::Status status = session.Run(experiment.problem, [&] {
      absl::StatusOr<std::vector<Observation>> observed = Observe(experiment, target, session.experiment());
      if (observed.ok()) of_this = *std::move(observed);
      session.Note(of_this);
      return observed.status();
    });
    if (!status.ok()) return status;
    std::move(of_this.begin(), of_this.end(), std::back_inserter(observations));
  }
  return observations;
}

// Over the programs that were the choice of the model they were drawn for.
double ErrorOfChoices(const Target& target, const std::vector<Observation>& observations) {
  const CostModel model(target);
  std::vector<double> errors;
  for (const Observation& observation : observations)
    if (observation.distance == 0)
      errors.push_back(std::abs(observation.predict(model) / observation.cycles - 1));
  return errors.empty() ? 0 : Median(errors);
}

class Calibrator {
 public:
  Calibrator(const Target& base, const std::string& base_name, const CalibrateOptions& options, int cpu,
             int cores)
      : base_(base),
        suite_(CalibrationSuite(base, options.quick)),
        session_(options, cpu, static_cast<int>(suite_.size() + std::size(kCaches)) + (cores > 1 ? 1 : 0)),
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
    const absl::Status status = session_.Run(Cat("filling ", Name(level)), [&] {
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
    const absl::Status status = session_.Run("a team of two threads", [&] {
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
    const absl::StatusOr<std::vector<Observation>> observations = ObserveAll(suite_, base_, session_);
    if (!observations.ok()) return observations.status();
    if (absl::Status noisy = session_.TooNoisy(); !noisy.ok()) return noisy;
    std::vector<CostKey> keys = CostKeysOf(base_);
    std::erase_if(keys, [](const CostKey& key) {
      return key.name == "fork_join_cycles" || key.name == "barrier_cycles";
    });
    Fit fit = FitKeys(result_.target, keys, *observations, {});
    for (size_t k = 0; k < keys.size(); ++k) {
      const KeyEstimate& estimate = fit.keys[k];
      Add(keys[k].name, keys[k].get(base_), estimate.value, estimate.low, estimate.high,
          estimate.fitted ? Origin::kFitted : Origin::kVendor);
    }
    result_.target = std::move(fit.target);
    result_.problems = static_cast<int>(suite_.size());
    result_.programs = static_cast<int>(observations->size());
    result_.error_before = ErrorOfChoices(base_, *observations);
    result_.error = ErrorOfChoices(result_.target, *observations);
    return absl::OkStatus();
  }

  const Target& base_;
  const std::vector<Experiment> suite_;
  Session session_;
  const int cores_;
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
  std::vector<Experiment> suite = CalibrationSuite(target, /*quick=*/true);
  for (Experiment& experiment : suite) experiment.programs = 1;
  Session session(options, *cpu, static_cast<int>(suite.size()));
  const absl::StatusOr<std::vector<Observation>> observations = ObserveAll(suite, target, session);
  if (!observations.ok()) return observations.status();
  if (absl::Status noisy = session.TooNoisy(); !noisy.ok()) return noisy;
  return ErrorOfChoices(target, *observations);
}

}  // namespace kirsch
