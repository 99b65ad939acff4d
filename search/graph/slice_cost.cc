#include "search/graph/slice_cost.h"

#include <algorithm>
#include <vector>

namespace kirsch {
namespace {

double Sum(const std::vector<Stage>& stages) {
  double sum = 0;
  for (const Stage& stage : stages) sum += stage.cycles;
  return sum;
}

double OfTiles(const Group& group) {
  return static_cast<double>(group.trips()) * Sum(group.stages) + Sum(group.rest);
}

}  // namespace

SliceCost::Ways SliceCost::Shared(const Group& group) const {
  const auto share = [&](int64_t tasks) {
    return static_cast<double>((tasks + threads_ - 1) / threads_) / static_cast<double>(tasks);
  };
  const auto batch = static_cast<double>(group.batch);
  const double before = Sum(group.before), once = Sum(group.once), tiles = OfTiles(group);
  return {before + batch * (once + tiles) * share(group.batch),
          before + batch * once + batch * tiles * share(group.batch * group.tiles())};
}

double SliceCost::Of(const Group& group) const {
  if (group.sharing != Sharing::kTiles && group.sharing != Sharing::kItems)
    return Sum(group.before) + static_cast<double>(group.batch) * (Sum(group.once) + OfTiles(group));
  const Ways ways = Shared(group);
  return std::min(ways.by_items, ways.by_tiles);
}

Sharing SliceCost::Best(const Group& group) const {
  if (group.sharing != Sharing::kTiles && group.sharing != Sharing::kItems) return group.sharing;
  const Ways ways = Shared(group);
  return ways.by_items <= ways.by_tiles ? Sharing::kItems : Sharing::kTiles;
}

double SliceCost::Of(const GroupShape& shape) const {
  double cycles = 0;
  for (const Group& group : shape.groups) cycles += Of(group);
  return cycles;
}

// The cost is the least of functions that are linear in the stage's cycles, so that it grows by no less than
// it does in the end.
double SliceCost::LimitOf(GroupShape* shape, Stage* stage, double budget) const {
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
