// SPDX-License-Identifier: Apache-2.0
// Operations that go by rows, without a contraction -> row programs over tiles of rows, or over parts of one
// row.
#ifndef KIRSCH_REWRITES_GRAPH_ROWS_H_
#define KIRSCH_REWRITES_GRAPH_ROWS_H_

#include <string_view>
#include <vector>

#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/graph_rewrite.h"

namespace kirsch {

// All of the group by rows of the space, by elements of a flat one, in tiles: as GraphRewrite::enumerate and
// ::expand have it. `pieces`: what an error calls those.
std::vector<RewriteParameters> TilesOfRows(const GroupProblem& problem, const IterationSpace& space);
GroupShape GroupOfRows(const GroupProblem& problem, const IterationSpace& space, const GroupForm& form,
                       std::string_view pieces);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ROWS_H_
