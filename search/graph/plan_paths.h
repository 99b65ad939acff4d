// SPDX-License-Identifier: Apache-2.0
// Finds plans as shortest paths: from nothing done to all operations done, one step after the other.
//
// With several threads, a path also has phases. Groups of one phase don't wait for each other. Example: `a`
// and `b` read parameters only, and `c` reads both. Then `a` and `b` are in one phase, and `c` begins the
// next, at `barrier_cycles`.
#ifndef KIRSCH_SEARCH_GRAPH_PLAN_PATHS_H_
#define KIRSCH_SEARCH_GRAPH_PLAN_PATHS_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cost/cost.h"
#include "search/graph/fusion_graph.h"
#include "search/graph/group_levels.h"
#include "spec/check.h"

namespace kirsch {

// A group, and who computes it: what a price is asked for.
using GroupQuestion = std::pair<OperationSet, Workers>;

// An edge of a path, from one set of operations that are done to another, by their places in
// FusionGraph::done. It has several groups if threads repeat operations: first those that each thread does
// for itself, last the one that they share.
struct PlanStep {
  size_t from = 0, end = 0;
  absl::InlinedVector<GroupQuestion, 2> groups;
  bool waits = false;  // a phase begins with it
};

// Steps from nothing done to all done, and what they take together.
struct PlanPath {
  double cycles = std::numeric_limits<double>::infinity();  // there is none
  std::vector<PlanStep> steps;
};

struct PathOptions {
  int threads = 1;
  double barrier_cycles = 0;  // what a phase costs that is not the first
  bool fuse = true;           // false: groups have one operation each
  OperationSet banned = {};   // a group that no step may have; empty: none
  size_t count = 1;           // so many paths are looked for
};

// Searches by dynamic programming. A state is the operations that are done, and those that were done when the
// current phase began. With several threads, a group waits for all groups before it if it reads what one of
// this phase makes.
class PlanPaths {
 public:
  // The cycles of a group, or a bound; infinity: it can't be computed. Must outlive the paths, as `graph`
  // must.
  using Length = std::function<absl::StatusOr<double>(const GroupQuestion&)>;

  PlanPaths(const FusionGraph& graph, const PathOptions& options, const Length& length)
      : fusion_graph_(graph), options_(options), length_(length) {
    KIRSCH_CHECK(options.count > 0);
  }

  // Returns the shortest paths that begin with the steps `first`, by length. If there are fewer than asked
  // for, there are no more. Of equal paths always the same one comes first. An error is that of `length`.
  absl::StatusOr<std::vector<PlanPath>> Shortest(const std::vector<PlanStep>& first);
  // Returns what Shortest would, if since the last call no lengths have changed but those of these groups,
  // and they have only grown. It looks again at those sets alone whose paths go through one of the groups.
  absl::StatusOr<std::vector<PlanPath>> ShortestAgain(const std::vector<GroupQuestion>& longer);

 private:
  // The last step of a path to some state, and how to find the rest of the path.
  struct State {
    double cycles = 0;
    OperationSet begin;  // what the phase of the state before began after
    size_t rank = 0;     // that state's, of those with the same operations done and the same beginning
    PlanStep step;       // from there
  };
  using States = std::vector<State>;                   // the shortest paths, by length
  using StatesOfSet = std::map<OperationSet, States>;  // by what the phase began after

  absl::Status ReachAll(size_t end);
  GroupQuestion GroupBetween(Workers workers, size_t from, size_t end) const {
    return {fusion_graph_.done()[end] - fusion_graph_.done()[from], workers};
  }
  absl::StatusOr<double> LengthOf(Workers workers, size_t from, size_t end, size_t edge,
                                  std::vector<double>* lengths);
  absl::Status ReachRepeating(size_t last, size_t end, double cycles);
  void Reach(size_t from, size_t end, absl::Span<const GroupQuestion> groups, double cycles);
  void DropLongerPaths(StatesOfSet* states) const;
  // Is a path of this length among the shortest to a state?
  bool IsAmong(const States& shortest, double cycles) const {
    return shortest.size() < options_.count || cycles < shortest.back().cycles;
  }
  // True if there is no step of so many cycles, or any path by it would be dropped (DropLongerPaths). One
  // thread never waits.
  bool IsTooLong(size_t from, size_t end, double cycles) const {
    if (cycles >= kInfiniteCycles) return true;
    const double saved = options_.threads > 1 ? options_.barrier_cycles : 0;
    return options_.count == 1 && least_[from] + cycles > least_[end] + saved;
  }
  // Can a path go on from there?
  bool MayStart(size_t from) const { return least_[from] < kInfiniteCycles; }
  void Insert(State state, States* states) const;
  std::vector<PlanPath> PathsTo(size_t set) const;

  const FusionGraph& fusion_graph_;
  const PathOptions options_;
  const Length& length_;
  size_t start_ = 0;                 // the set that the given steps lead to
  std::vector<StatesOfSet> states_;  // by the set's number
  std::vector<double> least_;        // cycles of the shortest path to each set, if it has all given steps
  // By the set's number, and by those of FusionGraph::Before: the group's length as it was asked for last.
  // Repeated groups, which each thread computes for itself, have lengths of their own.
  std::vector<std::vector<double>> lengths_, lengths_of_repeated_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_PLAN_PATHS_H_
