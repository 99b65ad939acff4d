// SPDX-License-Identifier: Apache-2.0
// Several workers on one query: each solves the same question with a solver of its own, over the same memo.
// Internal to search/.
#ifndef KIRSCH_SEARCH_SOLVER_PARALLEL_SOLVER_H_
#define KIRSCH_SEARCH_SOLVER_PARALLEL_SOLVER_H_

#include <deque>
#include <mutex>
#include <thread>

#include "search/solver/in_flight.h"
#include "search/solver/solver.h"

namespace kirsch {

// The thread that calls is one of the `options.workers` workers; the others are started once the search has
// gone on for a while. Progress, time budget and cancellation are the caller's thread's business alone.
class ParallelSolver {
 public:
  ParallelSolver(const CostModel& model, Memo& memo, const SearchOptions& options);

  // As Solver::Solve. The first worker that is done answers, and the others drop what they are at.
  Solver::Outcome Solve(const Spec& spec, Lines available, Cost budget);

  Impl Reconstruct(const Spec& spec, Lines available) const { return first_.Reconstruct(spec, available); }

  void SetProgress(Cost best, Cost bound) { first_.SetProgress(best, bound); }

  // Stopped by time budget or cancellation.
  bool stopped() const { return first_.stop_reason() != StopReason::kOptimal; }
  StopReason stop_reason() const { return first_.stop_reason(); }
  SearchStats stats() const;  // of all workers

 private:
  struct Helper {
    Helper(const CostModel& model, Memo& memo, bool prune, InFlight* in_flight);
    SearchOptions options;
    Solver solver;
    std::mutex mutex;
    SearchStats reported;  // guarded by mutex
    std::thread thread;
  };

  void OnProgress(SearchProgress progress);
  void StartHelpers();
  void Work(Solver& solver);

  const SearchOptions& asked_;
  SearchOptions options_;  // of the first worker
  InFlight in_flight_;
  Solver first_;
  std::deque<Helper> helpers_;
  Spec spec_;
  Lines available_ = 0;
  Cost budget_ = 0;
  Solver::Outcome answer_;  // of the round, by the worker that ends it
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_PARALLEL_SOLVER_H_
