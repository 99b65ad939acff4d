// SPDX-License-Identifier: Apache-2.0
// For tuning: programs that differ from the best in an outer choice, each the cheapest of its kind.
#ifndef KIRSCH_SEARCH_RANKING_OUTER_CHOICES_H_
#define KIRSCH_SEARCH_RANKING_OUTER_CHOICES_H_

#include <vector>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/solver/search.h"
#include "spec/impl.h"

namespace kirsch {

struct OuterChoice {
  Impl impl;
  Cost cost = kInfiniteCost;
};

// At each node on the way from the root of `best`, the cheapest program, to the register tile that does most
// of the work: of each kind of decision that is not the one taken there (which dim is tiled, which operand is
// moved or packed where and how, which form the register tile has), the cheapest program, all else above
// being as it is; none that costs a quarter more than what it replaces. By cost; some may be the same code.
// Stops early, with what it has, where `options` say so.
std::vector<OuterChoice> OuterChoices(const Impl& best, Cost cost, const CostModel& model, Memo& memo,
                                      const SearchOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_OUTER_CHOICES_H_
