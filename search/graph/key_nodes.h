// SPDX-License-Identifier: Apache-2.0
// What of a graph has the number of keys: where that number is to be any, rewrites are told.
#ifndef KIRSCH_SEARCH_GRAPH_KEY_NODES_H_
#define KIRSCH_SEARCH_GRAPH_KEY_NODES_H_

#include <vector>

#include "rewrites/analysis/fusion_group.h"
#include "spec/graph/graph.h"

namespace kirsch {

// By node: is its type another one in `other`, the same kernel's canonical graph for another number of keys?
std::vector<bool> NodesOfKeys(const Graph& graph, const Graph& other);

// Does the group read or make such a node? `of_keys` may be empty: then there is none.
bool GoesByKeys(const FusionGroup& group, const std::vector<bool>& of_keys);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_KEY_NODES_H_
