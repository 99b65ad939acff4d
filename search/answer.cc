#include "search/answer.h"

#include <chrono>
#include <optional>
#include <utility>

#include "search/limits.h"
#include "search/recall.h"
#include "search/search_within.h"

namespace kirsch {

absl::StatusOr<SearchResult> Answer(const Spec& placed_root, const CostModel& model, Memo& memo,
                                    const SearchOptions& options, Table* table) {
  return AnswerWithin(placed_root, AvailableAtHome(placed_root, model.target()), model, memo, options, table);
}

absl::StatusOr<SearchResult> AnswerWithin(const Spec& spec, Lines available, const CostModel& model,
                                          Memo& memo, const SearchOptions& options, Table* table) {
  if (table == nullptr) return SearchWithin(spec, available, model, memo, options);
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<std::optional<RecalledProgram>> recalled = Recall(spec, available, model, *table);
  if (!recalled.ok()) return recalled.status();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  SearchResult result;
  if (*recalled) {
    result.impl = std::move((*recalled)->impl);
    result.cost = result.bound = (*recalled)->cost;
    result.from_table = true;
    result.seconds = seconds;
  } else {
    result = SearchWithin(spec, available, model, memo, options);
    if (result.stop == StopReason::kOptimal)
      for (const TableEntry& entry : ProgramEntries(spec, available, model, memo))
        if (absl::StatusOr<bool> added = table->Add(entry); !added.ok()) return added.status();
  }
  result.table_seconds = seconds;
  return result;
}

}  // namespace kirsch
