#include "search/solver/team.h"

#include "spec/check.h"

namespace kirsch {
Team::Helper::Helper(const CostModel& model, Memo& memo, bool prune, Crew* crew)
    : solver(model, memo, options, 0, crew) {
  options.prune = prune;
  options.progress = [this](const SearchProgress& progress) {
    const std::lock_guard lock(mutex);
    reported = progress.stats;
  };
}

Team::Team(const CostModel& model, Memo& memo, const SearchOptions& options)
    : asked_(options),
      options_(options),
      first_(model, memo, options_, 0, options.workers > 1 ? &crew_ : nullptr) {
  KIRSCH_CHECK(options.workers >= 1);
  options_.progress = [this](const SearchProgress& progress) { OnProgress(progress); };
  for (int i = 1; i < options.workers; ++i) helpers_.emplace_back(model, memo, options.prune, &crew_);
}

void Team::OnProgress(SearchProgress progress) {
  StartHelpers();
  if (!asked_.progress) return;
  for (Helper& helper : helpers_) {
    const std::lock_guard lock(helper.mutex);
    progress.stats += helper.reported;
  }
  asked_.progress(progress);
}

void Team::StartHelpers() {
  if (first_.stats().specs_solved < options_.specs_before_helpers) return;
  for (Helper& helper : helpers_)
    if (!helper.thread.joinable()) helper.thread = std::thread([this, &helper] { Work(helper.solver); });
}

void Team::Work(Solver& solver) {
  solver.Resume();
  const Solver::Outcome outcome = solver.Solve(spec_, available_, budget_);
  if (solver.stopped() && &solver != &first_) return;
  if (!crew_.round_over.exchange(true) && !solver.stopped()) answer_ = outcome;
}

Solver::Outcome Team::Solve(const Spec& spec, Lines available, Cost budget) {
  spec_ = spec;
  available_ = available;
  budget_ = budget;
  answer_ = {};
  crew_.round_over = false;
  StartHelpers();
  Work(first_);
  for (Helper& helper : helpers_)
    if (helper.thread.joinable()) helper.thread.join();
  return answer_;
}

SearchStats Team::stats() const {
  SearchStats stats = first_.stats();
  for (const Helper& helper : helpers_) stats += helper.solver.stats();
  return stats;
}

}  // namespace kirsch
