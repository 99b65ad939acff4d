// SPDX-License-Identifier: Apache-2.0
// Solves specs by branch and bound, each within a budget and a number of lines. One solver serves one query;
// all that it proves goes to the memo. Internal to search/.
//
// Solve(spec, available, budget) looks for the cheapest program below `budget`. It tries decisions in the
// order of their lower bounds (ties: order of enumeration), each against the best one so far. It then stores
// the optimum with its box in the memo, or the best bound that it has proven.
//
// The winning decision depends on the costs alone. It never depends on what the memo held before, nor on
// other solvers at work on the same memo:
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

#include "search/solver/choice.h"
#include "search/solver/in_flight.h"
#include "search/solver/ranked_decisions.h"
#include "search/solver/search.h"

namespace kirsch {

// Returns the most that a child may cost so that the whole stays below `budget`. `others`: the node's base
// and the bounds of the other children. Example: a budget of 100, others of 40, and a weight of 7. The child
// must cost less than 60 / 7, so its budget is 9: a cost of 8 is allowed. A child of weight 0 costs nothing,
// whatever it takes.
Cost ChildBudget(Cost budget, Cost others, int64_t weight);

// Not thread-safe: each thread has a solver of its own. The memo is shared, and `options` must outlive the
// solver.
class Solver {
 public:
  // `width` > 0 tries only that many decisions per spec: a quick good program instead of the optimum. Its
  // bounds hold for those decisions only, so it needs a memo of its own. `in_flight`: shared with the solvers
  // that are at the same question in other threads (parallel_solver.h); null if there are none. Ignores
  // options.workers.
  Solver(const CostModel& model, Memo& memo, const SearchOptions& options, int width,
         InFlight* in_flight = nullptr);

  // The answer to (spec, available, budget). A solver that was stopped returns an Outcome that proves
  // nothing, so callers look at stopped() first.
  struct Outcome {
    bool solved = false;
    Cost cost = 0;          // solved: the least cost; else a lower bound, at least the budget
    Lines peak = 0;         // solved: the lines that its program uses of the level the spec fills
    bool deferred = false;  // within Branch: not tried, another worker is at it
  };
  Outcome Solve(const Spec& spec, Lines available, Cost budget) {
    return Solve(spec, available, budget, Others::kJoin);
  }
  // The same, of the programs that begin with `choice`.
  Outcome Solve(const Spec& spec, const Choice& choice, Lines available, Cost budget);

  // The program of a solved spec, built from the decisions that the memo holds. Aborts if the spec has no
  // solution there.
  Impl Reconstruct(const Spec& spec, Lines available) const;

  // Sets what progress reports say of the whole query, of which a call of Solve is one round.
  void SetProgress(Cost best, Cost bound) { best_ = best, bound_ = bound; }

  // True if a time budget or a cancellation stopped the search, or if another worker ended the round.
  bool stopped() const { return stopped_; }
  // Lets a solver go on in a new round.
  void Resume() { stopped_ = false; }
  StopReason stop_reason() const { return stop_reason_; }
  const SearchStats& stats() const { return stats_; }

 private:
  // A decision that fits and may be below the budget.
  struct Candidate {
    Decision decision;
    size_t place;      // in the list of all decisions of the spec
    Cost base, bound;  // CostModel::Base; the best bound known
    bool deferred = false;
  };
  enum class Others { kJoin, kAvoid };  // what to do about a question that another worker is at
  Outcome Solve(const Spec& spec, Lines available, Cost budget, Others others);
  // The steps of Solve, from the outside in; solver.cc says what each does.
  Outcome SolveOpen(const Spec& spec, Lines available, Cost budget, Others others, Cost bound);
  Outcome SolveAnew(const Spec& spec, Lines available, Cost budget, Cost bound);
  Cost CollectCandidates(const Spec& spec, Lines available, Cost budget);
  Outcome Refute(const Spec& spec, Lines available, Cost bound);
  Outcome Branch(const Spec& spec, Lines available, Cost budget, size_t first_candidate);
  void KeepProven(const Spec& spec, Lines available, size_t first_candidate);
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
  DecisionRanking own_ranking_;        // where no other is given
  DecisionRanking& ranking_;
  SearchStats stats_;
  bool stopped_ = false;
  StopReason stop_reason_ = StopReason::kOptimal;
  std::chrono::steady_clock::time_point start_;
  int64_t next_check_ = 0;                 // in specs solved
  Cost best_ = kInfiniteCost, bound_ = 0;  // see SetProgress
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_SOLVER_H_
