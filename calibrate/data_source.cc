// SPDX-License-Identifier: Apache-2.0
#include "calibrate/data_source.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "bench/machine/machine.h"
#include "calibrate/cache_capacity.h"
#include "calibrate/cost_key.h"
#include "calibrate/session.h"
#include "calibrate/suite.h"
#include "calibrate/team_costs.h"
#include "spec/target/host.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr int kMemories = 8, kQuickMemories = 4;  // that a cache is filled from

// Returns the suite with one program a problem, which is the model's choice. Problems with a schedule leave
// no choice, so they are left out.
std::vector<Experiment> ChoicesOf(std::vector<Experiment> suite) {
  std::erase_if(suite, [](const Experiment& experiment) { return !experiment.schedule.empty(); });
  for (Experiment& experiment : suite) experiment.programs = 1;
  return suite;
}

// Returns the problems that are held out of the fit, or the others.
std::vector<Experiment> PartOf(std::vector<Experiment> suite, bool held_out) {
  std::erase_if(suite, [&](const Experiment& experiment) { return experiment.held_out != held_out; });
  return suite;
}

// Times an experiment's programs and appends them. The session may measure several times, and only the last
// counts.
absl::Status ObserveOne(const PreparedExperiment& prepared, Session& session,
                        std::vector<Observation>* observations) {
  std::vector<Observation> of_this;
  const absl::Status status = session.Run([&] {
    absl::StatusOr<std::vector<Observation>> observed = Observe(prepared, session.experiment());
    const absl::Status known = observed.status();
    if (known.ok()) of_this = *std::move(observed);
    session.Note(of_this);
    return known;
  });
  if (status.ok()) std::move(of_this.begin(), of_this.end(), std::back_inserter(*observations));
  return status;
}

// Parts a suite where another problem begins.
std::vector<std::span<const Experiment>> ByProblem(std::span<const Experiment> suite) {
  std::vector<std::span<const Experiment>> parts;
  while (!suite.empty()) {
    const auto end = std::find_if(suite.begin(), suite.end(), [&](const Experiment& experiment) {
      return experiment.problem != suite.front().problem || experiment.cold != suite.front().cold;
    });
    parts.emplace_back(suite.begin(), end);
    suite = {end, suite.end()};
  }
  return parts;
}

// Appends the programs of an experiment to those of others of the same problem.
void Add(PreparedExperiment experiment, PreparedExperiment* all) {
  if (experiment.programs.empty() && !all->programs.empty()) return;
  std::vector<PreparedProgram> programs = std::move(all->programs);
  std::move(experiment.programs.begin(), experiment.programs.end(), std::back_inserter(programs));
  *all = std::move(experiment);
  all->programs = std::move(programs);
}

// Prepares and times one problem after the other, without the programs in `known`. Programs that follow each
// other in the suite and are of one problem take turns on the same operands, which take long to make.
absl::StatusOr<std::vector<Observation>> ObserveAll(const std::vector<Experiment>& suite,
                                                    const std::set<std::string>& known,
                                                    Laboratory& laboratory, Session& session) {
  std::vector<Observation> observations;
  for (const std::span<const Experiment> problem : ByProblem(suite)) {
    session.Announce(problem.front().problem);
    PreparedExperiment all;
    for (const Experiment& experiment : problem) {
      KIRSCH_ASSIGN_OR_RETURN(PreparedExperiment prepared, laboratory.Prepare(experiment, known));
      Add(std::move(prepared), &all);
    }
    KIRSCH_RETURN_IF_ERROR(ObserveOne(all, session, &observations));
  }
  return observations;
}

// Measures everything on this machine. The members are in the order of DataSource, which callers must keep.
class MachineSource : public DataSource {
 public:
  MachineSource(const Target& base, const CalibrateOptions& options, int cpu, int cores)
      : base_(base), quick_(options.quick), session_(options, cpu), cores_(cores) {}

  const Target& base() const override { return base_; }

  absl::StatusOr<std::vector<CalibratedKey>> Patterns() override {
    std::vector<CalibratedKey> keys;
    // The suite's sizes depend on the bytes of L3, so these are measured before it is made.
    KIRSCH_RETURN_IF_ERROR(MeasureShared(&keys));
    const std::vector<Experiment> all = CalibrationSuite(base_, quick_);
    suite_ = PartOf(all, /*held_out=*/false);
    choices_ = ChoicesOf(suite_);
    held_out_ = ChoicesOf(PartOf(all, /*held_out=*/true));
    session_.Expect(std::size(kFilledCaches) + (cores_ > 1 ? 1 : 0) + ByProblem(suite_).size() +
                    ByProblem(choices_).size() + held_out_.size());
    // How much of each cache a program may fill.
    for (const FilledCache& cache : kFilledCaches) {
      const int memories = quick_ ? kQuickMemories : kMemories;
      const auto measure = [&] { return MeasureFillings(cache, base_, memories, session_.experiment()); };
      KIRSCH_ASSIGN_OR_RETURN(const std::vector<Filling> fillings,
                              Measured<std::vector<Filling>>(KeyName(cache), measure));
      const UsableCapacity usable = FindUsableCapacity(fillings, cache.beside_ram ? kHurtsBesideRam : kHurts);
      keys.push_back(
          {.name = KeyName(cache), .value = usable.share, .low = usable.share, .high = usable.next});
    }
    // Two threads are needed to tell what threads cost. The interval is the spread of the samples.
    if (cores_ > 1) {
      const auto measure = [&] { return MeasureTeamCosts(4 * session_.experiment().rounds); };
      KIRSCH_ASSIGN_OR_RETURN(const TeamCosts costs, Measured<TeamCosts>("a team of two threads", measure));
      for (const auto& [name, value] :
           {std::pair{"fork_join_cycles", costs.fork_join_cycles}, {"barrier_cycles", costs.barrier_cycles}})
        keys.push_back({.name = name,
                        .value = value,
                        .low = value * (1 - costs.spread),
                        .high = value * (1 + costs.spread)});
    }
    for (CalibratedKey& key : keys) key.origin = Origin::kMeasured;
    return keys;
  }

  absl::StatusOr<std::vector<Observation>> Suite() override {
    Laboratory laboratory(base_, cores_);
    KIRSCH_ASSIGN_OR_RETURN(std::vector<Observation> observed, ObserveAll(suite_, {}, laboratory, session_));
    // If too much of the suite was disturbed, the rest is not measured.
    KIRSCH_RETURN_IF_ERROR(session_.TooNoisy());
    for (const Observation& observation : observed) known_.insert(observation.program);
    return observed;
  }

  absl::StatusOr<std::vector<Observation>> Choices(const Target& fitted) override {
    Laboratory laboratory(fitted, cores_);
    return ObserveAll(choices_, known_, laboratory, session_);
  }

  absl::StatusOr<std::vector<Observation>> HeldOut(const std::vector<Target>& targets) override {
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<PreparedExperiment> all, PrepareHeldOut(targets));
    std::vector<Observation> observations;
    for (const PreparedExperiment& prepared : all) {
      session_.Announce(prepared.problem);
      KIRSCH_RETURN_IF_ERROR(ObserveOne(prepared, session_, &observations));
    }
    return observations;
  }

  double waited() const override { return session_.waited(); }
  std::string Interference() const override { return session_.Interference(); }

 private:
  // Finds the bytes of L3 and sets them in the base, from which everything else takes its sizes.
  absl::Status MeasureShared(std::vector<CalibratedKey>* keys) {
    session_.Expect(1);
    const std::function<absl::StatusOr<int64_t>()> measure = [&] {
      return MeasureSharedBytes(base_, session_.experiment());
    };
    KIRSCH_ASSIGN_OR_RETURN(const int64_t bytes, Measured("this machine's share of L3", measure));
    const auto value = static_cast<double>(bytes);
    const CostKey key = SharedBytesKey();
    keys->push_back({.name = key.name, .value = value, .low = value, .high = value});
    key.set(value, base_);
    return absl::OkStatus();
  }

  // Compiles each target's choice for each held-out problem, no program twice. The outer loop goes over
  // targets, so that all searches of a target share the memo of its laboratory.
  absl::StatusOr<std::vector<PreparedExperiment>> PrepareHeldOut(const std::vector<Target>& targets) {
    std::vector<PreparedExperiment> all(held_out_.size());
    std::vector<std::set<std::string>> known(held_out_.size());
    for (const Target& target : targets) {
      Laboratory laboratory(target, cores_);
      for (size_t i = 0; i < held_out_.size(); ++i) {
        session_.Announce(held_out_[i].problem);
        KIRSCH_ASSIGN_OR_RETURN(PreparedExperiment prepared, laboratory.Prepare(held_out_[i], known[i]));
        // The choices of this target are added to those of the targets before it.
        for (const PreparedProgram& program : prepared.programs) known[i].insert(program.program);
        Add(std::move(prepared), &all[i]);
      }
    }
    return all;
  }

  // Runs a pattern in the session, which waits for disturbances and repeats it.
  template <typename Result>
  absl::StatusOr<Result> Measured(std::string_view what,
                                  const std::function<absl::StatusOr<Result>()>& measure) {
    session_.Announce(what);
    absl::StatusOr<Result> result = absl::UnknownError("not measured");
    KIRSCH_RETURN_IF_ERROR(session_.Run([&] { return (result = measure()).status(); }));
    return result;
  }

  Target base_;
  const bool quick_;
  std::vector<Experiment> suite_, choices_, held_out_;
  Session session_;
  const int cores_;
  std::set<std::string> known_;  // programs that Suite had
};

// Returns what a file of measurements has. The targets that are asked for make no difference: all programs of
// the file are priced for the base.
class RecordedSource : public DataSource {
 public:
  RecordedSource(const Target& base, const Measurements& measurements)
      : base_(base), measurements_(measurements) {
    // As in MachineSource, the base takes over the bytes of L3 before anything is priced.
    const CostKey shared = SharedBytesKey();
    for (const CalibratedKey& key : measurements.keys)
      if (key.name == shared.name) shared.set(std::clamp(key.value, shared.low, shared.high), base_);
  }

  const Target& base() const override { return base_; }

  absl::StatusOr<std::vector<CalibratedKey>> Patterns() override { return measurements_.keys; }
  absl::StatusOr<std::vector<Observation>> Suite() override { return Recall(false, false); }
  absl::StatusOr<std::vector<Observation>> Choices(const Target&) override { return Recall(true, false); }
  absl::StatusOr<std::vector<Observation>> HeldOut(const std::vector<Target>&) override {
    return Recall(true, true);
  }

 private:
  // Returns the programs of one step: the suite has neither flag, choices are fresh, held-out ones are both.
  std::vector<Observation> Recall(bool fresh, bool held_out) const {
    std::vector<Remembered> programs = measurements_.programs;
    std::erase_if(programs, [&](const Remembered& one) {
      return one.fresh != fresh || one.experiment.held_out != held_out;
    });
    return RecallAll(programs, base_);
  }

  Target base_;
  const Measurements& measurements_;
};

// The CPU that measurements of one thread run on, and that the noise monitor watches.
absl::StatusOr<int> PinnedCpu() {
  KIRSCH_ASSIGN_OR_RETURN(const std::vector<int> cpus, ChooseCpus(1));
  return cpus.front();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DataSource>> MakeMachineSource(const Target& base,
                                                              const CalibrateOptions& options) {
  KIRSCH_ASSIGN_OR_RETURN(const int cpu, PinnedCpu());
  return std::make_unique<MachineSource>(base, options, cpu, ReadHost().cores);
}

std::unique_ptr<DataSource> MakeRecordedSource(const Target& base, const CalibrateOptions& options) {
  return std::make_unique<RecordedSource>(base, *options.measurements);
}

// A program may have been chosen when more of a cache was thought to be usable. So all caches may be filled
// here, or such a program would be refused for lack of room.
std::vector<Observation> RecallAll(const std::vector<Remembered>& remembered, const Target& base) {
  Laboratory laboratory(WithAllUsable(base), 1);
  std::vector<Observation> observations;
  for (const Remembered& one : remembered) {
    absl::StatusOr<Observation> observation = laboratory.Recall(one.experiment, one.cycles, one.spread);
    // The space changes from version to version; a program that is gone is no error.
    if (!observation.ok()) continue;
    observation->chosen = one.chosen;
    observation->distance = one.distance;
    observations.push_back(*std::move(observation));
  }
  return observations;
}

absl::StatusOr<std::vector<Observation>> MeasureFewChoices(const Target& target,
                                                           const CalibrateOptions& options) {
  KIRSCH_ASSIGN_OR_RETURN(const int cpu, PinnedCpu());
  const std::vector<Experiment> suite = ChoicesOf(CalibrationSuite(target, /*quick=*/true));
  Session session(options, cpu);
  session.Expect(ByProblem(suite).size());
  Laboratory laboratory(target, ReadHost().cores);
  KIRSCH_ASSIGN_OR_RETURN(std::vector<Observation> observations, ObserveAll(suite, {}, laboratory, session));
  KIRSCH_RETURN_IF_ERROR(session.TooNoisy());
  return observations;
}

}  // namespace kirsch
