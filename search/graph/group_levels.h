// SPDX-License-Identifier: Apache-2.0
// Where the values of a fusion group are: what its stages read and write, and what stays between them.
#ifndef KIRSCH_SEARCH_GRAPH_GROUP_LEVELS_H_
#define KIRSCH_SEARCH_GRAPH_GROUP_LEVELS_H_

#include <cstdint>
#include <map>
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

// The arguments outlive it. Values between stages stay in the fastest level of which they take no more than a
// half; what threads have made together is no closer than L3.
class GroupLevels {
 public:
  // `threads` work at the same time.
  GroupLevels(const Graph& graph, const Target& target, Residency residency, Workers workers, int threads);

  Workers workers() const { return workers_; }
  int threads() const { return threads_; }

  // Could tiles between stages stay in L1? What is there keeps others from the levels beyond
  // (rewrites/README.md), so that it need not be the better place.
  bool MayKeepInL1(const GroupShape& shape) const;

  // Places all that the shape makes; between its stages no closer than at `keep`.
  void Place(const GroupShape& shape, Level keep);
  // Where a copy for all of the nest's tiles may be, of what is at `from`.
  Level LevelForCopy(const LoopNest& nest, Level from) const;
  void PlaceCopy(int value, Level level) { levels_[value] = level; }
  // What is made of a constant ahead of all calls: it is placed where that would be, whoever reads it.
  void PlacePrepacked(int constant, int value) { levels_[value] = LevelOf(constant); }

  std::vector<Level> LevelsOf(const Stage& stage) const;
  // Says in a contraction's spec where its operands are, and who shares it.
  void PlaceSpec(const LoopNest& nest, Stage* stage) const;

  // What it takes to fetch, beside what the spec's cost has in it, the elements that a tile of a window has
  // not in common with the one before it; and, shared out to all tiles, those that stay from the first on.
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
  const Level placement_;        // of those of the caller's values that are in caches
  Level fastest_ = Level::kL2;   // that values between stages may stay in
  std::map<int, Level> levels_;  // of the shape's buffers
  int64_t local_bytes_ = 0;      // of those that are tiles
};

// The fastest level that holds all that the caller of a graph's kernel hands over, but for what is in RAM.
Level PlacementOf(const Graph& graph, Residency residency, const Target& target);

// Does one of the stages write the value?
bool Makes(const std::vector<Stage>& stages, int value);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_GROUP_LEVELS_H_
