// SPDX-License-Identifier: Apache-2.0
#include "search/graph/stage_solver.h"

#include <algorithm>

#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// True if there is a program. Otherwise there is a bound at most.
bool IsSolved(const SearchResult& result) {
  return result.cost < kInfiniteCost && result.stop != StopReason::kCutoff;
}

}  // namespace

bool Forks(const Impl& impl) {
  return (impl.decision.kind == RewriteKind::kParallelTile && impl.decision.parts > 1) ||
         std::any_of(impl.children.begin(), impl.children.end(),
                     [](const Impl::Child& child) { return Forks(child.impl); });
}

// The limit is one of the stage; the cutoff is one of the spec. A shared program's cost includes the start of
// threads, which the stage leaves out, so the cutoff is higher by that.
absl::StatusOr<bool> StageSolver::Solve(double limit, Stage* stage) {
  SearchResult& result = solved_[stage->spec];
  const double forks = ForksOf(*stage);
  const double most = limit / static_cast<double>(stage->repeats) + forks;
  const Cost cutoff = most < ToCycles(kInfiniteCost) ? BoundFromCycles(most) + 1 : kInfiniteCost;
  if (!IsSolved(result) && result.bound < cutoff) {
    KIRSCH_ASSIGN_OR_RETURN(SearchResult found, options_.solve(stage->spec, cutoff));
    stats_ += found.stats;
    optimal_ &= found.stop == StopReason::kOptimal || found.stop == StopReason::kCutoff;
    result = std::move(found);
    // A memo may know a higher bound than the cutoff. Forget that, as later questions must not depend on what
    // the memo held.
    if (result.stop == StopReason::kCutoff && result.bound < kInfiniteCost) result.bound = cutoff;
  }
  if (!IsSolved(result)) {
    stage->cycles = BoundOf(*stage);
    return false;
  }
  stage->impl = result.impl;
  stage->cycles = StageCycles(result, *stage);
  return stage->cycles < limit;
}

double StageSolver::BoundOf(const Stage& stage) const {
  const auto known = solved_.find(stage.spec);
  if (known == solved_.end()) return 0;
  if (IsSolved(known->second)) return StageCycles(known->second, stage);
  return static_cast<double>(stage.repeats) * std::max(0.0, ToCycles(known->second.bound) - ForksOf(stage));
}

absl::Status StageSolver::Replay(const StageSchedule& schedule, Stage* stage) {
  const std::string& source = options_.schedule->source;
  KIRSCH_ASSIGN_OR_RETURN(const Schedule read, ReadSchedule(schedule.contraction, source, stage->spec.op));
  KIRSCH_ASSIGN_OR_RETURN(const SearchResult result, options_.replay(stage->spec, read, source));
  stats_ += result.stats;
  stage->impl = result.impl;
  stage->cycles = StageCycles(result, *stage);
  return absl::OkStatus();
}

double StageSolver::ForksOf(const Stage& stage) const {
  return stage.spec.threads > 1 ? target_.fork_join_cycles : 0;
}

double StageSolver::StageCycles(const SearchResult& result, const Stage& stage) const {
  return static_cast<double>(stage.repeats) *
         (ToCycles(result.cost) - (Forks(result.impl) ? target_.fork_join_cycles : 0));
}

}  // namespace kirsch
