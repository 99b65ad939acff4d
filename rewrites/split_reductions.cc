#include "rewrites/split_reductions.h"

#include <utility>
#include <vector>

namespace kirsch {
namespace {

// Runs of neighbouring axes, the last one first.
std::vector<std::vector<uint32_t>> Runs(const std::vector<uint32_t>& axes) {
  std::vector<std::vector<uint32_t>> runs;
  for (uint32_t axis : axes) {
    if (runs.empty() || runs.front().back() + 1 != axis) runs.insert(runs.begin(), std::vector<uint32_t>());
    runs.front().push_back(axis);
  }
  return runs;
}

}  // namespace

Graph SplitReductions(const Graph& graph) {
  Graph split{graph.name, {}, 0};
  std::vector<int> places;  // of the graph's nodes
  const auto place = [&](int node) { return places[static_cast<size_t>(node)]; };
  for (const GraphNode& at : graph.nodes) {
    GraphNode node = at;
    for (int& input : node.inputs) input = place(input);
    if (Info(at.op).kind == OperationKind::kReduction) {
      node.type = graph.at(at.inputs[0]).type;
      node.type.dtype = at.type.dtype;
      for (std::vector<uint32_t>& axes : Runs(at.axes)) {
        for (uint32_t axis : axes) node.type.dims[axis] = 1;
        node.axes = std::move(axes);
        split.nodes.push_back(node);
        node.inputs = {static_cast<int>(split.nodes.size()) - 1};
      }
    } else {
      split.nodes.push_back(std::move(node));
    }
    places.push_back(static_cast<int>(split.nodes.size()) - 1);
  }
  split.result = place(graph.result);
  return split;
}

}  // namespace kirsch
