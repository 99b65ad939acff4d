// SPDX-License-Identifier: Apache-2.0
// Moves whole programs to and from the table. The table holds only the first decision of each solved spec.
// Costs and lines follow from the decisions, so they are worked out again, exactly, whenever a program is
// recalled.
//
// Nothing is taken on trust: a decision that the rewrites don't allow, or a tile that doesn't fit, is an
// error and never a program.
#ifndef KIRSCH_SEARCH_TABLE_RECALL_H_
#define KIRSCH_SEARCH_TABLE_RECALL_H_

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/table.h"
#include "spec/impl.h"

namespace kirsch {

// A program and its box: it is optimal for every number of lines from `peak` to `available`.
struct RecalledProgram {
  Impl impl;
  Cost cost = 0;
  Lines peak = 0;       // lines it uses at the level being filled
  Lines available = 0;  // the most lines for which it is known to be optimal
};

// Returns the optimal program for `spec` with `available` lines, if the table knows all of it, down to the
// microkernels. DataLoss if the table says what can't be.
absl::StatusOr<std::optional<RecalledProgram>> Recall(const Spec& spec, Lines available,
                                                      const CostModel& model, Table& table);

// Recalls programs for many questions to one table, and looks at every spec once. Pages that change after
// they were first asked for are not read again. Not thread-safe.
class Recaller {
 public:
  // Both must outlive the recaller.
  Recaller(const CostModel& model, Table& table) : model_(model), table_(table) {}

  // The solution of a question: its cost and its box. Nothing if the table doesn't know, or knows a part
  // only.
  absl::StatusOr<std::optional<Solution>> Find(const Spec& spec, Lines available);

  // The program of a solution that Find gave for `spec`.
  Impl Program(const Spec& spec, const Solution& solution) const;

 private:
  using Key = std::pair<Spec::Words, Lines>;  // of an entry
  struct Node {
    Solution solution;
    std::array<Lines, 3> children = {};  // for how many lines their entries are
  };
  // Works out the cost and the peak of an entry from its decision and its children, which are recalled the
  // same way.
  absl::StatusOr<std::optional<Node>> Build(const TableEntry& entry);

  const CostModel& model_;
  Table& table_;
  std::map<Key, Node> nodes_;
};

// Returns what the table is to remember of a solved spec: an entry for it and for each spec below it. `memo`:
// of the search that solved it. The entries are the same whatever else the memo holds, and so is the table.
std::vector<TableEntry> ProgramEntries(const Spec& spec, Lines available, const CostModel& model,
                                       const Memo& memo);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_TABLE_RECALL_H_
