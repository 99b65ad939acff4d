// SPDX-License-Identifier: Apache-2.0
// Makes the fusion graph, on which plans are paths. Its nodes are the sets of operations that may have been
// done; a fusion group leads from one such set to a larger one.
//
// Example, of three operations in a chain: the sets are {}, {a}, {a, b} and {a, b, c}. From {a} lead the
// groups {b} and {b, c}.
#ifndef KIRSCH_SEARCH_GRAPH_FUSION_GRAPH_H_
#define KIRSCH_SEARCH_GRAPH_FUSION_GRAPH_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "rewrites/analysis/fusion_group.h"
#include "rewrites/analysis/graph_uses.h"

namespace kirsch {

// The fusion graph of one graph of operations. Immutable, and so thread-safe.
class FusionGraph {
 public:
  // Finds at most `most` sets. A graph may have more, 2^n of n operations if no operation reads another. Then
  // only the prefixes of one order are sets, and all() is false.
  FusionGraph(const GraphUses& uses, size_t most);

  // The sets that contain, with an operation, all that it reads, and with a copy that is a result all other
  // operations. They ascend as numbers, so a set comes after
  // those that it contains: nothing first, all operations last.
  const std::vector<OperationSet>& done() const { return done_; }
  // True if these are all sets there are.
  bool all() const { return all_; }

  // The place of a set in done(); nothing if it is none of them.
  std::optional<size_t> Find(const OperationSet& set) const;

  // The sets from which one group leads to set number `end`, by their places, the smallest groups first. A
  // group has at most kMaxGroupOperations operations. It is connected: one of its operations reads what
  // another makes, or both read the same.
  const std::vector<size_t>& Before(size_t end) const { return before_[end]; }

  // An edge: the number of the set that it leads to, and its place in Before.
  struct Edge {
    size_t end, place;
  };
  // All edges that are the same group.
  absl::Span<const Edge> EdgesOf(const OperationSet& group) const {
    const auto edges = edges_.find(group);
    return edges == edges_.end() ? absl::Span<const Edge>() : edges->second;
  }

  // The operations whose results a group reads.
  OperationSet ReadBy(const OperationSet& group) const { return Union(reads_, group); }
  // True if nobody needs the group's results but these operations: not the caller, either.
  bool IsForOnly(const OperationSet& users, const OperationSet& group) const {
    return users.Contains(Union(users_, group)) && (group & returned_).empty();
  }

 private:
  static OperationSet Union(const std::vector<OperationSet>& of, const OperationSet& group);
  bool IsConnected(const OperationSet& group) const;
  // An order of all operations; `needs` gets what comes before each in every order.
  std::vector<size_t> OrderOf(const GraphUses& uses, std::vector<OperationSet>* needs) const;
  void Enumerate(const GraphUses& uses, size_t most);
  // `sizes`: those of the sets.
  std::vector<size_t> FindBefore(size_t end, const std::vector<size_t>& sizes) const;

  std::vector<OperationSet> reads_, users_, neighbours_;  // by operation
  OperationSet returned_;                                 // what makes the kernel's results
  std::vector<OperationSet> done_;
  std::vector<std::vector<size_t>> before_;  // by the number of the set
  absl::flat_hash_map<OperationSet, std::vector<Edge>> edges_;
  bool all_ = true;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_FUSION_GRAPH_H_
