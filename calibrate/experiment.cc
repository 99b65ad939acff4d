#include "calibrate/experiment.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "bench/entries.h"
#include "bench/trials.h"
#include "codegen/verify/engines.h"
#include "cost/row_cost.h"
#include "memo/hash_memo.h"
#include "rewrites/row_schedules.h"
#include "search/draw_programs.h"
#include "search/follow_plan.h"
#include "search/program_cost.h"
#include "search/replay.h"
#include "search/search.h"
#include "search/slice_levels.h"
#include "spec/graph/plan_schedule.h"
#include "spec/text/cat.h"
#include "spec/text/schedule.h"

namespace kirsch {
namespace {

// A program, ready to be timed and priced.
struct Candidate {
  std::string schedule;
  Kernel kernel;
  std::function<double(const CostModel&)> predict;
};

constexpr uint64_t kSeed = 1;         // of draws
constexpr char kName[] = "observed";  // of functions

// The programs of a problem.
struct Field {
  Level level = Level::kRam;
  Workload workload;
  std::vector<Candidate> candidates;
};

// Prices a contraction's program, which need not stay.
std::function<double(const CostModel&)> PriceOf(const Impl& impl, const Target& target) {
  return [cost = std::make_shared<const ProgramCost>(impl, target)](const CostModel& model) {
    return cost->Cycles(model);
  };
}

Residency ResidencyOf(const Experiment& experiment) {
  return experiment.cold ? Residency::kCold : Residency::kWarm;
}

Spec PlacedRoot(const ParsedSpec& matmul, const Experiment& experiment, const Target& target) {
  return PlaceOperands(matmul.spec, ResidencyOf(experiment), target);
}

Level LevelOf(const Spec& placed) { return placed.operand[MatmulDims::kRhs].level; }

absl::StatusOr<Impl> ProgramOf(const Spec& root, std::string_view schedule, const Target& target) {
  const absl::StatusOr<Schedule> parsed = ParseSchedule(schedule, "schedule", root.op);
  if (!parsed.ok()) return parsed.status();
  HashMemo memo;
  absl::StatusOr<SearchResult> replayed =
      Replay(root, *parsed, "schedule", CostModel(target), memo, SearchOptions());
  if (!replayed.ok()) return replayed.status();
  return std::move(replayed->impl);
}

absl::StatusOr<std::vector<Impl>> ProgramsOf(const Spec& root, const Experiment& experiment,
                                             const Target& target) {
  std::vector<Impl> programs;
  if (!experiment.schedule.empty()) {
    absl::StatusOr<Impl> program = ProgramOf(root, experiment.schedule, target);
    if (!program.ok()) return program.status();
    programs.push_back(*std::move(program));
    return programs;
  }
  const CostModel model(target);
  HashMemo memo;
  for (DrawnProgram& drawn : DrawPrograms(root, model, memo, experiment.programs, kSeed))
    programs.push_back(std::move(drawn.impl));
  return programs;
}

absl::StatusOr<Field> FieldOfMatmul(const Experiment& experiment, const ParsedSpec& matmul,
                                    const Target& target) {
  absl::StatusOr<Workload> workload = MakeWorkload(matmul.spec, 1);
  if (!workload.ok()) return workload.status();
  const Spec root = PlacedRoot(matmul, experiment, target);
  if (!HasRoom(root, target)) return absl::InvalidArgumentError("no room for the operands");
  const absl::StatusOr<std::vector<Impl>> programs = ProgramsOf(root, experiment, target);
  if (!programs.ok()) return programs.status();
  Field field = {LevelOf(root), *std::move(workload), {}};
  for (const Impl& program : *programs) {
    absl::StatusOr<Kernel> kernel = CompileForThisCpu(Subject(program, target, kName));
    if (!kernel.ok()) return kernel.status();
    field.candidates.push_back({PrintSchedule(program), *std::move(kernel), PriceOf(program, target)});
  }
  return field;
}

// The plan of a kernel that is a single stage: a row program, or a convolution.
class OneStage {
 public:
  // The cheapest, or the one with the schedule if that is not empty.
  static absl::StatusOr<OneStage> Of(const Experiment& experiment, const Graph& graph, const Target& target,
                                     std::string_view schedule) {
    const CostModel model(target);
    HashMemo memo;
    PlanOptions options;
    options.residency = ResidencyOf(experiment);
    PlanFollower follower(graph, "problem", model, memo, options);
    absl::StatusOr<Plan> plan = schedule.empty() ? follower.Best() : follower.With(schedule, "schedule");
    if (!plan.ok()) return plan.status();
    OneStage one;
    one.plan_ = *std::move(plan);
    if (one.stage() == nullptr) return absl::InvalidArgumentError("expected a kernel that is a single stage");
    one.level_ = HomeOf(one.plan_.graph, options.residency, target);
    return one;
  }

  const Plan& plan() const { return plan_; }
  Level level() const { return level_; }

  // The plans with this stage done in other ways; the first is this one.
  std::vector<OneStage> Others(int count, const Target& target) const {
    return stage()->kind == StageKind::kRows ? OtherSchedules(count, target) : OtherPrograms(count, target);
  }

  std::function<double(const CostModel&)> Price(const Target& target) const {
    const Group& group = plan_.groups[0];
    const double times = static_cast<double>(group.batch * group.trips() * stage()->repeats);
    if (stage()->kind == StageKind::kContraction) {
      return [program = PriceOf(stage()->impl, target), fetch = FetchCycles(target),
              times](const CostModel& model) { return times * (program(model) + fetch); };
    }
    const size_t inputs = stage()->program.inputs.size();
    const RowLevels levels = {std::vector<Level>(inputs, level_),
                              std::vector<Level>(stage()->operands.size() - inputs, level_)};
    return [stage = *stage(), times, levels](const CostModel& model) {
      return times *
             RowCycles(stage.program, stage.schedule, stage.rows, stage.columns, levels, model.target());
    };
  }

 private:
  const Stage* stage() const { return const_cast<OneStage*>(this)->stage(); }
  Stage* stage() {
    if (plan_.groups.size() != 1 || !plan_.groups[0].rest.empty()) return nullptr;
    const std::vector<Stage*> stages = StagesOf(plan_.groups[0]);
    const bool one = stages.size() == 1 && plan_.groups[0].stages.size() == 1;
    return one && (stages[0]->kind == StageKind::kRows || stages[0]->kind == StageKind::kContraction)
               ? stages[0]
               : nullptr;
  }

  // What fetching takes beside a contraction's program, once. It depends on the same keys, but little.
  double FetchCycles(const Target& target) const {
    return stage()->cycles / static_cast<double>(stage()->repeats) -
           PriceOf(stage()->impl, target)(CostModel(target));
  }

  // Evenly from all there are.
  std::vector<OneStage> OtherSchedules(int count, const Target& target) const {
    const std::vector<RowSchedule> schedules =
        EnumerateRowSchedules(stage()->program, stage()->columns, target);
    std::vector<OneStage> others = {*this};
    const size_t step = std::max<size_t>(1, schedules.size() / static_cast<size_t>(count));
    for (size_t i = 0; i < schedules.size(); i += step) {
      if (schedules[i] == stage()->schedule) continue;
      others.push_back(*this);
      others.back().stage()->schedule = schedules[i];
    }
    return others;
  }

  std::vector<OneStage> OtherPrograms(int count, const Target& target) const {
    const CostModel model(target);
    HashMemo memo;
    const double fetch = FetchCycles(target);
    std::vector<OneStage> others;
    for (DrawnProgram& drawn : DrawPrograms(stage()->spec, model, memo, count, kSeed)) {
      others.push_back(*this);
      Stage& other = *others.back().stage();
      other.cycles = (fetch + ToCycles(drawn.cost)) * static_cast<double>(other.repeats);
      other.impl = std::move(drawn.impl);
    }
    return others;
  }

  Plan plan_;
  Level level_ = Level::kRam;
};

absl::StatusOr<Field> FieldOfKernel(const Experiment& experiment, const Graph& graph, const Target& target) {
  const absl::StatusOr<OneStage> chosen = OneStage::Of(experiment, graph, target, "");
  if (!chosen.ok()) return chosen.status();
  Field field = {chosen->level(), MakeWorkload(graph, 1), {}};
  for (const OneStage& one : chosen->Others(experiment.programs, target)) {
    absl::StatusOr<Kernel> kernel = CompileForThisCpu(Subject(one.plan(), target, kName));
    if (!kernel.ok()) return kernel.status();
    field.candidates.push_back({PrintPlanSchedule(one.plan()), *std::move(kernel), one.Price(target)});
  }
  return field;
}

absl::StatusOr<BenchEntry> EntryOf(const Experiment& experiment) {
  absl::StatusOr<std::vector<BenchEntry>> entries = ReadEntries(experiment.problem, "problem");
  if (!entries.ok()) return entries.status();
  if (entries->size() != 1) return absl::InvalidArgumentError("problem: expected one kernel");
  return std::move(entries->front());
}

absl::StatusOr<Field> FieldOf(const Experiment& experiment, const Target& target) {
  const absl::StatusOr<BenchEntry> entry = EntryOf(experiment);
  if (!entry.ok()) return entry.status();
  return entry->matmul ? FieldOfMatmul(experiment, *entry->matmul, target)
                       : FieldOfKernel(experiment, *entry->graph, target);
}

}  // namespace

absl::StatusOr<Observation> Recall(const Experiment& experiment, std::string_view schedule, double cycles,
                                   double spread, const Target& target) {
  const absl::StatusOr<BenchEntry> entry = EntryOf(experiment);
  if (!entry.ok()) return entry.status();
  Observation observation;
  observation.problem = experiment.problem;
  observation.schedule = std::string(schedule);
  observation.cycles = cycles;
  observation.spread = spread;
  if (entry->matmul) {
    const Spec root = PlacedRoot(*entry->matmul, experiment, target);
    const absl::StatusOr<Impl> program = ProgramOf(root, schedule, target);
    if (!program.ok()) return program.status();
    observation.level = LevelOf(root);
    observation.predict = PriceOf(*program, target);
    return observation;
  }
  const absl::StatusOr<OneStage> one = OneStage::Of(experiment, *entry->graph, target, schedule);
  if (!one.ok()) return one.status();
  observation.level = one->level();
  observation.predict = one->Price(target);
  return observation;
}

absl::StatusOr<std::vector<Observation>> Observe(const Experiment& experiment, const Target& target,
                                                 const ExperimentOptions& options) {
  absl::StatusOr<Field> field = FieldOf(experiment, target);
  if (!field.ok()) return field.status();
  std::vector<Kernel> kernels;
  for (Candidate& candidate : field->candidates) kernels.push_back(std::move(candidate.kernel));
  TrialOptions trial_options;
  trial_options.rounds = options.rounds;
  trial_options.peak = options.peak;
  trial_options.cold = experiment.cold;
  trial_options.stop = options.stop;
  const absl::StatusOr<Trials> trials = RunTrials(std::move(field->workload), kernels, trial_options);
  if (!trials.ok()) return trials.status();
  const CostModel model(target);
  const double optimum = field->candidates.front().predict(model);
  std::vector<Observation> observations;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Trial& trial = trials->of[i];
    if (trial.cycles.empty() || trials->peak.empty()) continue;
    Candidate& candidate = field->candidates[i];
    if (!trial.correct)
      return absl::InternalError(Cat(experiment.problem, ": wrong result of ", candidate.schedule));
    Observation observation;
    observation.problem = experiment.problem;
    observation.schedule = std::move(candidate.schedule);
    observation.level = field->level;
    observation.cycles = trial.QuietCycles();
    observation.spread = trial.Spread();
    observation.disturbed = trial.disturbed;
    observation.peak = trials->best_peak;
    observation.distance = std::log(candidate.predict(model) / optimum);
    observation.predict = std::move(candidate.predict);
    observations.push_back(std::move(observation));
  }
  return observations;
}

}  // namespace kirsch
