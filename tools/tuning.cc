#include "tools/tuning.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "bench/fastest.h"
#include "bench/statistics.h"
#include "bench/trials.h"
#include "codegen/verify/engines.h"
#include "search/k_best.h"
#include "search/outer_choices.h"
#include "search/replay.h"
#include "spec/program/impl_program.h"
#include "spec/target/host.h"
#include "spec/text/cat.h"
#include "spec/text/schedule.h"
#include "spec/text/text.h"
#include "tools/interrupt.h"
#include "tools/terminal_line.h"

namespace kirsch {
namespace {

constexpr size_t kMostPrograms = 16;
constexpr int kCheapest = 6;  // of the k best
constexpr int kMostRounds = 51;
constexpr double kLeastSample = 1e-3, kLongestSample = 20e-3;  // seconds
constexpr double kMostSeconds = 3600;

using Clock = std::chrono::steady_clock;

// 0: what --tune was given is no number of seconds that there may be.
double SecondsOf(const SolveArguments& arguments) {
  double seconds = 0;
  return absl::SimpleAtod(arguments.tune, &seconds) && seconds >= 1 && seconds <= kMostSeconds ? seconds : 0;
}

std::string QuestionOf(const SolveArguments& arguments, const Synthesis& synthesis) {
  return Cat(Signature(ReadHost()), "\nthreads ", arguments.threads, "\n", arguments.cold ? "cold" : "warm",
             "\n", synthesis.parsed.text);
}

// Programs that differ in code: the predicted best, the best of each outer choice, and the next cheapest.
std::vector<OuterChoice> ProgramsToTry(const Synthesis& synthesis, const SearchOptions& options) {
  const CostModel model(synthesis.target);
  const SearchResult& result = synthesis.result;
  std::vector<OuterChoice> all = {{result.impl, result.cost}};
  for (OuterChoice& choice : OuterChoices(result.impl, result.cost, model, *synthesis.memo, options))
    if (all.size() + kCheapest <= kMostPrograms) all.push_back(std::move(choice));
  for (RankedProgram& program : KBest(result.impl.spec, kCheapest, model, *synthesis.memo, options).programs)
    all.push_back({std::move(program.impl), program.cost});
  std::set<std::string> codes;
  std::vector<OuterChoice> distinct;
  for (OuterChoice& choice : all)
    if (codes.insert(PrintProgram(ProgramOf(choice.impl, synthesis.target))).second)
      distinct.push_back(std::move(choice));
  return distinct;
}

absl::StatusOr<std::vector<Kernel>> Compiled(const std::vector<OuterChoice>& programs, const Target& target) {
  std::vector<Kernel> kernels;
  for (const OuterChoice& program : programs) {
    absl::StatusOr<Kernel> kernel = CompileForThisCpu(Subject(program.impl, target, "tuned"));
    if (!kernel.ok()) return kernel.status();
    kernels.push_back(*std::move(kernel));
  }
  return kernels;
}

TuningReport ReportOf(const SolveArguments& arguments, const Synthesis& synthesis,
                      const std::vector<OuterChoice>& programs, const Trials& trials) {
  TuningReport report;
  report.signature = Signature(ReadHost());
  report.spec = synthesis.parsed.text;
  report.threads = arguments.threads;
  report.cold = arguments.cold;
  report.ghz = trials.ghz.empty() ? 0 : Median(trials.ghz);
  const Fastest fastest = FastestOf(trials.of);
  report.noise_decides = fastest.noise_decides;
  for (size_t i = 0; i < trials.of.size(); ++i) {
    const Trial& trial = trials.of[i];
    if (i != 0 && (!trial.correct || trial.seconds.empty())) continue;
    if (i == fastest.program) report.chosen = report.programs.size();
    report.programs.push_back({PrintSchedule(programs[i].impl), ToCycles(programs[i].cost)});
    if (trial.seconds.empty()) continue;
    report.programs.back().seconds = trial.MedianSeconds();
    report.programs.back().cycles = trial.MedianCycles();
    report.programs.back().spread = trial.Spread();
  }
  return report;
}

absl::StatusOr<TuningReport> Measure(const SolveArguments& arguments, const Synthesis& synthesis) {
  const InterruptGuard guard;
  TerminalLine line;
  line.Show(Cat(arguments.progress, "tuning ", synthesis.parsed.text));
  const auto cancelled = [] {
    return absl::CancelledError("--tune: interrupted; what was measured before is kept");
  };
  SearchOptions options;
  options.cancel = &guard.interrupted();
  const std::vector<OuterChoice> programs = ProgramsToTry(synthesis, options);
  if (guard.interrupted()) return cancelled();
  const absl::StatusOr<std::vector<Kernel>> kernels = Compiled(programs, synthesis.target);
  if (!kernels.ok()) return kernels.status();
  const absl::StatusOr<Workload> workload = MakeWorkload(synthesis.parsed.spec, arguments.threads);
  if (!workload.ok()) return workload.status();
  const auto end = Clock::now() + std::chrono::duration<double>(SecondsOf(arguments));
  TrialOptions trial;
  trial.rounds = kMostRounds;
  trial.min_seconds =
      std::clamp(SecondsOf(arguments) / kMostRounds / static_cast<double>(programs.size()) / 2, kLeastSample,
                 kLongestSample);
  trial.threads = arguments.threads;
  trial.cold = arguments.cold;
  trial.stop = [&] { return guard.interrupted() || Clock::now() >= end; };
  line.Show(Cat(arguments.progress, "timing ", programs.size(), " programs of ", synthesis.parsed.text));
  const absl::StatusOr<Trials> trials = RunTrials(*workload, *kernels, trial);
  if (guard.interrupted()) return cancelled();
  if (!trials.ok()) return trials.status();
  return ReportOf(arguments, synthesis, programs, *trials);
}

absl::Status Follow(const TuningReport& report, Synthesis* synthesis) {
  const Spec placed = synthesis->result.impl.spec;
  const absl::StatusOr<Schedule> schedule = ParseSchedule(report.fastest().schedule, "tuned", placed.op);
  if (!schedule.ok()) return schedule.status();
  absl::StatusOr<SearchResult> result =
      Replay(placed, *schedule, "tuned", CostModel(synthesis->target), *synthesis->memo, {});
  if (!result.ok()) return result.status();
  synthesis->result.impl = std::move(result->impl);
  synthesis->result.cost = result->cost;
  if (report.chosen != 0) synthesis->result.stop = StopReason::kPinned;  // no search's answer
  return absl::OkStatus();
}

}  // namespace

void AddTunedOption(CLI::App& command, SolveArguments& arguments) {
  command.add_flag("--tuned", arguments.tuned,
                   "Use what --tune measured on this machine before, where the table knows it");
}

void AddTuneOptions(CLI::App& command, SolveArguments& arguments) {
  command.add_flag(
      "--tune{30}", arguments.tune,
      "Time the most promising programs on this machine, for so many seconds a kernel (30), use the "
      "fastest and keep it in the table");
  AddTunedOption(command, arguments);
}

absl::Status CheckTuning(const SolveArguments& arguments, bool graph) {
  const auto refuse = [](const std::string& message) { return absl::InvalidArgumentError(message); };
  if (arguments.tune.empty() && !arguments.tuned) return absl::OkStatus();
  const char* const option = !arguments.tune.empty() ? "--tune" : "--tuned";
  if (!arguments.tune.empty() && SecondsOf(arguments) == 0)
    return refuse(Cat("--tune: expected 1 to ", static_cast<int>(kMostSeconds), " seconds, got ",
                      Quoted(arguments.tune)));
  if (graph) return refuse(Cat(option, ": expected specs, got a graph"));
  if (!arguments.schedule.empty()) return refuse(Cat(option, ": expected a search, got --schedule"));
  if (arguments.tune.empty() && arguments.db->none) return refuse("--tuned: expected a table, got --no-db");
  return absl::OkStatus();
}

absl::Status Tune(const SolveArguments& arguments, Synthesis* synthesis) {
  if (arguments.tune.empty() && !arguments.tuned) return absl::OkStatus();
  if (synthesis->result.stop != StopReason::kOptimal) return absl::OkStatus();
  if (ConstantOperand(synthesis->parsed.spec) >= 0 || synthesis->parsed.spec.block != 0)
    return absl::InvalidArgumentError(
        "--tune: expected no constant operand and no blocks, as calls differ there");
  absl::StatusOr<std::unique_ptr<Table>> table = OpenTable(*arguments.db, synthesis->target);
  if (!table.ok()) return table.status();
  const std::string question = QuestionOf(arguments, *synthesis);
  if (*table != nullptr) {
    const absl::StatusOr<std::optional<std::string>> known = (*table)->FindTuned(question);
    if (!known.ok()) return known.status();
    if (*known) synthesis->tuned = TuningReport::Parse(**known);
  }
  if (!synthesis->tuned && arguments.tune.empty()) return absl::OkStatus();
  if (!synthesis->tuned) {
    absl::StatusOr<TuningReport> measured = Measure(arguments, *synthesis);
    if (!measured.ok()) return measured.status();
    synthesis->tuned = *std::move(measured);
    if (*table != nullptr) {
      (*table)->AddTuned(question, synthesis->tuned->ToJson().dump());
      if (absl::Status kept = CommitTable(*arguments.db, **table); !kept.ok()) return kept;
    }
  }
  return Follow(*synthesis->tuned, synthesis);
}

}  // namespace kirsch
