// SPDX-License-Identifier: Apache-2.0
// Says in which cache the values of a fusion group are: those that its stages read and write, and those that
// stay between them. Programs of contractions are searched for operands at certain levels, so this comes
// before all prices.
#ifndef KIRSCH_SEARCH_GRAPH_GROUP_LEVELS_H_
#define KIRSCH_SEARCH_GRAPH_GROUP_LEVELS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "rewrites/graph/group_shape.h"
#include "search/solver/search.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

enum class Workers : uint8_t {
  kOne,     // the plan is for one thread
  kShared,  // threads share the work
  kEach,    // each thread does all of it, for itself
};

// Places the values of one candidate for a group. Values between stages stay in the fastest level of which
// they take no more than half. Values that threads have made together are no closer than L3. The arguments
// must outlive it.
class GroupLevels {
 public:
  // `threads` work at the same time. `placement`: as PlanOptions has it.
  GroupLevels(const Graph& graph, const Target& target, Residency residency, std::optional<Level> placement,
              Workers workers, int threads);

  Workers workers() const { return workers_; }
  int threads() const { return threads_; }

  // True if tiles between stages could stay in L1. L1 need not be the better place: it keeps other operands
  // from the levels beyond (rewrites/README.md). So the search tries both.
  bool MayKeepInL1(const GroupShape& shape) const;

  // Places all buffers of the shape; those between its stages no closer than at `keep`.
  void Place(const GroupShape& shape, Level keep);
  // The level for a copy that all of the nest's tiles read, made of a matrix at `from`.
  Level LevelForCopy(const LoopNest& nest, Level from) const;
  // Sets where a copy is that one of the group's stages makes.
  void PlaceCopy(int value, Level level) { levels_[value] = level; }
  // Sets where a copy of a constant is that was made ahead of all calls: where the constant would be.
  void PlacePrepacked(int constant, int value) { levels_[value] = LevelOf(constant); }

  // The levels of a stage's operands, in their order.
  std::vector<Level> LevelsOf(const Stage& stage) const;
  // Sets the levels of the operands in a contraction's spec, and the threads that share it or work beside it.
  void PlaceSpec(const LoopNest& nest, Stage* stage) const;

  // Cycles for the data that the contraction's own cost leaves out, as its spec has them closer than they
  // come from. For a window, these are the elements that the tile has not in common with the tile before it.
  // For an operand that all tiles read, they are all its elements, divided evenly over the tiles.
  double FetchCycles(const LoopNest& nest, const Stage& stage) const;

 private:
  Level LevelOfBuffers(int64_t bytes, bool all = false) const;
  Level LevelOfBuffers(int64_t bytes, Level fastest, bool all) const;
  Level LevelOf(int value) const;
  Level PlacementOfPrepacked(const GroupShape& shape, int value) const;
  bool IsLocal(const Buffer& buffer) const;
  void MakeRoom(Spec* spec) const;

  const Graph& graph_;
  const Target& target_;
  const Workers workers_;
  const int threads_;
  const Residency residency_;
  const Level placement_;           // of the caller's values that are in caches: all are in the same one
  const std::vector<bool> in_ram_;  // of the graph's values that are placed
  Level fastest_ = Level::kL2;      // that values between stages may stay in
  std::map<int, Level> levels_;     // of the shape's buffers
  int64_t local_bytes_ = 0;         // of those that are tiles
};

// The fastest level that holds all that the caller of a graph's kernel hands over, apart from what is in RAM.
Level PlacementOf(const Graph& graph, Residency residency, const Target& target);

// True if one of the stages writes the value.
bool Makes(const std::vector<Stage>& stages, int value);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_GROUP_LEVELS_H_
