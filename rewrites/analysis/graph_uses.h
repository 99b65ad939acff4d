// SPDX-License-Identifier: Apache-2.0
// Answers who reads which value of a graph. Operations, not nodes, are counted: a view takes no time, so
// whoever reads it is counted as a reader of the memory that it is a view of.
//
//   scores = matmul(q, transpose(k)):
//     operations()       {matmul}; the transpose is a view of k
//     Stored(transpose)  k
//     UsesOf(k)          {0}, the place of the matmul
#ifndef KIRSCH_REWRITES_ANALYSIS_GRAPH_USES_H_
#define KIRSCH_REWRITES_ANALYSIS_GRAPH_USES_H_

#include <cstddef>
#include <vector>

#include "rewrites/analysis/operation_set.h"
#include "spec/graph/graph.h"

namespace kirsch {

// Works all of it out once, when it is made; reading it is thread-safe. The graph must outlive it.
class GraphUses {
 public:
  explicit GraphUses(const Graph& graph);

  const Graph& graph() const { return graph_; }

  // The operations that take time, in the graph's order. Parameters, numbers, unneeded nodes, views, and
  // values that are constants are none of them.
  const std::vector<int>& operations() const { return operations_; }
  // The places of those among `operations`.
  OperationSet SetOf(const std::vector<int>& operations) const;

  // True if the node is a transposed parameter or value that only matmuls read. A matmul reads a transposed
  // operand by its columns, so no copy is needed. A transposed view of a view is none.
  bool IsView(int node) const;
  // Returns the node whose memory is read: for a view the one that it is a view of, else the node itself.
  int Stored(int node) const { return IsView(node) ? graph_.at(node).inputs[0] : node; }

  // The places of the operations that read the node's memory, ascending, each as often as it reads it. A
  // result of the kernel has one more entry, operations().size(), since the caller reads it after all
  // operations.
  const std::vector<size_t>& UsesOf(int node) const { return uses_[static_cast<size_t>(node)]; }

 private:
  const Graph& graph_;
  std::vector<bool> view_;
  std::vector<int> operations_;
  std::vector<std::vector<size_t>> uses_;
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_ANALYSIS_GRAPH_USES_H_
