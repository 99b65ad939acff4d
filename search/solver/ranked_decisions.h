// SPDX-License-Identifier: Apache-2.0
// Ranks the decisions of a spec by their closed-form bounds. Most specs are asked about several times, with
// other budgets and numbers of lines, so the lists of those met last are kept. Searches may share them
// (SearchOptions::ranking).
#ifndef KIRSCH_SEARCH_SOLVER_RANKED_DECISIONS_H_
#define KIRSCH_SEARCH_SOLVER_RANKED_DECISIONS_H_

#include <vector>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/solver/recent_specs.h"
#include "spec/decision.h"
#include "spec/spec.h"

namespace kirsch {

// A decision, with what its spec alone says of it.
struct RankedDecision {
  Decision decision;
  Lines needs = 0;   // with fewer lines available, it is not to be taken
  Cost base, bound;  // CostModel::Base; that and the closed forms of its children
  Cost proven;       // no less than `bound`: what searches have proven, see RankedList
};

// All decisions of a spec in the order in which they are tried: by bounds, then as they are enumerated.
struct RankedList {
  std::vector<RankedDecision> decisions;
  Lines proven_for = 0;  // no program within so many lines costs less than `proven`
};

// Not thread-safe. `model` must outlive this.
class DecisionRanking {
 public:
  explicit DecisionRanking(const CostModel& model) : model_(model) {}

  // The list of a spec. What is proven holds for `available` lines. Valid until the next call.
  RankedList& Of(const Spec& spec, Lines available);

  // The list, if it is kept and nothing in it is proven for fewer lines only; else null.
  RankedList* Kept(const Spec& spec, Lines available);

  // CostModel::LowerBound.
  Cost LowerBound(const Spec& spec);

 private:
  void Fill(const Spec& spec, std::vector<RankedDecision>* decisions);

  // With more, hits grow slowly, and each worker keeps some 1 to 2 KB a list (bench/lab/2026-11-29.md).
  static constexpr size_t kMostLists = size_t{1} << 14, kMostBounds = size_t{1} << 14;

  const CostModel& model_;
  RecentSpecs<RankedList> lists_{kMostLists};
  RecentSpecs<Cost> bounds_{kMostBounds};
  std::vector<Decision> enumerated_;  // for one spec
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_RANKED_DECISIONS_H_
