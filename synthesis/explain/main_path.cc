// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/main_path.h"

#include "spec/text/cat.h"

namespace kirsch {

std::vector<const ExplainedNode*> MainPath(const std::vector<ExplainedNode>& nodes) {
  std::vector<const ExplainedNode*> path;
  const auto cycles = [](const ExplainedNode& node) { return node.weight * ToCycles(node.cost); };
  for (size_t at = 0; at < nodes.size();) {
    path.push_back(&nodes[at]);
    size_t next = nodes.size();
    for (size_t i = at + 1; i < nodes.size() && nodes[i].depth > nodes[at].depth; ++i)
      if (nodes[i].depth == nodes[at].depth + 1 &&
          (next == nodes.size() || cycles(nodes[i]) > cycles(nodes[next])))
        next = i;
    at = next;
  }
  return path;
}

std::string TileName(const std::vector<const ExplainedNode*>& path, size_t place) {
  const uint8_t dim = path[place]->impl->decision.dim;
  int number = 0;
  for (size_t i = 0; i < place; ++i) number += IsTile(*path[i]) && path[i]->impl->decision.dim == dim ? 1 : 0;
  return Cat("tile_", path[place]->impl->spec.op_info().dims[dim].name, "_", number);
}

}  // namespace kirsch
