// SPDX-License-Identifier: Apache-2.0
// A pinned schedule instead of a search: to try a program by hand, and to run a program again.
#ifndef KIRSCH_SEARCH_SOLVER_REPLAY_H_
#define KIRSCH_SEARCH_SOLVER_REPLAY_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/solver/search.h"
#include "spec/language/schedule.h"

namespace kirsch {

// The program that `schedule` makes of `placed_root`, at the cost the search would give it; what it leaves
// open is searched. `file` is what errors call the schedule: InvalidArgument, one line with the place of the
// decision that is not in the rewrite space of its spec or whose tile does not fit. The result's bound is
// that of the spec, not of the schedule.
absl::StatusOr<SearchResult> Replay(const Spec& placed_root, const Schedule& schedule, std::string_view file,
                                    const CostModel& model, Memo& memo, const SearchOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_REPLAY_H_
