// SPDX-License-Identifier: Apache-2.0
#include "search/graph/key_nodes.h"

#include <algorithm>
#include <cstddef>

namespace kirsch {

std::vector<bool> NodesOfKeys(const Graph& graph, const Graph& other) {
  std::vector<bool> of_keys;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    of_keys.push_back(i >= other.nodes.size() || graph.nodes[i].type != other.nodes[i].type);
  return of_keys;
}

bool GoesByKeys(const FusionGroup& group, const std::vector<bool>& of_keys) {
  const auto is_of_keys = [&](int node) { return of_keys[static_cast<size_t>(node)]; };
  return !of_keys.empty() && std::any_of(group.operations().begin(), group.operations().end(), [&](int node) {
    const std::vector<int>& inputs = group.graph().at(node).inputs;
    return is_of_keys(node) || std::any_of(inputs.begin(), inputs.end(), is_of_keys);
  });
}

}  // namespace kirsch
