// Whole programs to and from the table. The table holds the first decision of each solved spec; what the
// program costs and how many lines it needs follow from the decisions, so they are worked out again, exactly,
// whenever a program is recalled. Nothing is taken on trust: a decision that the rewrites don't allow, or a
// tile that doesn't fit, is an error and never a program.
#ifndef KIRSCH_SEARCH_RECALL_H_
#define KIRSCH_SEARCH_RECALL_H_

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/table.h"
#include "spec/impl.h"

namespace kirsch {

// An entry of the table with what follows from it and from the entries below it.
struct RecalledEntry {
  TableEntry entry;
  Cost cost = 0;
  Lines peak = 0;  // lines its program uses at the level being filled
};

// Asks a table for programs, remembering what it has worked out. Not thread-safe.
class Recaller {
 public:
  Recaller(const CostModel& model, Table& table) : model_(model), table_(table) {}

  // The optimum for `spec` with `available` lines, if the table knows all of its program. DataLoss if what
  // the table says can't be.
  absl::StatusOr<std::optional<RecalledEntry>> Recall(const Spec& spec, Lines available);

  // The program of an entry that was recalled.
  Impl Program(const RecalledEntry& recalled);

 private:
  absl::StatusOr<std::optional<RecalledEntry>> Work(const TableEntry& entry);

  const CostModel& model_;
  Table& table_;
  std::map<std::pair<Spec::Words, Lines>, RecalledEntry> known_;
};

// What the table is to remember of a solved spec: an entry for it and for each spec below it. `memo`: of the
// search that solved it. The same entries whatever else the memo holds.
std::vector<TableEntry> ProgramEntries(const Spec& spec, Lines available, const CostModel& model,
                                       const Memo& memo);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RECALL_H_
