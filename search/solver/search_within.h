// SPDX-License-Identifier: Apache-2.0
// The search of a spec that is no root: another decided how many lines it may fill. Internal to search/ and
// to what asks for programs that begin with a given decision (shared_copy.h).
#ifndef KIRSCH_SEARCH_SOLVER_SEARCH_WITHIN_H_
#define KIRSCH_SEARCH_SOLVER_SEARCH_WITHIN_H_

#include "search/solver/search.h"

namespace kirsch {

// As Search, for the cheapest program of `spec` that fills at most `available` lines, which some program
// does.
SearchResult SearchWithin(const Spec& spec, Lines available, const CostModel& model, Memo& memo,
                          const SearchOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_SEARCH_WITHIN_H_
