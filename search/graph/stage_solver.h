// SPDX-License-Identifier: Apache-2.0
// Finds the programs of stages that are contractions. It keeps all that it learns of a spec, whichever stage
// asks for it.
#ifndef KIRSCH_SEARCH_GRAPH_STAGE_SOLVER_H_
#define KIRSCH_SEARCH_GRAPH_STAGE_SOLVER_H_

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "memo/spec_hash.h"
#include "search/graph/plan_search.h"
#include "spec/language/plan_schedule.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// True if the program's cost includes starting threads. A plan pays for that once, so stages leave it out.
bool Forks(const Impl& impl);

// Keeps what is known of each spec: its program, or a bound. Not thread-safe; all arguments must outlive it.
class StageSolver {
 public:
  StageSolver(const Target& target, const PlanOptions& options) : target_(target), options_(options) {}

  // Fills in the program of a stage whose operands are placed, and the cycles of all repeats. False: they are
  // at least `limit` cycles, and what is filled in is a bound.
  absl::StatusOr<bool> Solve(double limit, Stage* stage);
  // The cycles that all repeats take at least, as far as searches so far have shown; 0 if there was none.
  double BoundOf(const Stage& stage) const;
  // As Solve, by a schedule of the spec instead of a search, and without a limit.
  absl::Status Replay(const StageSchedule& schedule, Stage* stage);

  // Of all searches.
  const SearchStats& stats() const { return stats_; }
  bool optimal() const { return optimal_; }

 private:
  // The cycles of starting threads that the costs of a stage's programs may include; those that a program's
  // do include.
  double ForksOf(const Stage& stage) const;
  double StageCycles(const SearchResult& result, const Stage& stage) const;

  const Target& target_;
  const PlanOptions& options_;
  absl::flat_hash_map<Spec, SearchResult, SpecHash> solved_;
  SearchStats stats_;
  bool optimal_ = true;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_STAGE_SOLVER_H_
