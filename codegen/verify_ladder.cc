#include "codegen/verify_ladder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "codegen/verify_freivalds.h"

namespace kirsch {
namespace {

constexpr double kMostFlopsInManyRuns = 5e10;  // above: one run on integers, one on floats
constexpr double kSampledShare = 0.2;          // of the flops in full: of the rows that are compared
constexpr size_t kMostThreads = 65;

const char* KindName(InputKind kind) {
  constexpr std::array<const char*, 4> kNames = {"integers", "even floats", "spread floats",
                                                 "integers of full range"};
  return kNames[static_cast<size_t>(kind)];
}

std::string Describe(const Trial& trial) {
  return absl::StrCat(KindName(trial.kind), trial.placement == Placement::kAtEnd ? ", ends" : ", starts",
                      " guarded, shifted by ", trial.shift, ", ", trial.n_threads, " threads");
}

int64_t Rows(const Spec& root) { return int64_t{root.size[MatmulDims::kB]} * root.size[MatmulDims::kM]; }

}  // namespace

VerifyPlan PlanTrials(const Spec& root, int64_t tasks, uint64_t seed, double most_flops_in_full) {
  // A program of a single task is not shared out: every caller runs all of it.
  const size_t two = tasks == 1 ? 1 : 2;
  const size_t many = tasks == 1 ? 1 : std::min(kMostThreads, static_cast<size_t>(tasks) + 1);
  const Trial integers{InputKind::kIntegers, seed, Placement::kAtEnd, 0, 1};
  const Trial misaligned{InputKind::kIntegers, seed, Placement::kAtStart, 1, many};
  const Trial aligned{InputKind::kIntegers, seed, Placement::kAtStart, 0, two};
  const bool floating = IsFloating(AccumulatorOf(root));
  const Trial spread{floating ? InputKind::kSpread : InputKind::kFullRange, seed, Placement::kAtEnd, 0, two};
  const Trial even{floating ? InputKind::kUniform : InputKind::kFullRange, seed, Placement::kAtStart, 3, 1};
  if (Flops(root) <= most_flops_in_full) return {Rows(root), {integers, spread, misaligned, aligned, even}};
  const double flops_per_row = Flops(root) / static_cast<double>(Rows(root));
  const int64_t rows =
      std::clamp<int64_t>(static_cast<int64_t>(kSampledShare * most_flops_in_full / flops_per_row), 4, 256);
  if (Flops(root) <= kMostFlopsInManyRuns) return {rows, {integers, spread, misaligned}};
  return {rows, {integers, spread}};
}

Ladder::Ladder(const Spec& root, VerifyPlan plan)
    : root_(root),
      plan_(std::move(plan)),
      sampled_(Rows(root) > plan_.most_rows),
      linear_(root.op_info().epilogue.empty() && root.op_info().base == OpKind::kMatmul) {}

RungReport Ladder::Climb(const Kernel& kernel, size_t most_trials) {
  const size_t trials = std::min(most_trials, plan_.trials.size());
  for (size_t i = 0; i < trials; ++i) {
    const absl::Status status = RunTrial(kernel, plan_.trials[i]);
    if (!status.ok())
      return {
          kernel.name, RungOutcome::kFailed,
          absl::StrCat(std::string(status.message()), " (run ", i + 1, ": ", Describe(plan_.trials[i]), ")")};
  }
  return {kernel.name, RungOutcome::kPassed, Summary(trials)};
}

absl::Status Ladder::RunTrial(const Kernel& kernel, const Trial& trial) {
  const absl::StatusOr<const Oracle*> oracle = OracleFor(trial);
  if (!oracle.ok()) return oracle.status();
  absl::StatusOr<Operands> operands = Operands::Create(root_, trial);
  if (!operands.ok()) return operands.status();
  absl::Status status = RunGuarded(root_, kernel, trial, &*operands);
  if (!status.ok()) return status;
  const void* out = operands->at(root_.op_info().output()).data();
  status = CheckRows(root_, **oracle, out, &max_error_);
  if (status.ok() && sampled_ && linear_) status = CheckProduct(root_, trial, *operands);
  return status;
}

absl::StatusOr<const Oracle*> Ladder::OracleFor(const Trial& trial) {
  for (const std::unique_ptr<Oracle>& oracle : oracles_)
    if (oracle->kind == trial.kind && oracle->seed == trial.seed) return oracle.get();
  absl::StatusOr<Oracle> made =
      MakeOracle(root_, trial.kind, trial.seed, ChooseRows(root_, plan_.most_rows, trial.seed));
  if (!made.ok()) return made.status();
  oracles_.push_back(std::make_unique<Oracle>(*std::move(made)));
  return oracles_.back().get();
}

std::string Ladder::Summary(size_t trials) const {
  const std::string rows =
      sampled_ && !linear_ ? absl::StrCat(oracles_.front()->rows.size(), " rows compared") : "";
  const std::string what =
      !rows.empty() ? rows
      : sampled_    ? absl::StrFormat(
                          "%d rows compared, all of the output by Freivalds' check (a wrong one passes "
                             "with probability %.1g)",
                          oracles_.front()->rows.size(), FreivaldsMissProbability(root_))
                 : std::string("every element compared");
  return absl::StrCat(trials, trials == 1 ? " run" : " runs", ", ", what);
}

}  // namespace kirsch
