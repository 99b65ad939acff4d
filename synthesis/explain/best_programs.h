// SPDX-License-Identifier: Apache-2.0
// The K cheapest programs of a spec, or plans of a graph: explain --best.
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_BEST_PROGRAMS_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_BEST_PROGRAMS_H_

#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "search/ranking/k_best.h"
#include "search/ranking/k_best_plans.h"
#include "synthesis/family.h"

namespace kirsch {

using Best = std::variant<KBestResult, KBestPlansResult>;

// Of what is one spec or graph, no family, and was searched for as `arguments` say; else InvalidArgument.
// Stopped by the observer, it ends with as many as are known. `memo`: of that search.
absl::StatusOr<Best> BestPrograms(const SolveArguments& arguments, const FamilySynthesis& synthesis,
                                  Memo& memo, const RankOptions& rank);

// A line for each: rank, cycles, how much above the best, and where it first departs from that; or, if one
// before it does the same there, from that one.
std::string BestText(const Best& best);

// One of them, beside the best.
struct BestEntry {
  std::string schedule;
  double cycles = 0, above = 0;  // `above`: a fraction of the best's cost
  // Where it first departs from the best, or from one before it that does the same there: by that one's
  // place. No two depart in the same way; the first departs from none.
  std::variant<std::monostate, Departure, PlanDeparture> departure;
  size_t from = 0;
};
std::vector<BestEntry> MakeEntries(const Best& best);

size_t ProgramCount(const Best& best);

// All that would be as cheap are among them.
bool IsComplete(const Best& best);

// Seconds that it took to find them.
double SecondsOf(const Best& best);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_BEST_PROGRAMS_H_
