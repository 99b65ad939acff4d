// SPDX-License-Identifier: Apache-2.0
// The programs of stages that are contractions, each spec searched once.
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

// Has the program's cost a section of several threads in it? A plan pays for that once.
bool Forks(const Impl& impl);

// Not thread-safe. All arguments outlive it.
class StageSolver {
 public:
  StageSolver(const Target& target, const PlanOptions& options) : target_(target), options_(options) {}

  // Fills in the program and the cycles of all repeats, the spec's operands being placed. False: they are at
  // least `limit` cycles, and what is filled in is a bound.
  absl::StatusOr<bool> Solve(double limit, Stage* stage);
  // All repeats take no less, as far as searches so far have shown.
  double BoundOf(const Stage& stage) const;
  // As Solve, by a schedule of the spec.
  absl::Status Replay(const StageSchedule& schedule, Stage* stage);

  // Of all searches.
  const SearchStats& stats() const { return stats_; }
  bool optimal() const { return optimal_; }

 private:
  struct Hash {
    size_t operator()(const Spec& spec) const { return HashOf(spec); }
  };

  double ForksOf(const Stage& stage) const;
  double StageCycles(const SearchResult& result, const Stage& stage) const;

  const Target& target_;
  const PlanOptions& options_;
  absl::flat_hash_map<Spec, SearchResult, Hash> solved_;
  SearchStats stats_;
  bool optimal_ = true;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_STAGE_SOLVER_H_
