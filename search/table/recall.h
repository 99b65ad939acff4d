// SPDX-License-Identifier: Apache-2.0
// Whole programs to and from the table. The table holds the first decision of each solved spec; what the
// program costs and how many lines it needs follow from the decisions, so they are worked out again, exactly,
// whenever a program is recalled. Nothing is taken on trust: a decision that the rewrites don't allow, or a
// tile that doesn't fit, is an error and never a program.
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

// The same for many questions to one table, in which every spec is looked at once. Pages that change after
// they were first asked for are not read again. Not thread-safe.
class Recaller {
 public:
  // Both outlive the recaller.
  Recaller(const CostModel& model, Table& table) : model_(model), table_(table) {}

  absl::StatusOr<std::optional<Solution>> Find(const Spec& spec, Lines available);

  // The program of a solution that Find gave for `spec`.
  Impl Program(const Spec& spec, const Solution& solution) const;

 private:
  using Key = std::pair<Spec::Words, Lines>;  // of an entry
  struct Node {
    Solution solution;
    std::array<Lines, 3> children = {};  // for how many lines their entries are
  };
  absl::StatusOr<std::optional<Node>> Build(const TableEntry& entry);

  const CostModel& model_;
  Table& table_;
  std::map<Key, Node> nodes_;
};

// What the table is to remember of a solved spec: an entry for it and for each spec below it. `memo`: of the
// search that solved it. The same entries whatever else the memo holds.
std::vector<TableEntry> ProgramEntries(const Spec& spec, Lines available, const CostModel& model,
                                       const Memo& memo);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_TABLE_RECALL_H_
