// SPDX-License-Identifier: Apache-2.0
// Finds the numbers of a plan that grow with a number of rows, or of columns, so that one plan serves any
// number of them. Rows are tokens, or queries.
#ifndef KIRSCH_SEARCH_FAMILIES_PLAN_GROWTH_H_
#define KIRSCH_SEARCH_FAMILIES_PLAN_GROWTH_H_

#include <cstdint>
#include <vector>

#include "spec/graph/graph.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// Two values of a symbol: the one that a plan is for, and another one.
struct GrowingSymbol {
  SizeSymbol symbol = SizeSymbol::kRows;
  int64_t planned = 1, other = 1;
};

// Replaces the numbers of `plan` that grow with a symbol by sizes, and adds it to Plan::symbols. It expands
// the decisions of each group twice: for the plan's graph, and for `other`, the canonical graph of the
// symbol's other value. Numbers that differ must grow in proportion. They are a nest's rows, its items, or
// how far items are apart; or the columns of row programs, and nothing else of kColumns. Stages for what is
// left of tiles are made for any number of rows below a tile's.
//
// Example, from 64 rows to 65: a nest of 64 rows becomes one of 65, so its rows are 1 * kRows. If it became
// one of 70, the plan would be no rule.
//
// Returns false if something else differs, or if there is no code for what grows; then the plan is of no use.
// `of_keys`: as NodesOfKeys has it, for both graphs.
bool MarkGrowth(const GrowingSymbol& growing, const Graph& other, const std::vector<bool>& of_keys,
                const Target& target, Plan* plan);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_PLAN_GROWTH_H_
