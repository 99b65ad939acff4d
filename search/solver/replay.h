// SPDX-License-Identifier: Apache-2.0
// Builds the program that a pinned schedule describes, instead of searching for one. Use it to try a program
// by hand, or to run one again.
#ifndef KIRSCH_SEARCH_SOLVER_REPLAY_H_
#define KIRSCH_SEARCH_SOLVER_REPLAY_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/solver/search.h"
#include "spec/language/schedule.h"

namespace kirsch {

// Returns the program that `schedule` makes of `placed_root`, at the cost that the search would give it.
// Subtrees that the schedule leaves open are searched: `search` in the text, or no line at all.
//
// The bound of the result is the spec's closed form: it does not say how good the schedule is within its own
// choices. An error is InvalidArgument, one line with the place of the decision. Either it is not in the
// rewrite space of its spec, or its tile does not fit, or there are too many decisions below it. `file`: what
// errors call the schedule.
absl::StatusOr<SearchResult> Replay(const Spec& placed_root, const Schedule& schedule, std::string_view file,
                                    const CostModel& model, Memo& memo, const SearchOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_REPLAY_H_
