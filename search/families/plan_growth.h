// SPDX-License-Identifier: Apache-2.0
// Which numbers of a plan grow with a number of rows: of tokens, or of queries.
#ifndef KIRSCH_SEARCH_FAMILIES_PLAN_GROWTH_H_
#define KIRSCH_SEARCH_FAMILIES_PLAN_GROWTH_H_

#include <cstdint>
#include <vector>

#include "spec/graph/graph.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// Expands the decisions of each group of `plan`, which is for so many rows, once more, for it and for
// `other`, the canonical graph of another number of rows. What grows in proportion from one to the other is a
// nest's rows, its items, or how far items are apart, and is marked in the plan; stages for what is left of
// tiles are made for any number of rows below a tile's. False: something else differs, or what grows is not
// known to; the plan is of no use then. `of_keys`: see NodesOfKeys, of both graphs.
bool MarkGrowth(int64_t rows, const Graph& other, int64_t other_rows, const std::vector<bool>& of_keys,
                const Target& target, Plan* plan);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_PLAN_GROWTH_H_
