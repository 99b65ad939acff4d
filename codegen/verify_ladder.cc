#include "codegen/verify_ladder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "codegen/verify_freivalds.h"

namespace kirsch {
namespace {

constexpr double kMostFlopsInFull = 2e9;       // above: sampled rows
constexpr double kMostFlopsInManyRuns = 5e10;  // above: one run on integers, one on floats
constexpr double kSampledFlops = 2e8;          // of the rows that are compared
constexpr size_t kMostThreads = 65;

const char* KindName(InputKind kind) {
  constexpr std::array<const char*, 3> kNames = {"integers", "even floats", "spread floats"};
  return kNames[static_cast<size_t>(kind)];
}

std::string Describe(const Trial& trial) {
  return absl::StrCat(KindName(trial.kind), trial.placement == Placement::kAtEnd ? ", ends" : ", starts",
                      " guarded, shifted by ", trial.shift, ", ", trial.n_threads, " threads");
}

int64_t MostRows(const Spec& root, bool sampled) {
  const int64_t all = int64_t{root.size[MatmulDims::kB]} * root.size[MatmulDims::kM];
  if (!sampled) return all;
  const double flops_per_row = Flops(root) / static_cast<double>(all);
  return std::clamp<int64_t>(static_cast<int64_t>(kSampledFlops / flops_per_row), 4, 256);
}

}  // namespace

VerifyPlan PlanTrials(const Spec& root, int64_t tasks, uint64_t seed) {
  // A program of a single task is not shared out: every caller runs all of it.
  const size_t two = tasks == 1 ? 1 : 2;
  const size_t many = tasks == 1 ? 1 : std::min(kMostThreads, static_cast<size_t>(tasks) + 1);
  const Trial integers{InputKind::kIntegers, seed, Placement::kAtEnd, 0, 1};
  const Trial misaligned{InputKind::kIntegers, seed, Placement::kAtStart, 1, many};
  const Trial aligned{InputKind::kIntegers, seed, Placement::kAtStart, 0, two};
  const Trial spread{InputKind::kSpread, seed, Placement::kAtEnd, 0, two};
  const Trial even{InputKind::kUniform, seed, Placement::kAtStart, 3, 1};
  if (Flops(root) > kMostFlopsInManyRuns) return {true, {integers, spread}};
  if (Flops(root) > kMostFlopsInFull) return {true, {integers, spread, misaligned}};
  return {false, {integers, spread, misaligned, aligned, even}};
}

RungReport Ladder::Climb(const Kernel& kernel, size_t most_trials) {
  const size_t trials = std::min(most_trials, plan_.trials.size());
  for (size_t i = 0; i < trials; ++i) {
    const absl::Status status = RunTrial(kernel, plan_.trials[i]);
    if (!status.ok())
      return {kernel.name, RungOutcome::kFailed,
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
  const float* out = operands->at(root_.op_info().output()).floats();
  status = CheckRows(root_, **oracle, out, &max_error_);
  if (status.ok() && plan_.sampled) status = CheckProduct(root_, trial, *operands);
  return status;
}

absl::StatusOr<const Oracle*> Ladder::OracleFor(const Trial& trial) {
  for (const std::unique_ptr<Oracle>& oracle : oracles_)
    if (oracle->kind == trial.kind && oracle->seed == trial.seed) return oracle.get();
  absl::StatusOr<Oracle> made =
      MakeOracle(root_, trial.kind, trial.seed, ChooseRows(root_, MostRows(root_, plan_.sampled), trial.seed));
  if (!made.ok()) return made.status();
  oracles_.push_back(std::make_unique<Oracle>(*std::move(made)));
  return oracles_.back().get();
}

std::string Ladder::Summary(size_t trials) const {
  const std::string what =
      plan_.sampled ? absl::StrFormat("%d rows compared, all of the output by Freivalds' check (a wrong one passes "
                                      "with probability %.1g)",
                                      oracles_.front()->rows.size(), FreivaldsMissProbability(root_))
                    : std::string("every element compared");
  return absl::StrCat(trials, trials == 1 ? " run" : " runs", ", ", what);
}

}  // namespace kirsch
