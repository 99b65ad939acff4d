#include "search/answer.h"

#include <chrono>
#include <optional>
#include <utility>

#include "search/limits.h"
#include "search/recall.h"

namespace kirsch {

absl::StatusOr<SearchResult> Answer(const Spec& placed_root, const CostModel& model, Memo& memo,
                                    const SearchOptions& options, Table* table) {
  if (table == nullptr) return Search(placed_root, model, memo, options);
  const auto start = std::chrono::steady_clock::now();
  const Lines available = AvailableAtHome(placed_root, model.target());
  absl::StatusOr<std::optional<RecalledProgram>> recalled = Recall(placed_root, available, model, *table);
  if (!recalled.ok()) return recalled.status();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  SearchResult result;
  if (*recalled) {
    result.impl = std::move((*recalled)->impl);
    result.cost = result.bound = (*recalled)->cost;
    result.from_table = true;
    result.seconds = seconds;
  } else {
    result = Search(placed_root, model, memo, options);
    if (result.stop == StopReason::kOptimal)
      for (const TableEntry& entry : ProgramEntries(placed_root, available, model, memo))
        if (absl::StatusOr<bool> added = table->Add(entry); !added.ok()) return added.status();
  }
  result.table_seconds = seconds;
  return result;
}

}  // namespace kirsch
