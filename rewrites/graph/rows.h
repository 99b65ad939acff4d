// SPDX-License-Identifier: Apache-2.0
// Computes operations that go by rows, without a contraction, as row programs over tiles of rows, or over
// parts of one row.
//
//   before -> after, for x: f32[1024,256] and tiles of 128 rows:
//     softmax(x * 2)  ->  a nest of 8 tiles; its stage is a row program for 128 rows of 256
#ifndef KIRSCH_REWRITES_GRAPH_ROWS_H_
#define KIRSCH_REWRITES_GRAPH_ROWS_H_

#include <string_view>
#include <vector>

#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/graph_rewrite.h"

namespace kirsch {

// These do what GraphRewrite::enumerate and ::expand do, for all of the group in the space: by rows; or by
// elements of a flat space. `pieces` is what an error calls those.
std::vector<RewriteParameters> TilesOfRows(const GroupProblem& problem, const IterationSpace& space);
GroupShape GroupOfRows(const GroupProblem& problem, const IterationSpace& space, const GroupForm& form,
                       std::string_view pieces);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ROWS_H_
