// SPDX-License-Identifier: Apache-2.0
// Lists the K cheapest programs of a spec, or plans of a graph, so that people see what the best one competes
// with: `explain --best`.
//     rank         cycles      above  first departs from the best
//        1        18419.4   +0.0000%
//        2        18609.4   +1.0315%  at 0.0.0.0: tile m 4, not tile n 16  # matmul f32 6x64x64 ...
//        3        18809.4   +2.1174%  at 0: tile n 32, not tile m 6  # matmul f32 64x64x64 ...
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

// Ranks the programs of a single spec or graph that was searched for. InvalidArgument for a family, and for a
// program that follows a schedule. If the observer stops it, the result has as many programs as are known by
// then. `memo`: of the search for `synthesis`.
absl::StatusOr<Best> BestPrograms(const SolveArguments& arguments, const FamilySynthesis& synthesis,
                                  Memo& memo, const RankOptions& rank);

// Prints a line for each program: its rank, its cycles, how much more than the best that is, and where it
// first departs from the best. If an earlier program departs there in the same way, the line says where the
// two differ.
std::string BestText(const Best& best);

// One program of the list, for reports as data.
struct BestEntry {
  std::string schedule;
  double cycles = 0, above = 0;  // `above`: a fraction of the best's cost
  // The first place where it departs from the program number `from`, counted from 0. That is the best
  // program, or another one before this entry, which departs from the best in the same way. No two entries
  // say the same. The first entry departs from none.
  std::variant<std::monostate, Departure, PlanDeparture> departure;
  size_t from = 0;
};
// The list as data: what BestText prints, with the schedules.
std::vector<BestEntry> MakeEntries(const Best& best);

size_t ProgramCount(const Best& best);

// False: the ranking was stopped, so there may be others behind these that are as cheap.
bool IsComplete(const Best& best);

// Seconds that the ranking took; the search before it is not counted.
double SecondsOf(const Best& best);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_BEST_PROGRAMS_H_
