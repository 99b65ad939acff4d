// SPDX-License-Identifier: Apache-2.0
// Finds the nodes of a graph that have the number of keys. If a plan is to be for any number of keys,
// rewrites must know them.
#ifndef KIRSCH_SEARCH_GRAPH_KEY_NODES_H_
#define KIRSCH_SEARCH_GRAPH_KEY_NODES_H_

#include <vector>

#include "rewrites/analysis/fusion_group.h"
#include "spec/graph/graph.h"

namespace kirsch {

// For each node: true if its type differs in `other`, which is the canonical graph of the same kernel for
// another number of keys.
std::vector<bool> NodesOfKeys(const Graph& graph, const Graph& other);

// True if the group reads or makes such a node. `of_keys` may be empty: then there is none.
bool GoesByKeys(const FusionGroup& group, const std::vector<bool>& of_keys);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_KEY_NODES_H_
