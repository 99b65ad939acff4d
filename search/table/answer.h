// SPDX-License-Identifier: Apache-2.0
// Answers a query with a table behind it. The program is recalled if the table knows it, else searched and
// remembered.
#ifndef KIRSCH_SEARCH_TABLE_ANSWER_H_
#define KIRSCH_SEARCH_TABLE_ANSWER_H_

#include "absl/status/statusor.h"
#include "memo/table.h"
#include "search/solver/search.h"

namespace kirsch {

// The identity of tables for `target`: the target, and fingerprints of the sources that decide an answer. A
// table of another identity is refused, since the search might answer otherwise.
TableIdentity IdentityOf(const Target& target);

// Returns the same program and cost as Search, with or without a table (null: none). Optimal programs are
// added to the table; so are proofs that no program costs less than the cutoff. The caller commits them.
// DataLoss: the table is damaged.
//
// With a cutoff, the table may know the optimum although it costs that much or more. Then that program is the
// answer.
absl::StatusOr<SearchResult> Answer(const Spec& placed_root, const CostModel& model, Memo& memo,
                                    const SearchOptions& options, Table* table);

// The same for a spec that is not a root (search/solver/search_within.h).
absl::StatusOr<SearchResult> AnswerWithin(const Spec& spec, Lines available, const CostModel& model,
                                          Memo& memo, const SearchOptions& options, Table* table);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_TABLE_ANSWER_H_
