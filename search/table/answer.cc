// SPDX-License-Identifier: Apache-2.0
#include "search/table/answer.h"

#include <chrono>
#include <optional>
#include <utility>

#include "search/solver/limits.h"
#include "search/solver/search_within.h"
#include "search/table/recall.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Returns the program if the table knows it, or else the proof that none costs less than the cutoff, or else
// nothing.
absl::StatusOr<std::optional<SearchResult>> AskTable(const Spec& spec, Lines available,
                                                     const CostModel& model, Cost cutoff, Table& table) {
  SearchResult result;
  KIRSCH_ASSIGN_OR_RETURN(std::optional<RecalledProgram> recalled, Recall(spec, available, model, table));
  if (recalled) {
    result.impl = std::move(recalled->impl);
    result.cost = result.bound = recalled->cost;
    return result;
  }
  if (cutoff >= kInfiniteCost) return std::nullopt;
  KIRSCH_ASSIGN_OR_RETURN(const Cost bound, table.FindBound(spec, available));
  if (bound < cutoff) return std::nullopt;
  result.cost = result.bound = bound;
  result.stop = StopReason::kCutoff;
  return result;
}

// Adds the answer of a search. A search that was stopped has proven nothing that could be kept.
absl::Status TellTable(const Spec& spec, Lines available, const CostModel& model, const Memo& memo,
                       const SearchResult& result, Table& table) {
  if (result.stop == StopReason::kCutoff) return table.AddBound(spec, available, result.bound);
  if (result.stop != StopReason::kOptimal) return absl::OkStatus();
  for (const TableEntry& entry : ProgramEntries(spec, available, model, memo))
    KIRSCH_RETURN_IF_ERROR(table.Add(entry).status());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SearchResult> Answer(const Spec& placed_root, const CostModel& model, Memo& memo,
                                    const SearchOptions& options, Table* table) {
  return AnswerWithin(placed_root, AvailableAtPlacement(placed_root, model.target()), model, memo, options,
                      table);
}

absl::StatusOr<SearchResult> AnswerWithin(const Spec& spec, Lines available, const CostModel& model,
                                          Memo& memo, const SearchOptions& options, Table* table) {
  if (table == nullptr) return SearchWithin(spec, available, model, memo, options);
  const auto start = std::chrono::steady_clock::now();
  // The table is asked first; only then is anything searched. `table_seconds` is the time of this question.
  KIRSCH_ASSIGN_OR_RETURN(std::optional<SearchResult> known,
                          AskTable(spec, available, model, options.cutoff, *table));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  SearchResult result;
  if (known) {
    result = *std::move(known);
    result.from_table = true;
    result.seconds = seconds;
  } else {
    result = SearchWithin(spec, available, model, memo, options);
    KIRSCH_RETURN_IF_ERROR(TellTable(spec, available, model, memo, result, *table));
  }
  result.table_seconds = seconds;
  return result;
}

}  // namespace kirsch
