// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "search/graph/follow_plan.h"
#include "search/solver/replay.h"
#include "search/table/plan_recall.h"
#include "spec/language/schedule.h"
#include "spec/target/host.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"
#include "synthesis/cold_operands.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/progress_line.h"
#include "tools/tuning_candidates.h"
#include "tools/tuning_trials.h"

namespace kirsch {
namespace {

constexpr double kMostSeconds = 3600;  // of --tune

// The seconds of --tune; 0: it was given no number, or one out of range.
double SecondsOf(const SolveArguments& arguments) {
  double seconds = 0;
  return absl::SimpleAtod(arguments.tune, &seconds) && seconds >= 1 && seconds <= kMostSeconds ? seconds : 0;
}

// What is tuned: a spec or a graph, in one form.
struct Tuning {
  std::string name;      // one line
  std::string question;  // the kernel's part of the question to the table
  std::string cold;      // the operands that are in RAM
  const Target& target;
  std::function<absl::StatusOr<std::vector<TuningCandidate>>(const SearchOptions&)> candidates;
  std::function<absl::StatusOr<TuningProblem>()> problem;
  std::function<absl::Status(const std::string& schedule)> follow;  // sets the program and its cycles
};

// The question to the table. Measurements hold for one machine, number of threads, place of operands, and
// kernel, a line each:
//   AuthenticAMD-25-1-1-L1-32K-L2-512K-L3-32768K-vm
//   threads 1
//   warm
//   matmul f32 64x64x64
std::string QuestionOf(const SolveArguments& arguments, const Tuning& tuning) {
  return Cat(Signature(ReadHost()), "\nthreads ", arguments.threads, "\n", tuning.cold, "\n",
             tuning.question);
}

// What kernels before this one have measured is in the table already.
absl::Status Interrupted() {
  return absl::CancelledError("--tune: interrupted; what was measured before is kept");
}

// Finds candidates, and times them. Ctrl-C ends it without a result.
absl::StatusOr<TuningReport> Measure(const SolveArguments& arguments, const Tuning& tuning) {
  const InterruptGuard guard;
  ProgressLine line;
  line.Show(Cat(arguments.progress, "tuning ", tuning.name));
  SearchOptions search;
  search.cancel = &guard.interrupted();
  // Finding candidates is a search of its own, which Ctrl-C stops as well.
  const absl::StatusOr<std::vector<TuningCandidate>> candidates = tuning.candidates(search);
  if (guard.interrupted()) return Interrupted();
  if (!candidates.ok()) return candidates.status();
  KIRSCH_ASSIGN_OR_RETURN(const TuningProblem problem, tuning.problem());
  line.Show(Cat(arguments.progress, "timing ", candidates->size(), " programs of ", tuning.name));
  absl::StatusOr<TuningReport> report =
      TimeCandidates(arguments, SecondsOf(arguments), tuning.name, tuning.target, *candidates, problem,
                     [&guard] { return guard.interrupted().load(); });
  if (guard.interrupted()) return Interrupted();
  return report;
}

// What the table knows; else, with --tune, what is measured and then kept there. Nothing: the table knows
// nothing, and nothing was to be measured.
absl::StatusOr<std::optional<TuningReport>> ReportFor(const SolveArguments& arguments, const Tuning& tuning) {
  std::optional<TuningReport> report;
  KIRSCH_ASSIGN_OR_RETURN(std::shared_ptr<Table> table, OpenTable(*arguments.db, tuning.target));
  const std::string question = QuestionOf(arguments, tuning);
  if (table != nullptr) {
    KIRSCH_ASSIGN_OR_RETURN(const std::optional<std::string> known,
                            table->FindText(TextKind::kTuned, question));
    if (known) report = TuningReport::Parse(*known);
  }
  // What is known is not measured again, even with --tune.
  if (report || arguments.tune.empty()) return report;
  KIRSCH_ASSIGN_OR_RETURN(report, Measure(arguments, tuning));
  if (table == nullptr) return report;
  // A table that can't be written costs only that nothing is kept (CommitTable).
  absl::Status kept = table->AddText(TextKind::kTuned, question, report->ToJson().dump());
  if (kept.ok()) kept = CommitTable(*arguments.db, *table);
  if (!kept.ok()) return kept;
  return report;
}

// True if there is anything to do. If the search was interrupted, --tune ends the command, so later kernels
// are not tuned either. Of a program that is not proven best nothing is tuned.
absl::StatusOr<bool> Applies(const SolveArguments& arguments, bool optimal, bool cancelled) {
  if (arguments.tune.empty() && !arguments.tuned) return false;
  if (cancelled && !arguments.tune.empty()) return Interrupted();
  return optimal;
}

// Puts the program of a schedule in the place of the predicted best, with the cost that the model gives it.
absl::Status Follow(const std::string& schedule, Synthesis* synthesis) {
  // The schedule is for the place of operands that the predicted best has.
  const Spec placed = std::get<Impl>(synthesis->program).spec;
  KIRSCH_ASSIGN_OR_RETURN(const Schedule parsed, ParseSchedule(schedule, "tuned", placed.op));
  KIRSCH_ASSIGN_OR_RETURN(SearchResult result, Replay(placed, parsed, "tuned", CostModel(synthesis->target),
                                                      *synthesis->memo, {}));
  synthesis->program = std::move(result.impl);
  synthesis->cycles = ToCycles(result.cost);
  return absl::OkStatus();
}

absl::Status Follow(const std::string& schedule, const Graph& graph, const PlanOptions& options,
                    Synthesis* synthesis) {
  const CostModel model(synthesis->target);
  KIRSCH_ASSIGN_OR_RETURN(Plan plan,
                          PlanFollower(graph, "", model, *synthesis->memo, options).With(schedule, "tuned"));
  synthesis->cycles = plan.cycles;
  synthesis->program = std::move(plan);
  return absl::OkStatus();
}

// How a spec, or a graph, is tuned. The arguments outlive the result.
Tuning TuningOf(const SolveArguments& arguments, const ParsedSpec& parsed, Synthesis* synthesis) {
  return {parsed.text,
          parsed.text,
          ColdText(arguments.cold, parsed),
          synthesis->target,
          [=](const SearchOptions& search) { return FindCandidates(*synthesis, search); },
          [&] { return MakeProblem(parsed, arguments); },
          [=](const std::string& schedule) { return Follow(schedule, synthesis); }};
}

Tuning TuningOf(const SolveArguments& arguments, const Graph& graph, Synthesis* synthesis) {
  const PlanOptions options = MakePlanOptions(arguments, graph);
  return {graph.name,
          PlanQuestion(graph, options),
          ColdText(arguments.cold),
          synthesis->target,
          [&, synthesis](const SearchOptions& search) {
            return FindCandidates(arguments, graph, synthesis->target, *synthesis->memo, search);
          },
          [&] { return MakeProblem(graph, arguments); },
          [&graph, options, synthesis](const std::string& schedule) {
            return Follow(schedule, graph, options, synthesis);
          }};
}

}  // namespace

void AddTunedOption(const Command& command, SolveArguments& arguments) {
  // One tuner serves all commands: it has no state.
  static const MeasuringTuner tuner;
  command.BeginGroup(kSearchGroup);
  arguments.tuner = &tuner;
  command.AddFlag("--tuned", arguments.tuned,
                  "Use what --tune measured on this machine before, where the table knows it");
}

void AddTuneOptions(const Command& command, SolveArguments& arguments) {
  command.BeginGroup(kSearchGroup);
  // --tune alone means 30 seconds; --tune=60 means 60.
  command.AddFlag(
      "--tune{30}", arguments.tune,
      "Time the most promising programs on this machine, for so many seconds a kernel (30), use the "
      "fastest and keep it in the table");
  AddTunedOption(command, arguments);
}

// The options must make sense before any search: tuning comes after it, minutes later.
absl::Status MeasuringTuner::Check(const SolveArguments& arguments) const {
  const auto refuse = [](const std::string& message) { return absl::InvalidArgumentError(message); };
  if (arguments.tune.empty() && !arguments.tuned) return absl::OkStatus();
  // Errors name the option that was given.
  const char* const option = !arguments.tune.empty() ? "--tune" : "--tuned";
  if (!arguments.tune.empty() && SecondsOf(arguments) == 0)
    return refuse(Cat("--tune: expected 1 to ", static_cast<int>(kMostSeconds), " seconds, got ",
                      Quoted(arguments.tune)));
  if (!arguments.schedule.empty()) return refuse(Cat(option, ": expected a search, got --schedule"));
  if (arguments.tune.empty() && arguments.db->none) return refuse("--tuned: expected a table, got --no-db");
  return absl::OkStatus();
}

absl::Status MeasuringTuner::Tune(const SolveArguments& arguments, const KernelMember& asked, bool cancelled,
                                  Synthesis* synthesis) const {
  const absl::StatusOr<bool> applies = Applies(arguments, synthesis->stop == StopReason::kOptimal, cancelled);
  if (!applies.ok() || !*applies) return applies.status();
  const Tuning tuning =
      std::visit([&](const auto& kernel) { return TuningOf(arguments, kernel, synthesis); }, asked);
  absl::StatusOr<std::optional<TuningReport>> report = ReportFor(arguments, tuning);
  if (!report.ok() || !*report) return report.status();
  // The fastest program may be the predicted best itself; then following its schedule changes nothing.
  synthesis->tuned = *std::move(report);
  return tuning.follow(synthesis->tuned->fastest().schedule);
}

}  // namespace kirsch
