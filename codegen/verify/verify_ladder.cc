// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/verify_ladder.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr double kMostWorkInManyRuns = 5e10;  // above: two runs
constexpr double kMostWorkOfElements = 1e10;  // above: one run
constexpr size_t kMostThreads = 65;           // even if there are more tasks
constexpr size_t kMostSuspects = 8;           // rows

std::string Describe(const VerifyTrial& trial) {
  return Cat(Name(trial.kind), trial.placement == Placement::kAtEnd ? ", ends" : ", starts",
             " guarded, shifted by ", trial.shift, ", ", trial.n_threads, " threads");
}

}  // namespace

TrialPlan PlanTrials(const KnownProblem& problem, int64_t tasks, uint64_t seed, double most_flops_in_full) {
  // A program of a single task is not shared out: every caller runs all of it. Others get one thread, two,
  // and more threads than tasks, so that some have nothing to do.
  const size_t two = tasks == 1 ? 1 : 2;
  const size_t many = tasks == 1 ? 1 : std::min(kMostThreads, static_cast<size_t>(tasks) + 1);
  const auto [usual, demanding, other] = problem.Kinds();
  // Buffers end at a guard page, then begin at one, at bases that are misaligned by 1 and 3 elements.
  std::vector<VerifyTrial> trials = {{usual, seed, Placement::kAtEnd, 0, 1},
                                     {demanding, seed, Placement::kAtEnd, 0, two},
                                     {usual, seed, Placement::kAtStart, 1, many},
                                     {usual, seed, Placement::kAtStart, 0, two},
                                     {other, seed, Placement::kAtStart, 3, 1}};
  if (problem.work() > most_flops_in_full) trials.resize(problem.work() > kMostWorkInManyRuns ? 2 : 3);
  if (problem.work() - problem.flops() > kMostWorkOfElements) trials.resize(1);
  return {problem.MostRows(most_flops_in_full), std::move(trials)};
}

Ladder::Ladder(const KnownProblem& problem, TrialPlan plan, VerifyProgress progress)
    : problem_(problem),
      plan_(std::move(plan)),
      sampled_(std::ranges::any_of(
          problem.outputs(), [&](const ProblemOutput& output) { return output.rows() > plan_.most_rows; })),
      progress_(progress ? std::move(progress) : [](std::string_view) {}) {}

RungReport Ladder::Climb(const Kernel& kernel, size_t most_trials) {
  const size_t trials = std::min(most_trials, plan_.trials.size());
  for (size_t i = 0; i < trials; ++i) {
    const absl::Status status =
        RunTrial(kernel, plan_.trials[i], Cat(kernel.name, ", run ", i + 1, " of ", trials));
    // For want of memory nothing is wrong with the kernel.
    if (absl::IsResourceExhausted(status))
      return {kernel.name, RungOutcome::kNotRun, std::string(status.message())};
    if (!status.ok())
      return {kernel.name, RungOutcome::kFailed,
              Cat(std::string(status.message()), " (run ", i + 1, ": ", Describe(plan_.trials[i]), ")")};
  }
  return {kernel.name, RungOutcome::kPassed, Summary(trials)};
}

// The reference sees the output as it is before the run, so it comes first. After a run that went wrong the
// tensors may hold anything, so they are given up.
absl::Status Ladder::RunTrial(const Kernel& kernel, const VerifyTrial& trial, const std::string& run) {
  progress_(Cat(run, ": computing what is right"));
  KIRSCH_ASSIGN_OR_RETURN(const Operands* const made, OperandsFor(trial));
  const Operands& operands = *made;
  const std::vector<Oracle>& oracles = OraclesFor(trial, operands);
  progress_(absl::StrFormat("%s, %.3g GFLOP", run, 1e-9 * problem_.flops()));
  absl::Status status = RunGuarded(problem_, kernel, trial, operands);
  if (status.ok()) progress_(Cat(run, ": comparing results"));
  for (size_t i = 0; i < oracles.size() && status.ok(); ++i) {
    const ProblemOutput& output = problem_.outputs()[i];
    status = CheckRows(output, oracles[i], operands.at(output.tensor).data(), &max_error_);
    if (status.ok() && output.rows() > plan_.most_rows) status = CheckSample(trial, operands, output);
  }
  if (!status.ok()) operands_.reset();
  return status;
}

// Returns the trial's operands. If the last run's suit, only the outputs are made anew: the largest problems
// have one run for each engine, so their inputs are made once.
absl::StatusOr<const Operands*> Ladder::OperandsFor(const VerifyTrial& trial) {
  if (operands_ && Operands::SuitAlso(last_, trial)) {
    operands_->Refill(problem_, trial);
  } else {
    // Given back first, so that there is memory for the new ones.
    operands_.reset();
    KIRSCH_ASSIGN_OR_RETURN(operands_, Operands::Create(problem_, trial));
  }
  last_ = trial;
  return &*operands_;
}

// Checks what can be told of rows that are not compared. First the whole output is checked, if there is a way
// to. Then rows that look as if nobody had written them are compared after all. Their reference needs the
// output as it was before the run, which is made again.
absl::Status Ladder::CheckSample(const VerifyTrial& trial, const Operands& operands,
                                 const ProblemOutput& output) {
  KIRSCH_RETURN_IF_ERROR(problem_.CheckWhole(trial.kind, trial.seed, operands.pointers()));
  const void* const out = operands.at(output.tensor).data();
  std::vector<int64_t> suspects = SuspectRows(output, out, kMostSuspects);
  if (suspects.empty()) return absl::OkStatus();
  KIRSCH_ASSIGN_OR_RETURN(const Operands before, Operands::Create(problem_, trial));
  const Oracle oracle = problem_.Expect(trial.kind, before.pointers(), output, std::move(suspects));
  return CheckRows(output, oracle, out, &max_error_);
}

// Returns what is right for the trial's inputs, from the first trial with them on. `operands`: before the
// run.
const std::vector<Oracle>& Ladder::OraclesFor(const VerifyTrial& trial, const Operands& operands) {
  for (const std::unique_ptr<Answer>& answer : answers_)
    if (answer->kind == trial.kind && answer->seed == trial.seed) return answer->oracles;
  Answer made{trial.kind, trial.seed, {}};
  for (const ProblemOutput& output : problem_.outputs())
    made.oracles.push_back(problem_.Expect(trial.kind, operands.pointers(), output,
                                           ChooseRows(output.rows(), plan_.most_rows, trial.seed)));
  answers_.push_back(std::make_unique<Answer>(std::move(made)));
  return answers_.back()->oracles;
}

std::string Ladder::Summary(size_t trials) const {
  std::string text = Cat(trials, trials == 1 ? " run, " : " runs, ");
  if (!sampled_) return text + "every element compared";
  size_t rows = 0;
  for (const Oracle& oracle : answers_.front()->oracles) rows += oracle.rows.size();
  Append(&text, rows, " rows compared");
  const std::string whole = problem_.WholeCheck();
  return whole.empty() ? text : Cat(text, ", ", whole);
}

}  // namespace kirsch
