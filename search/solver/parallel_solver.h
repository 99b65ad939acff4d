// SPDX-License-Identifier: Apache-2.0
// Solves one query with several workers, so that a large search takes less time. Each worker solves the same
// question with a solver of its own, and all share one memo. The answer doesn't depend on how many there are
// (solver.h has the argument). Internal to search/.
#ifndef KIRSCH_SEARCH_SOLVER_PARALLEL_SOLVER_H_
#define KIRSCH_SEARCH_SOLVER_PARALLEL_SOLVER_H_

#include <deque>
#include <mutex>
#include <thread>

#include "search/solver/in_flight.h"
#include "search/solver/solver.h"

namespace kirsch {

// The thread that calls is one of the `options.workers` workers. It starts the others when the search has
// gone on for a while, as in a short one they would come too late. It alone reports progress, and looks at
// the time budget and at cancellation.
class ParallelSolver {
 public:
  ParallelSolver(const CostModel& model, Memo& memo, const SearchOptions& options);

  // As Solver::Solve. Each call is a round. The first worker that is done answers, and the others drop their
  // work; the bounds and solutions they found stay in the memo. When this returns, no other thread runs.
  Solver::Outcome Solve(const Spec& spec, Lines available, Cost budget);

  // The program of a solved spec. Any worker may have found it: the memo has the decisions.
  Impl Reconstruct(const Spec& spec, Lines available) const { return first_.Reconstruct(spec, available); }

  // As Solver::SetProgress.
  void SetProgress(Cost best, Cost bound) { first_.SetProgress(best, bound); }

  // Stopped by time budget or cancellation. The end of a round does not count.
  bool stopped() const { return first_.stop_reason() != StopReason::kOptimal; }
  StopReason stop_reason() const { return first_.stop_reason(); }
  SearchStats stats() const;  // of all workers

 private:
  // A worker in a thread of its own. `solver` refers to `options`, so a helper must not change its address:
  // that is why helpers are in a deque. No time budget is set in its options: the calling thread ends the
  // round for all.
  struct Helper {
    Helper(const CostModel& model, Memo& memo, bool prune, InFlight* in_flight);
    SearchOptions options;
    Solver solver;
    std::mutex mutex;
    SearchStats reported;  // guarded by mutex
    std::thread thread;
  };

  // Called by the first solver now and then. Starts the helpers when it is time, and reports what all have
  // done.
  void OnProgress(SearchProgress progress);
  // Starts a thread for each helper that has none, if the first solver has solved `specs_before_helpers`
  // specs.
  void StartHelpers();
  // Runs in each thread of a round: solves the question; the first to be done stores the answer.
  void Work(Solver& solver);

  const SearchOptions& asked_;  // the caller's
  SearchOptions options_;  // of the first worker: the caller's, but that progress goes through OnProgress
  InFlight in_flight_;
  Solver first_;
  std::deque<Helper> helpers_;
  // The question of the round. Written before helpers start, and only read while they run.
  Spec spec_;
  Lines available_ = 0;
  Cost budget_ = 0;
  Solver::Outcome answer_;  // of the round, by the worker that ends it
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_PARALLEL_SOLVER_H_
