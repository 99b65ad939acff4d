// SPDX-License-Identifier: Apache-2.0
// Constant folding: operations on constant parameters that are computed once, ahead of all calls: casts,
// scales, transposed weights. Internal to search/.
#ifndef KIRSCH_SEARCH_GRAPH_CONSTANT_FOLDING_H_
#define KIRSCH_SEARCH_GRAPH_CONSTANT_FOLDING_H_

#include <vector>

#include "spec/graph/graph.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// The operations of a canonical graph that may be folded, ascending: all that hang on nothing but
// constant parameters and numbers, but for contractions, what the kernel returns, and what has no plan.
std::vector<int> ConstantOperations(const Graph& graph, const Target& target);

// Every choice of them that has, with an operation, all that this one reads; the largest first. Of more than
// a few there are two: all and none.
std::vector<std::vector<int>> FoldingChoices(const Graph& graph, const std::vector<int>& operations);

// The graph with these operations constant: to the search of a plan they are parameters that are known ahead.
Graph WithConstants(const Graph& graph, const std::vector<int>& operations);

// Adds to the plan of such a graph what computes them, Plan::folded, and their buffers.
void FoldConstants(const Target& target, Plan* plan);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_CONSTANT_FOLDING_H_
