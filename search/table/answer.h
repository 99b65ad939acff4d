// SPDX-License-Identifier: Apache-2.0
// A query with a table behind it: recalled if the table knows the program, else searched and remembered.
#ifndef KIRSCH_SEARCH_TABLE_ANSWER_H_
#define KIRSCH_SEARCH_TABLE_ANSWER_H_

#include "absl/status/statusor.h"
#include "memo/table.h"
#include "search/solver/search.h"

namespace kirsch {

// What tables for `target` are made of, and for.
TableIdentity IdentityOf(const Target& target);

// The same program and cost as Search, with or without a table (null: none). What is found, or proven of a
// cutoff, is added to the table, not committed; nothing is that isn't optimal. DataLoss: the table is
// damaged.
absl::StatusOr<SearchResult> Answer(const Spec& placed_root, const CostModel& model, Memo& memo,
                                    const SearchOptions& options, Table* table);

// Likewise, as SearchWithin.
absl::StatusOr<SearchResult> AnswerWithin(const Spec& spec, Lines available, const CostModel& model,
                                          Memo& memo, const SearchOptions& options, Table* table);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_TABLE_ANSWER_H_
