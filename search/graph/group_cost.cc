// SPDX-License-Identifier: Apache-2.0
#include "search/graph/group_cost.h"

#include <algorithm>
#include <vector>

namespace kirsch {
namespace {

double Sum(const std::vector<Stage>& stages) {
  double sum = 0;
  for (const Stage& stage : stages) sum += stage.cycles;
  return sum;
}

// All whole tiles of one item, and what is left of its rows.
double OfTiles(const LoopNest& nest) {
  return static_cast<double>(nest.trips()) * Sum(nest.stages) + Sum(nest.rest);
}

}  // namespace

GroupCost::Cycles GroupCost::Shared(const LoopNest& nest) const {
  // The share of the tasks that the busiest thread has. Example: 3 items of 5 tiles each, for 2 threads. By
  // items it has 2 of 3; by tiles 8 of 15, which is less, but then both threads run `once` for each item.
  const auto share = [&](int64_t tasks) {
    return static_cast<double>((tasks + threads_ - 1) / threads_) / static_cast<double>(tasks);
  };
  const auto batch = static_cast<double>(nest.batch);
  const double before = Sum(nest.before), once = Sum(nest.once), tiles = OfTiles(nest);
  return {before + batch * (once + tiles) * share(nest.batch),
          before + batch * once + batch * tiles * share(nest.batch * nest.tiles())};
}

double GroupCost::Of(const LoopNest& nest) const {
  if (nest.sharing != Sharing::kTiles && nest.sharing != Sharing::kItems)
    return Sum(nest.before) + static_cast<double>(nest.batch) * (Sum(nest.once) + OfTiles(nest));
  const Cycles cycles = Shared(nest);
  return std::min(cycles.by_items, cycles.by_tiles);
}

Sharing GroupCost::Best(const LoopNest& nest) const {
  if (nest.sharing != Sharing::kTiles && nest.sharing != Sharing::kItems) return nest.sharing;
  const Cycles cycles = Shared(nest);
  return cycles.by_items <= cycles.by_tiles ? Sharing::kItems : Sharing::kTiles;
}

double GroupCost::Of(const GroupShape& shape) const {
  double cycles = 0;
  for (const LoopNest& nest : shape.nests) cycles += Of(nest);
  return cycles;
}

// The cost is the least of functions that are linear in the stage's cycles. So it grows at least as fast as
// for very many cycles. A line with that slope through the cost at 0 is never above it. Where this line meets
// the budget is the limit.
double GroupCost::LimitOf(GroupShape* shape, Stage* stage, double budget) const {
  constexpr double kMuch = 1e18;
  const double before = stage->cycles;
  stage->cycles = 0;
  const double others = Of(*shape);
  stage->cycles = kMuch;
  const double slope = Of(*shape) / kMuch;
  stage->cycles = before;
  return (budget - others) / slope;
}

}  // namespace kirsch
