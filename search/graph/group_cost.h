// SPDX-License-Identifier: Apache-2.0
// Adds up what the loop nests of a fusion group take, once all their stages have cycles.
#ifndef KIRSCH_SEARCH_GRAPH_GROUP_COST_H_
#define KIRSCH_SEARCH_GRAPH_GROUP_COST_H_

#include "rewrites/graph/group_shape.h"
#include "spec/program/plan.h"

namespace kirsch {

// The rules of the sum, for a number of threads. Stages that come before all items, each thread runs for
// itself.
class GroupCost {
 public:
  // `threads` share the tiles of nests that are shared.
  explicit GroupCost(int threads) : threads_(threads) {}

  // The cycles of a nest, or of all nests of a shape. A shared nest is shared by tiles or by items, whichever
  // is cheaper; Best says which.
  double Of(const LoopNest& nest) const;
  Sharing Best(const LoopNest& nest) const;
  double Of(const GroupShape& shape) const;

  // The cycles that one run of the stage must stay below, if the shape is to take less than `budget` cycles.
  // Other stages count at what they have, which may be bounds. Leaves the stage as it was.
  double LimitOf(GroupShape* shape, Stage* stage, double budget) const;

 private:
  // Of a shared nest, both ways to share it.
  struct Cycles {
    double by_items, by_tiles;
  };
  Cycles Shared(const LoopNest& nest) const;

  const int threads_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_GROUP_COST_H_
