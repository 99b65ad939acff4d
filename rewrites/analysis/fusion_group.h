// SPDX-License-Identifier: Apache-2.0
// Names the operations of a graph that are computed together, so that rewrites can ask how they hang
// together. A fusion group is an edge of the fusion graph (search/graph/fusion_graph.h), whose states are the
// sets of operations that have been done. Invariant: a group is convex, so nothing outside of it lies between
// two of its operations.
//
//   For softmax(matmul(q, k)), operations() of the graph are {matmul, softmax}:
//     set 0b01  the matmul alone; the scores are read by an operation elsewhere, so IsLocal(scores) is false
//     set 0b11  both together; IsLocal(scores) is true, and the scores may stay in a tile of scratch memory
#ifndef KIRSCH_REWRITES_ANALYSIS_FUSION_GROUP_H_
#define KIRSCH_REWRITES_ANALYSIS_FUSION_GROUP_H_

#include <cstddef>
#include <vector>

#include "rewrites/analysis/graph_uses.h"
#include "rewrites/analysis/operation_set.h"

namespace kirsch {

inline constexpr size_t kMaxGroupOperations = 16;  // of a group: the search looks at no larger ones

// A convex set of operations: each path between two of them stays inside. The caller keeps `uses`, and the
// graph that it is of, alive for as long as the group.
class FusionGroup {
 public:
  FusionGroup(const GraphUses& uses, const OperationSet& set);

  const GraphUses& uses() const { return uses_; }
  const Graph& graph() const { return uses_.graph(); }
  const OperationSet& set() const { return set_; }

  // The group's nodes, in the graph's order: each comes after those that it reads. A place is an index of
  // this list.
  const std::vector<int>& operations() const { return operations_; }
  size_t size() const { return operations_.size(); }
  int at(size_t place) const { return operations_[place]; }

  // True if the node is one of these, or one of those before a place.
  bool Makes(int node) const { return MakesBefore(size(), node); }
  bool MakesBefore(size_t place, int node) const;

  // Returns the place of the last operation that reads the node's memory; size() if an operation elsewhere
  // does, or if the node is a result of the kernel. A tile may be overwritten after its last use.
  size_t LastUse(int node) const;
  // True if the node is made here and nobody else needs it. Only such a value may be a tile in scratch
  // memory: all others have to be stored whole.
  bool IsLocal(int node) const { return Makes(node) && LastUse(node) < size(); }

 private:
  const GraphUses& uses_;
  const OperationSet set_;
  std::vector<int> operations_;
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_ANALYSIS_FUSION_GROUP_H_
