// Who uses what in a graph.
#ifndef KIRSCH_REWRITES_GRAPH_USES_H_
#define KIRSCH_REWRITES_GRAPH_USES_H_

#include <cstddef>
#include <vector>

#include "spec/graph.h"

namespace kirsch {

class GraphUses {
 public:
  explicit GraphUses(const Graph& graph);

  const Graph& graph() const { return graph_; }

  // The operations that take time, in their order: neither parameters, numbers, what nobody needs, nor views.
  const std::vector<int>& operations() const { return operations_; }

  // Is the node one of these, from place `first` to `end`?
  bool IsMadeIn(size_t first, size_t end, int node) const;

  // A transposed parameter or value that is only read by matmuls is no more than another way to read it.
  bool IsView(int node) const;
  // The node whose memory is read: the one that a view is of.
  int Stored(int node) const { return IsView(node) ? graph_.at(node).inputs[0] : node; }

  // The last of the operations, by place, that reads the node's memory; that it is the kernel's result counts
  // as one more, after all.
  int LastUse(int node) const { return last_use_[static_cast<size_t>(node)]; }
  // The number of operations that read it, or that return it.
  int NumUses(int node) const { return uses_[static_cast<size_t>(node)]; }

 private:
  const Graph& graph_;
  std::vector<bool> view_;
  std::vector<int> operations_, last_use_, uses_;
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_USES_H_
