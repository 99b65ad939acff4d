// SPDX-License-Identifier: Apache-2.0
// What the table is a set of.
#ifndef KIRSCH_MEMO_TABLE_ENTRY_H_
#define KIRSCH_MEMO_TABLE_ENTRY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "spec/decision.h"
#include "spec/spec.h"

namespace kirsch {

// With `available` lines left at the level being filled, the optimal program for `spec` begins with
// `decision`.
struct TableEntry {
  Spec spec;
  Lines available = 0;
  Decision decision;

  friend bool operator==(const TableEntry&, const TableEntry&) = default;
};

// Entries as bytes, for another process of the same job: compressed like pages, each entry once.
// AlreadyExists if two entries contradict each other.
absl::StatusOr<std::string> EncodeEntries(const std::vector<TableEntry>& entries);
absl::StatusOr<std::vector<TableEntry>> DecodeEntries(std::string_view bytes);

}  // namespace kirsch

#endif  // KIRSCH_MEMO_TABLE_ENTRY_H_
