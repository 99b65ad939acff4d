// SPDX-License-Identifier: Apache-2.0
// Folds constants: operations on constant parameters alone are computed once, ahead of all calls. Examples
// are casts, scales and transposed weights. Internal to search/.
//
// Not every fold pays. Weights widened ahead take more memory than narrow ones, so the search compares the
// choices (plan_search.h).
#ifndef KIRSCH_SEARCH_GRAPH_CONSTANT_FOLDING_H_
#define KIRSCH_SEARCH_GRAPH_CONSTANT_FOLDING_H_

#include <vector>

#include "spec/graph/graph.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// Returns the operations of a canonical graph that may be folded, ascending. They depend on nothing but
// constant parameters and numbers. Left out are contractions, the kernel's result, and operations for which
// there is no plan.
std::vector<int> ConstantOperations(const Graph& graph, const Target& target);

// Returns the choices of operations to fold, the largest first. A choice that has an operation also has the
// folded operations that this one reads. With more than a few operations there are two choices: all and none.
//
// Example, of `cast(w)` and `scale(cast(w))`: both, the cast alone, and none; never the scale alone.
std::vector<std::vector<int>> FoldingChoices(const Graph& graph, const std::vector<int>& operations);

// Returns the graph with these operations marked as constant. The search of a plan then sees parameters that
// are known ahead.
Graph WithConstants(const Graph& graph, const std::vector<int>& operations);

// Adds to the plan of such a graph what computes these values: Plan::folded, and their buffers.
void FoldConstants(const Target& target, Plan* plan);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_CONSTANT_FOLDING_H_
