// SPDX-License-Identifier: Apache-2.0
// A fusion group: operations of a graph that are computed together. It is an edge of the fusion graph
// (search/graph/fusion_graph.h), whose states are the operations that have been done.
#ifndef KIRSCH_REWRITES_ANALYSIS_FUSION_GROUP_H_
#define KIRSCH_REWRITES_ANALYSIS_FUSION_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rewrites/analysis/graph_uses.h"

namespace kirsch {

// Operations of a graph: bit i is the one at place i of GraphUses::operations.
using OperationSet = uint32_t;

// More operations are refused.
inline constexpr size_t kMaxOperations = 16;

// A convex set of operations: each path between two of them stays inside. What `uses` is of outlives it.
class FusionGroup {
 public:
  FusionGroup(const GraphUses& uses, OperationSet set);

  const GraphUses& uses() const { return uses_; }
  const Graph& graph() const { return uses_.graph(); }
  OperationSet set() const { return set_; }

  // The nodes, in the graph's order: each behind those that it reads.
  const std::vector<int>& operations() const { return operations_; }
  size_t size() const { return operations_.size(); }
  int at(size_t place) const { return operations_[place]; }

  // Is the node one of these, or of those before a place?
  bool Makes(int node) const { return MakesBefore(size(), node); }
  bool MakesBefore(size_t place, int node) const;

  // The place of the last operation that reads the node's memory; size() if one elsewhere does.
  size_t LastUse(int node) const;
  // Is it made here, and needed by nobody else?
  bool IsLocal(int node) const { return Makes(node) && LastUse(node) < size(); }

 private:
  const GraphUses& uses_;
  const OperationSet set_;
  std::vector<int> operations_;
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_ANALYSIS_FUSION_GROUP_H_
