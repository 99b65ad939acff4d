// SPDX-License-Identifier: Apache-2.0
// Finds the part of a program that takes most of the time, for texts that show one way through it.
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_MAIN_PATH_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_MAIN_PATH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "search/explain/explain.h"

namespace kirsch {

// The nodes from the root to a register tile: of each node's children, the costliest.
std::vector<const ExplainedNode*> MainPath(const std::vector<ExplainedNode>& nodes);

// "tile_m_1" for the second tile of m on the path, at `place`.
std::string TileName(const std::vector<const ExplainedNode*>& path, size_t place);

inline bool IsTile(const ExplainedNode& node) {
  const RewriteKind kind = node.impl->decision.kind;
  return kind == RewriteKind::kTile || kind == RewriteKind::kParallelTile;
}

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_MAIN_PATH_H_
