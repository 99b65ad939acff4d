// SPDX-License-Identifier: Apache-2.0
// Defines the table's element, and its form as bytes for other processes.
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

// States that the optimal program for `spec`, with `available` lines left at the level being filled, begins
// with `decision`.
struct TableEntry {
  Spec spec;
  Lines available = 0;
  Decision decision;

  friend bool operator==(const TableEntry&, const TableEntry&) = default;
};

// Encodes entries for another process of the same job, as pages: each entry once, neighbours as boxes.
// AlreadyExists if two entries contradict each other. Decoding gives DataLoss for anything that is no such
// bytes.
absl::StatusOr<std::string> EncodeEntries(const std::vector<TableEntry>& entries);
absl::StatusOr<std::vector<TableEntry>> DecodeEntries(std::string_view bytes);

}  // namespace kirsch

#endif  // KIRSCH_MEMO_TABLE_ENTRY_H_
