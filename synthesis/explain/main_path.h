// SPDX-License-Identifier: Apache-2.0
// Finds the part of a program that takes most of the time, for texts that show one way through it.
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_MAIN_PATH_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_MAIN_PATH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "search/explain/explain.h"

namespace kirsch {

// The nodes from the root to the register tile that takes most of the time.
std::vector<const ExplainedNode*> MainPath(const std::vector<ExplainedNode>& nodes);

// True if the node at `place` is a tile, and the path goes on in whole tiles. False where it goes on in what
// is left of the dim: there the decision has split it.
bool IsTile(const std::vector<const ExplainedNode*>& path, size_t place);

// "tile_m_1" for the second such tile of m on the path, at `place`.
std::string TileName(const std::vector<const ExplainedNode*>& path, size_t place);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_MAIN_PATH_H_
