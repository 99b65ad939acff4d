// SPDX-License-Identifier: Apache-2.0
// Searches a spec that is not a root: its caller says how many lines it may fill. Internal to search/, and to
// callers that ask for programs which begin with a given decision (search/families/shared_copy.h).
#ifndef KIRSCH_SEARCH_SOLVER_SEARCH_WITHIN_H_
#define KIRSCH_SEARCH_SOLVER_SEARCH_WITHIN_H_

#include "search/solver/search.h"

namespace kirsch {

// As Search, for the cheapest program of `spec` that fills at most `available` lines. Precondition: some
// program does.
SearchResult SearchWithin(const Spec& spec, Lines available, const CostModel& model, Memo& memo,
                          const SearchOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_SEARCH_WITHIN_H_
