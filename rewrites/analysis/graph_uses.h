// SPDX-License-Identifier: Apache-2.0
// Who uses what in a graph.
#ifndef KIRSCH_REWRITES_ANALYSIS_GRAPH_USES_H_
#define KIRSCH_REWRITES_ANALYSIS_GRAPH_USES_H_

#include <cstddef>
#include <vector>

#include "spec/graph/graph.h"

namespace kirsch {

class GraphUses {
 public:
  explicit GraphUses(const Graph& graph);

  const Graph& graph() const { return graph_; }

  // The operations that take time, in their order: neither parameters, numbers, what nobody needs, nor views.
  const std::vector<int>& operations() const { return operations_; }

  // A transposed parameter or value that is only read by matmuls is no more than another way to read it.
  bool IsView(int node) const;
  // The node whose memory is read: the one that a view is of.
  int Stored(int node) const { return IsView(node) ? graph_.at(node).inputs[0] : node; }

  // The operations, by place and ascending, that read the node's memory, each as often as it does; that it is
  // the kernel's result counts as one more, after all.
  const std::vector<size_t>& UsesOf(int node) const { return uses_[static_cast<size_t>(node)]; }

 private:
  const Graph& graph_;
  std::vector<bool> view_;
  std::vector<int> operations_;
  std::vector<std::vector<size_t>> uses_;
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_ANALYSIS_GRAPH_USES_H_
