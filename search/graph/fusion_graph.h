// SPDX-License-Identifier: Apache-2.0
// The fusion graph: which sets of operations may have been done, and which fusion groups lead from one such
// set to the next.
#ifndef KIRSCH_SEARCH_GRAPH_FUSION_GRAPH_H_
#define KIRSCH_SEARCH_GRAPH_FUSION_GRAPH_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "rewrites/analysis/fusion_group.h"
#include "rewrites/analysis/graph_uses.h"

namespace kirsch {

class FusionGraph {
 public:
  // At most `most` sets: of a graph that has more, only those that the order of its operations has.
  FusionGraph(const GraphUses& uses, size_t most);

  // The sets that have with an operation all that it reads, ascending, so that a set comes after those that
  // it contains: nothing first, all operations last.
  const std::vector<OperationSet>& done() const { return done_; }
  bool all() const { return all_; }

  // The number of a set; nothing if it is none.
  std::optional<size_t> Find(OperationSet set) const;

  // Those from which a group leads to set number `end`: connected operations, whether one reads what the
  // other makes or both read the same. The smallest groups first.
  const std::vector<size_t>& Before(size_t end) const { return before_[end]; }

  // The operations whose results some operations read; those that read theirs (and kReturned).
  OperationSet ReadBy(OperationSet group) const { return Union(reads_, group); }
  OperationSet UsersOf(OperationSet group) const { return Union(users_, group); }
  static constexpr OperationSet kReturned = OperationSet{1} << kMaxOperations;

 private:
  static OperationSet Union(const std::vector<OperationSet>& of, OperationSet group);
  bool IsConnected(OperationSet group) const;
  void Enumerate(size_t most);
  std::vector<size_t> FindBefore(size_t end) const;

  std::vector<OperationSet> reads_, users_, neighbours_;  // by operation
  std::vector<OperationSet> done_;
  std::vector<std::vector<size_t>> before_;  // by the number of the set
  bool all_ = true;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_FUSION_GRAPH_H_
