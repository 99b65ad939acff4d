// SPDX-License-Identifier: Apache-2.0
// What the loop nests of a fusion group take, their stages having cycles.
#ifndef KIRSCH_SEARCH_GRAPH_GROUP_COST_H_
#define KIRSCH_SEARCH_GRAPH_GROUP_COST_H_

#include "rewrites/graph/group_shape.h"
#include "spec/program/plan.h"

namespace kirsch {

class GroupCost {
 public:
  // `threads` share the tiles of nests that are shared.
  explicit GroupCost(int threads) : threads_(threads) {}

  // Shared by tiles or by items, whichever is cheaper; that is what Best says.
  double Of(const LoopNest& nest) const;
  Sharing Best(const LoopNest& nest) const;
  double Of(const GroupShape& shape) const;

  // If the shape is to take less than `budget` cycles, and other stages take no less than they say, one run
  // of the stage takes less than this. Leaves the stage as it was.
  double LimitOf(GroupShape* shape, Stage* stage, double budget) const;

 private:
  struct Cycles {
    double by_items, by_tiles;
  };
  Cycles Shared(const LoopNest& nest) const;

  const int threads_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_GROUP_COST_H_
