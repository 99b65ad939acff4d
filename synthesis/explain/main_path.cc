// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/main_path.h"

#include <algorithm>

#include "spec/text/cat.h"

namespace kirsch {

std::vector<const ExplainedNode*> MainPath(const std::vector<ExplainedNode>& nodes) {
  const auto cycles = [](const ExplainedNode& node) {
    return node.tile ? node.weight * ToCycles(node.cost) : -1;
  };
  auto at = std::ranges::max_element(
      nodes, [&](const ExplainedNode& a, const ExplainedNode& b) { return cycles(a) < cycles(b); });
  // Nodes are in program order, so a node's parent is the last one before it that is less deep.
  std::vector<const ExplainedNode*> path = {&*at};
  while (at != nodes.begin())
    if (--at; at->depth < path.back()->depth) path.push_back(&*at);
  std::ranges::reverse(path);
  return path;
}

bool IsTile(const std::vector<const ExplainedNode*>& path, size_t place) {
  const Decision& decision = path[place]->impl->decision;
  return (decision.kind == RewriteKind::kTile || decision.kind == RewriteKind::kParallelTile) &&
         path[place + 1]->impl->spec.size[decision.dim] == decision.size;
}

std::string TileName(const std::vector<const ExplainedNode*>& path, size_t place) {
  const uint8_t dim = path[place]->impl->decision.dim;
  int number = 0;
  for (size_t i = 0; i < place; ++i) number += IsTile(path, i) && path[i]->impl->decision.dim == dim ? 1 : 0;
  return Cat("tile_", path[place]->impl->spec.op_info().dims[dim].name, "_", number);
}

}  // namespace kirsch
