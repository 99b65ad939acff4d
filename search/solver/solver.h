// SPDX-License-Identifier: Apache-2.0
// The branch-and-bound solver: one per query. Internal to search/.
//
// Solve(spec, available, budget) looks for the cheapest program below `budget`. It tries decisions in the
// order of their lower bounds (ties: order of enumeration), each against the best one so far, and remembers
// in the memo either the optimum with its box or the best bound proven. Which decision wins depends on the
// costs alone, never on what the memo held before, nor on other solvers at work on the same memo:
//
//   Claim: of (spec, available) one program only is ever stored or returned. Its decision is the least by
//   (cost of its best program, place in the order of trial), and so are those of its children's programs.
//   The order of trial depends on the spec alone, and a candidate is left out only if a bound shows that it
//   cannot win: one before the best so far is tried with a budget of the best cost + 1 (it wins with an equal
//   cost), one after it with the best cost. So any order in which candidates are in fact tried ends with the
//   same winner. By induction over the children, whatever other solvers have put in the memo is what this one
//   would have found.
#ifndef KIRSCH_SEARCH_SOLVER_SOLVER_H_
#define KIRSCH_SEARCH_SOLVER_SOLVER_H_

#include <chrono>
#include <vector>

#include "search/solver/in_flight.h"
#include "search/solver/search.h"

namespace kirsch {

class Solver {
 public:
  // `width` > 0 tries only that many decisions per spec: a quick good program instead of the optimum.
  // `in_flight`: solvers in other threads are at the same question (parallel_solver.h). Ignores
  // options.workers.
  Solver(const CostModel& model, Memo& memo, const SearchOptions& options, int width,
         InFlight* in_flight = nullptr);

  struct Outcome {
    bool solved = false;
    Cost cost = 0;  // solved: the least cost; else a lower bound, at least the budget
    Lines peak = 0;
    bool deferred = false;  // within Branch: not tried, another worker is at it
  };
  Outcome Solve(const Spec& spec, Lines available, Cost budget) {
    return Solve(spec, available, budget, Others::kJoin, 0);
  }

  // The program of a solved spec.
  Impl Reconstruct(const Spec& spec, Lines available) const;

  // What progress reports say of the whole query.
  void SetProgress(Cost best, Cost bound) { best_ = best, bound_ = bound; }

  // Stopped by time budget or cancellation, or else because the round of in_flight is over.
  bool stopped() const { return stopped_; }
  void Resume() { stopped_ = false; }
  StopReason stop_reason() const { return stop_reason_; }
  const SearchStats& stats() const { return stats_; }

 private:
  struct Candidate {
    Decision decision;
    Cost base, bound;  // CostModel::Base; that and the closed forms of its children
    int order;
    bool deferred = false;
  };
  enum class Others { kJoin, kAvoid };  // what to do about a question that another worker is at
  // `known_bound`: the closed form, or a better bound, where the caller has it; else 0.
  Outcome Solve(const Spec& spec, Lines available, Cost budget, Others others, Cost known_bound);
  Outcome SolveAnew(const Spec& spec, Lines available, Cost budget, Cost bound);
  Cost CollectCandidates(const Spec& spec, Lines available, Cost budget);
  Outcome Refute(const Spec& spec, Lines available, Cost bound);
  Outcome Branch(const Spec& spec, Lines available, Cost budget, size_t first_candidate);
  Outcome Try(const Spec& spec, const Candidate& candidate, Lines available, Cost budget, Others others);
  Outcome Ask(const Spec& spec, Lines available);
  Outcome Relaxed(const Spec& spec, Lines available, Cost budget);
  void CheckStop();
  void Trace(SearchEventKind kind, const Spec& spec, Lines available, Cost cost,
             const Decision* decision = nullptr);

  const CostModel& model_;
  Memo& memo_;
  const SearchOptions& options_;
  const int width_;
  InFlight* const in_flight_;
  std::vector<Candidate> candidates_;  // a stack: each level of the recursion owns its tail
  std::vector<Decision> decisions_;
  SearchStats stats_;
  bool stopped_ = false;
  StopReason stop_reason_ = StopReason::kOptimal;
  std::chrono::steady_clock::time_point start_;
  int64_t next_check_ = 0;
  Cost best_ = kInfiniteCost, bound_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_SOLVER_H_
