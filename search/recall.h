// Whole programs to and from the table. The table holds the first decision of each solved spec; what the
// program costs and how many lines it needs follow from the decisions, so they are worked out again, exactly,
// whenever a program is recalled. Nothing is taken on trust: a decision that the rewrites don't allow, or a
// tile that doesn't fit, is an error and never a program.
#ifndef KIRSCH_SEARCH_RECALL_H_
#define KIRSCH_SEARCH_RECALL_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/table.h"
#include "spec/impl.h"

namespace kirsch {

struct RecalledProgram {
  Impl impl;
  Cost cost = 0;
  Lines peak = 0;       // lines it uses at the level being filled
  Lines available = 0;  // the most lines for which it is known to be optimal
};

// The optimal program for `spec` with `available` lines, if the table knows all of it. DataLoss if what the
// table says can't be.
absl::StatusOr<std::optional<RecalledProgram>> Recall(const Spec& spec, Lines available,
                                                      const CostModel& model, Table& table);

// What the table is to remember of a solved spec: an entry for it and for each spec below it. `memo`: of the
// search that solved it. The same entries whatever else the memo holds.
std::vector<TableEntry> ProgramEntries(const Spec& spec, Lines available, const CostModel& model,
                                       const Memo& memo);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RECALL_H_
