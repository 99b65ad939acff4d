// SPDX-License-Identifier: Apache-2.0
// Ranks the programs of each stage of a plan by cost, for the K cheapest plans (k_best_plans.h).
#ifndef KIRSCH_SEARCH_RANKING_STAGE_K_BEST_H_
#define KIRSCH_SEARCH_RANKING_STAGE_K_BEST_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "memo/spec_hash.h"
#include "search/ranking/k_best.h"
#include "search/solver/search.h"
#include "spec/level.h"
#include "spec/program/plan.h"

namespace kirsch {

// Keeps the ranked programs of all contractions asked about. Not thread-safe; all arguments must outlive it.
class StageKBest {
 public:
  // Of `rank` it takes what tells programs apart, and whether there are others than the cheapest
  // (RankOptions::stages).
  StageKBest(const CostModel& model, Memo& memo, const SearchOptions& options, const RankOptions& rank)
      : model_(model), memo_(memo), options_(options), rank_(rank) {}

  bool others() const { return rank_.stages; }

  // Gives a contraction, whose operands are placed, the program of a rank (0: the cheapest) and its cycles.
  // Programs differ as k_best.h has it. False: there are no more.
  bool Program(size_t rank, Stage* stage);

  // Returns a stage of rows with each of its schedules, the cheapest first. Schedules that differ in no outer
  // choice count once: they run in vectors of as many lanes, in the same passes, and keep the same values.
  std::vector<Stage> Schedules(const std::vector<Level>& levels, const Stage& stage) const;

  // True if the options ended a search: then there may be more programs than are known.
  bool stopped() const { return stopped_; }

 private:
  // All that is known of one contraction's programs.
  struct Programs {
    std::vector<RankedProgram> list;  // without the cycles that a plan pays once
    double least_beyond = 0;          // those that are not in the list take no less
  };

  void FindMore(const Spec& placed, Programs* programs);

  const CostModel& model_;
  Memo& memo_;
  const SearchOptions& options_;
  const RankOptions rank_;
  absl::flat_hash_map<Spec, Programs, SpecHash> programs_;
  bool stopped_ = false;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_STAGE_K_BEST_H_
