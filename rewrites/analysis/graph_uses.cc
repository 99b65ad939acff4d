// SPDX-License-Identifier: Apache-2.0
#include "rewrites/analysis/graph_uses.h"

#include <algorithm>

namespace kirsch {

GraphUses::GraphUses(const Graph& graph)
    : graph_(graph), view_(graph.nodes.size()), uses_(graph.nodes.size()) {
  // First backwards, from the results to the inputs: a node is needed if one that is needed reads it. By the
  // time a node is reached, all its readers have been seen, so it is known whether only matmuls read it.
  std::vector<bool> needed(graph.nodes.size()), only_matmuls(graph.nodes.size(), true);
  for (const GraphResult& result : graph.results) {
    needed[static_cast<size_t>(result.value)] = true;
    only_matmuls[static_cast<size_t>(result.value)] = false;
  }
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const GraphNode& node = graph.nodes[i];
    if (node.constant) continue;  // it is there already
    for (int input : node.inputs) {
      needed[static_cast<size_t>(input)] = true;
      if (node.op != Operation::kMatmul) only_matmuls[static_cast<size_t>(input)] = false;
    }
    view_[i] = node.op == Operation::kTranspose && only_matmuls[i] &&
               graph.at(node.inputs[0]).op != Operation::kTranspose;
  }
  // Then forwards, so that operations and their uses are in the graph's order.
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (needed[i] && !view_[i] && !graph.nodes[i].constant &&
        Info(graph.nodes[i].op).kind != OperationKind::kLeaf)
      operations_.push_back(static_cast<int>(i));
  const auto use = [&](int node, size_t place) { uses_[static_cast<size_t>(Stored(node))].push_back(place); };
  for (size_t place = 0; place < operations_.size(); ++place)
    for (int input : graph.at(operations_[place]).inputs) use(input, place);
  // The caller is the last reader of a result. That keeps it out of every group's local values.
  for (const GraphResult& result : graph.results) use(result.value, operations_.size());
}

OperationSet GraphUses::SetOf(const std::vector<int>& operations) const {
  OperationSet set;
  for (size_t place = 0; place < operations_.size(); ++place)
    if (std::ranges::find(operations, operations_[place]) != operations.end()) set |= OperationSet::Of(place);
  return set;
}

bool GraphUses::IsView(int node) const { return view_[static_cast<size_t>(node)]; }

}  // namespace kirsch
