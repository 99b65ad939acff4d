// The branch-and-bound solver: one per query. Internal to search/.
//
// Solve(spec, available, budget) looks for the cheapest program below `budget`. It tries decisions in the
// order of their lower bounds (ties: order of enumeration), each against the best one so far, and remembers
// in the memo either the optimum with its box or the best bound proven. Which decision wins depends on the
// costs alone (the first in that order to reach the least cost), never on what the memo held before.
#ifndef KIRSCH_SEARCH_SOLVER_H_
#define KIRSCH_SEARCH_SOLVER_H_

#include <chrono>
#include <vector>

#include "search/search.h"

namespace kirsch {

class Solver {
 public:
  // `width` > 0 tries only that many decisions per spec: a quick good program instead of the optimum.
  Solver(const CostModel& model, Memo& memo, const SearchOptions& options, int width);

  struct Outcome {
    bool solved = false;
    Cost cost = 0;  // solved: the least cost; else a lower bound, at least the budget
    Lines peak = 0;
  };
  Outcome Solve(const Spec& spec, Lines available, Cost budget);

  // The program of a solved spec.
  Impl Reconstruct(const Spec& spec, Lines available) const;

  // What progress reports say of the whole query.
  void SetProgress(Cost best, Cost bound) { best_ = best, bound_ = bound; }

  bool stopped() const { return stopped_; }
  StopReason stop_reason() const { return stop_reason_; }
  const SearchStats& stats() const { return stats_; }

  // Lines left for the spec below an expansion of a spec that had `available`; negative if the tile won't
  // fit.
  Lines AvailableBelow(const Spec& spec, const Expansion& expansion, Lines available) const;

 private:
  struct Candidate {
    Decision decision;
    Cost bound;
    int order;
  };
  Cost CollectCandidates(const Spec& spec, Lines available, Cost budget);
  Outcome Branch(const Spec& spec, Lines available, Cost budget, size_t first_candidate);
  Outcome Try(const Spec& spec, const Decision& decision, Lines available, Cost budget);
  Outcome Ask(const Spec& spec, Lines available);
  Outcome Relaxed(const Spec& spec, Lines available, Cost budget);
  Lines EmptyLevel(const Spec& spec) const;
  Lines PeakAbove(const Spec& spec, const Expansion& expansion, Lines children) const;
  void CheckStop();

  const CostModel& model_;
  Memo& memo_;
  const SearchOptions& options_;
  const int width_;
  std::vector<Candidate> candidates_;  // a stack: each level of the recursion owns its tail
  std::vector<Decision> decisions_;
  SearchStats stats_;
  bool stopped_ = false;
  StopReason stop_reason_ = StopReason::kOptimal;
  std::chrono::steady_clock::time_point start_;
  int64_t next_check_ = 0;
  Cost best_ = kInfiniteCost, bound_ = 0;
};

// The lines of the home level that the operands of a placed root leave free.
Lines AvailableAtHome(const Spec& placed_root, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_H_
