// SPDX-License-Identifier: Apache-2.0
#include "search/solver/parallel_solver.h"

#include "spec/check.h"

namespace kirsch {
ParallelSolver::Helper::Helper(const CostModel& model, Memo& memo, bool prune, InFlight* in_flight)
    : solver(model, memo, options, 0, in_flight) {
  options.prune = prune;
  // A solver's counts may be read only by its own thread while it runs. So each helper publishes a copy now
  // and then.
  options.progress = [this](const SearchProgress& progress) {
    const std::lock_guard lock(mutex);
    reported = progress.stats;
  };
}

ParallelSolver::ParallelSolver(const CostModel& model, Memo& memo, const SearchOptions& options)
    : asked_(options),
      options_(options),
      first_(model, memo, options_, 0, options.workers > 1 ? &in_flight_ : nullptr) {
  KIRSCH_CHECK(options.workers >= 1);
  options_.progress = [this](const SearchProgress& progress) { OnProgress(progress); };
  for (int i = 1; i < options.workers; ++i) helpers_.emplace_back(model, memo, options.prune, &in_flight_);
}

void ParallelSolver::OnProgress(SearchProgress progress) {
  StartHelpers();
  if (!asked_.progress) return;
  for (Helper& helper : helpers_) {
    const std::lock_guard lock(helper.mutex);
    progress.stats += helper.reported;
  }
  asked_.progress(progress);
}

void ParallelSolver::StartHelpers() {
  if (first_.stats().specs_solved < options_.specs_before_helpers) return;
  for (Helper& helper : helpers_)
    if (!helper.thread.joinable()) helper.thread = std::thread([this, &helper] { Work(helper.solver); });
}

void ParallelSolver::Work(Solver& solver) {
  solver.Resume();
  const Solver::Outcome outcome = solver.Solve(spec_, available_, budget_);
  // A helper stops only because the round is over, so it has nothing to add. The first solver may also have
  // been stopped by the time budget. Then it must end the round for the others, without an answer.
  if (solver.stopped() && &solver != &first_) return;
  if (!in_flight_.round_over.exchange(true) && !solver.stopped()) answer_ = outcome;
}

Solver::Outcome ParallelSolver::Solve(const Spec& spec, Lines available, Cost budget) {
  spec_ = spec;
  available_ = available;
  budget_ = budget;
  answer_ = {};
  // No helper runs yet: those of the round before were joined. They start at once if the first solver solved
  // enough specs in earlier rounds, and else from OnProgress.
  in_flight_.round_over = false;
  StartHelpers();
  Work(first_);
  for (Helper& helper : helpers_)
    if (helper.thread.joinable()) helper.thread.join();
  return answer_;
}

SearchStats ParallelSolver::stats() const {
  SearchStats stats = first_.stats();
  for (const Helper& helper : helpers_) stats += helper.solver.stats();
  return stats;
}

}  // namespace kirsch
