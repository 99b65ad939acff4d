// SPDX-License-Identifier: Apache-2.0
// Finds the cheapest of all programs that a schedule stands for: it may have holes, gaps, and open ends.
// Internal to search/.
//
//   tile m ?                     every tile of m is tried, with the best programs below each
//     ...                        every decision is tried, until those below fit
//       move out VRF vectors16   as it is written
//
// The search is the solver's, over pairs of a spec and a node of the schedule. The solver itself answers for
// what is open, and bounds the rest: a program of the schedule costs no less than the best of all.
#ifndef KIRSCH_SEARCH_SOLVER_SCHEDULE_SOLVER_H_
#define KIRSCH_SEARCH_SOLVER_SCHEDULE_SOLVER_H_

#include <chrono>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "search/solver/solver.h"
#include "spec/language/schedule.h"

namespace kirsch {

// Not thread-safe. All arguments must outlive it.
class ScheduleSolver {
 public:
  // `width` > 0: a program of the schedule in little time instead of the best one, see Solver. The memo is of
  // the solver alone.
  ScheduleSolver(const Schedule& schedule, const CostModel& model, Memo& memo, const SearchOptions& options,
                 int width);

  // Returns the least cost of a program of `root`; nothing if none costs less than `limit`, or if the search
  // was stopped.
  std::optional<Cost> Solve(const Spec& root, Lines available, Cost limit);

  // Returns the program. Precondition: Solve has found it.
  Impl Reconstruct(const Spec& root, Lines available) const {
    return Reconstruct(root, schedule_, available);
  }

  // Where a schedule without programs fails: the node that is furthest in the text, and the first spec that
  // has no decision of it. Null: each node has one somewhere.
  struct Failure {
    const Schedule* node = nullptr;
    Spec spec;
    Lines available = 0;
  };
  const Failure& failure() const { return failure_; }

  // False if the schedule stands for one program only, but for what is open.
  bool HasChoices() const { return choices_.contains(&schedule_); }
  bool stopped() const { return stopped_; }
  StopReason stop_reason() const { return stop_reason_; }
  const SearchStats& stats() const { return solver_.stats(); }

 private:
  // What is known of a question. Without a decision the gap ends at this spec.
  struct Answer {
    bool solved = false;
    Cost cost = 0;   // else a bound
    Lines peak = 0;  // see Solver::Outcome
    Decision decision = {};
  };
  using Question = std::tuple<Spec::Words, Lines, const Schedule*>;

  bool FindChoices(const Schedule& node);
  Answer Solve(const Spec& spec, const Schedule& node, Lines available, Cost budget);
  Answer SolveAnew(const Spec& spec, const Schedule& node, Lines available, Cost budget);
  std::vector<Choice> CandidatesFor(const Spec& spec, const Schedule& node, Lines available);
  Answer Try(const Spec& spec, const Choice& candidate, const Schedule& node, Cost budget);
  Impl Reconstruct(const Spec& spec, const Schedule& node, Lines available) const;
  const Schedule& ChildOf(const Schedule& node, const Expansion& expansion, size_t child) const;
  void Fail(const Schedule& node, const Spec& spec, Lines available);
  bool CheckStop();

  const Schedule& schedule_;
  const Schedule open_;  // of children that it says nothing of
  const CostModel& model_;
  const SearchOptions& options_;
  const bool any_;  // program will do
  Solver solver_;
  absl::flat_hash_set<const Schedule*> choices_;  // the nodes with a hole or a gap in them, or below them
  absl::flat_hash_map<Question, Answer> answers_;
  std::vector<Decision> decisions_;  // enumerated for one spec
  Failure failure_;
  std::chrono::steady_clock::time_point start_;
  int questions_ = 0;
  bool stopped_ = false;
  StopReason stop_reason_ = StopReason::kOptimal;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_SCHEDULE_SOLVER_H_
