// SPDX-License-Identifier: Apache-2.0
#include "calibrate/experiment.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/harness/trials.h"
#include "bench/workload/entries.h"
#include "calibrate/one_stage.h"
#include "codegen/verify/engines.h"
#include "search/sampling/draw_programs.h"
#include "search/solver/replay.h"
#include "search/solver/search.h"
#include "spec/language/plan_schedule.h"
#include "spec/language/schedule.h"
#include "spec/program/program.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr uint64_t kDrawSeed = 1;        // of draws: every run draws the same programs of a space
constexpr char kName[] = "observed";     // of the compiled functions
constexpr int64_t kMostSpecs = 3000000;  // that a memo keeps from one problem to the next

Residency ResidencyOf(const Experiment& experiment) {
  return experiment.cold ? Residency::kCold : Residency::kWarm;
}

absl::StatusOr<BenchEntry> EntryOf(const Experiment& experiment) {
  KIRSCH_ASSIGN_OR_RETURN(std::vector<BenchEntry> entries, ReadEntries(experiment.problem, "problem"));
  if (entries.size() != 1) return absl::InvalidArgumentError("problem: expected one kernel");
  return std::move(entries.front());
}

// A program before it is compiled, and the level where its operands are at first.
struct Source {
  Level level = Level::kRam;
  Subject subject;
  std::string schedule;
  std::function<double(const CostModel&)> predict;
};

// All operands of a problem begin at the same level, but for vectors of an epilogue; rhs stands for them.
Level LevelOf(const Spec& placed) { return placed.operand[MatmulDims::kRhs].level; }

// Finds the programs that an experiment wants: of a contraction program trees, of other kernels plans.
class Sources {
 public:
  Sources(const Experiment& experiment, const CostModel& model, Memo& memo, int workers)
      : experiment_(experiment), model_(model), memo_(memo), workers_(workers) {}

  absl::StatusOr<std::vector<Source>> Of(const BenchEntry& entry) {
    return entry.matmul ? OfContraction(*entry.matmul) : OfKernel(*entry.graph);
  }

 private:
  // The programs of a contraction: the one with the schedule, or the optimum and drawn ones.
  absl::StatusOr<std::vector<Source>> OfContraction(const ParsedSpec& parsed) {
    const Spec root = PlaceOperands(parsed.spec, ResidencyOf(experiment_), model_.target());
    if (!HasRoom(root, model_.target())) return absl::InvalidArgumentError("no room for the operands");
    std::vector<Source> sources;
    const auto add = [&](const Impl& impl) {
      sources.push_back({LevelOf(root), Subject(impl, model_.target(), kName), PrintSchedule(impl),
                         PricerFor(impl, model_.target())});
    };
    // A schedule is replayed. It may lead to a program that this target lacks, which `may_lack` allows.
    if (!experiment_.schedule.empty()) {
      KIRSCH_ASSIGN_OR_RETURN(const Schedule schedule,
                              ParseSchedule(experiment_.schedule, "schedule", root.op));
      const absl::StatusOr<SearchResult> replayed =
          Replay(root, schedule, "schedule", model_, memo_, SearchOptions());
      if (!replayed.ok() && experiment_.may_lack) return sources;
      if (!replayed.ok()) return replayed.status();
      add(replayed->impl);
      return sources;
    }
    SearchOptions search;
    search.workers = workers_;
    Search(root, model_, memo_, search);  // so that the memo knows the optimum, by all workers
    for (const DrawnProgram& drawn : DrawPrograms(root, model_, memo_, experiment_.programs, kDrawSeed))
      add(drawn.impl);
    return sources;
  }

  // The programs of any other kernel, whose plan must be a single stage.
  absl::StatusOr<std::vector<Source>> OfKernel(const Graph& graph) {
    KIRSCH_ASSIGN_OR_RETURN(const OneStage chosen, OneStage::Of(graph, ResidencyOf(experiment_),
                                                                experiment_.schedule, model_, memo_));
    const std::vector<OneStage> all = experiment_.schedule.empty()
                                          ? chosen.Others(experiment_.programs, kDrawSeed, model_, memo_)
                                          : std::vector<OneStage>{chosen};
    std::vector<Source> sources;
    for (const OneStage& one : all)
      sources.push_back({one.level(), Subject(one.plan(), model_.target(), kName),
                         PrintPlanSchedule(one.plan()), one.Price(model_)});
    return sources;
  }

  const Experiment& experiment_;
  const CostModel& model_;
  Memo& memo_;
  const int workers_;
};

}  // namespace

absl::StatusOr<PreparedExperiment> Laboratory::Prepare(const Experiment& experiment,
                                                       const std::set<std::string>& known) {
  // A bound on memory: the memo would grow with every problem of the suite.
  if (memo_.counts().specs > kMostSpecs) memo_.Clear();
  KIRSCH_ASSIGN_OR_RETURN(const BenchEntry entry, EntryOf(experiment));
  KIRSCH_ASSIGN_OR_RETURN(Workload workload, MakeWorkload(entry.kernel(), 1));
  KIRSCH_ASSIGN_OR_RETURN(const std::vector<Source> sources,
                          Sources(experiment, model_, memo_, workers_).Of(entry));
  PreparedExperiment prepared;
  prepared.problem = experiment.problem;
  prepared.group = experiment.group;
  prepared.cold = experiment.cold;
  prepared.workload = std::move(workload);
  if (sources.empty()) return prepared;
  prepared.level = sources.front().level;
  // The first source is the model's choice, unless the experiment names a schedule.
  const double optimum = sources.front().predict(model_);
  for (const Source& source : sources) {
    std::string program = PrintProgram(source.subject.program);
    // This program was measured before: in an earlier step, or as another target's choice.
    if (known.contains(program)) continue;
    KIRSCH_ASSIGN_OR_RETURN(Kernel kernel, CompileForThisCpu(source.subject));
    const bool chosen = experiment.schedule.empty() && &source == &sources.front();
    prepared.programs.push_back({source.schedule, std::move(program), std::move(kernel), chosen,
                                 std::max(0.0, std::log(source.predict(model_) / optimum)), source.predict});
  }
  return prepared;
}

absl::StatusOr<Observation> Laboratory::Recall(const Experiment& experiment, double cycles, double spread) {
  KIRSCH_ASSIGN_OR_RETURN(const BenchEntry entry, EntryOf(experiment));
  KIRSCH_ASSIGN_OR_RETURN(const std::vector<Source> sources,
                          Sources(experiment, model_, memo_, workers_).Of(entry));
  if (sources.empty())
    return absl::NotFoundError(Cat("expected a target whose space has the program of ", experiment.problem));
  // There is one source, as the experiment has a schedule.
  const Source& source = sources.front();
  Observation observation;
  observation.problem = experiment.problem;
  observation.group = experiment.group;
  observation.schedule = source.schedule;
  observation.program = PrintProgram(source.subject.program);
  observation.level = source.level;
  observation.cycles = cycles;
  observation.spread = spread;
  observation.predict = source.predict;
  return observation;
}

absl::StatusOr<std::vector<Observation>> Observe(const PreparedExperiment& experiment,
                                                 const ExperimentOptions& options) {
  std::vector<Kernel> kernels;
  for (const PreparedProgram& program : experiment.programs) kernels.push_back(program.kernel);
  if (kernels.empty()) return std::vector<Observation>();
  // All programs go to one process and take turns, so that drifts of the clock hit all alike.
  TrialOptions trial_options;
  trial_options.rounds = options.rounds;
  trial_options.peak = options.peak;
  trial_options.cold = experiment.cold;
  trial_options.stop = options.stop;
  KIRSCH_ASSIGN_OR_RETURN(const Trials trials, RunTrials(experiment.workload, kernels, trial_options));
  std::vector<Observation> observations;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Trial& trial = trials.of[i];
    // The trials were stopped before this program had a sample.
    if (trial.cycles.empty() || trials.peak.empty()) continue;
    const PreparedProgram& program = experiment.programs[i];
    if (!trial.correct)
      return absl::InternalError(Cat(experiment.problem, ": wrong result of ", program.schedule));
    Observation observation;
    observation.problem = experiment.problem;
    observation.group = experiment.group;
    observation.schedule = program.schedule;
    observation.program = program.program;
    observation.level = experiment.level;
    observation.cycles = trial.QuietCycles();
    observation.spread = trial.Spread();
    observation.disturbed = trial.disturbed;
    observation.peak = trials.best_peak;
    observation.chosen = program.chosen;
    observation.distance = program.distance;
    observation.predict = program.predict;
    observations.push_back(std::move(observation));
  }
  return observations;
}

int64_t SurelyBeyond(const Target& target) {
  constexpr int64_t kNoShare = int64_t{64} << 20;
  return std::min(std::max(2 * target.at(Level::kL3).bytes, kNoShare), kMostBytes);
}

}  // namespace kirsch
