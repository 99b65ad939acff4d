// SPDX-License-Identifier: Apache-2.0
// The programs of a plan's stages by what they cost.
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

// Not thread-safe. All arguments outlive it.
class StageKBest {
 public:
  // Of `rank` what tells programs apart, and whether there are others than the cheapest.
  StageKBest(const CostModel& model, Memo& memo, const SearchOptions& options, const RankOptions& rank)
      : model_(model), memo_(memo), options_(options), rank_(rank) {}

  bool others() const { return rank_.stages; }

  // Gives a contraction whose operands are placed the program of a rank (0: the cheapest) among those that
  // differ (k_best.h), with its cycles. False: there are no more.
  bool Program(size_t rank, Stage* stage);

  // A stage of rows with each of its schedules, the cheapest first. Those that differ in no outer choice run
  // in vectors of as many lanes, in the same passes, and keep the same values.
  std::vector<Stage> Schedules(const std::vector<Level>& levels, const Stage& stage) const;

  // Did the options end a search? Then there may be more.
  bool stopped() const { return stopped_; }

 private:
  struct Ranked {
    double cycles;  // without what a plan pays once
    Impl impl;
  };
  struct Programs {
    std::vector<Ranked> list;
    double least_beyond = 0;  // those that are not in the list take no less
  };
  struct Hash {
    size_t operator()(const Spec& spec) const { return HashOf(spec); }
  };

  void FindMore(const Spec& placed, Programs* programs);

  const CostModel& model_;
  Memo& memo_;
  const SearchOptions& options_;
  const RankOptions rank_;
  absl::flat_hash_map<Spec, Programs, Hash> programs_;
  bool stopped_ = false;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_STAGE_K_BEST_H_
