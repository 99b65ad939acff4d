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
#include <vector>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "search/ranking/departure.h"
#include "search/ranking/k_best.h"
#include "synthesis/family.h"

namespace kirsch {

// Ranks the programs of a single spec or graph that was searched for. InvalidArgument for a family, and for a
// program that follows a schedule. If the observer stops it, the result has as many programs as are known by
// then. `memo`: of the search for `synthesis`.
absl::StatusOr<KBestResult> BestPrograms(const SolveArguments& arguments, const FamilySynthesis& synthesis,
                                         Memo& memo, const RankOptions& rank);

// Prints a line for each program: its rank, its cycles, how much more than the best that is, and where it
// first departs from the best. If an earlier program departs there in the same way, the line says where the
// two differ.
std::string BestText(const KBestResult& best);

// One program of the list, for reports as data.
struct BestEntry {
  const RankedProgram& program;  // must outlive the entry
  double above = 0;              // a fraction of the best's cost
  // The first place where it departs from the program number `from`, counted from 0. That is the best
  // program, or another one before this entry, which departs from the best in the same way. No two entries
  // say the same. The first entry departs from none.
  Departure departure;
  size_t from = 0;
};
// The list as data: what BestText prints.
std::vector<BestEntry> MakeEntries(const KBestResult& best);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_BEST_PROGRAMS_H_
