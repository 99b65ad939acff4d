// SPDX-License-Identifier: Apache-2.0
#include "codegen/samples/weight_scale.h"

#include <algorithm>
#include <cmath>

namespace kirsch {

double WeightScale(const Graph& graph, int parameter) {
  const Dtype dtype = graph.at(parameter).type.dtype;
  if (!IsFloating(dtype) || IsOfBlocks(dtype) || Bytes(dtype) == 1) return 1;
  double terms = 1;
  for (const GraphNode& node : graph.nodes) {
    if (Info(node.op).kind != OperationKind::kContraction) continue;
    int weights = node.inputs[1];
    if (graph.at(weights).op == Operation::kTranspose) weights = graph.at(weights).inputs[0];
    if (weights == parameter) terms = std::max(terms, TermsOf(graph, node));
  }
  return std::ldexp(1, -std::ilogb(terms) / 2);
}

}  // namespace kirsch
