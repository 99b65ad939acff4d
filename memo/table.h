// SPDX-License-Identifier: Apache-2.0
// The table: solutions that outlive the process. The search asks it for whole programs and tells it whole
// programs (search/table/recall.h); costs and peaks are not in it, they follow from the decisions.
#ifndef KIRSCH_MEMO_TABLE_H_
#define KIRSCH_MEMO_TABLE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memo/table_entry.h"
#include "memo/table_file.h"
#include "memo/table_texts.h"

namespace kirsch {

// Pages are read from the file when first asked for, and what is added stays in memory until Commit.
// Not thread-safe.
class Table {
 public:
  // A table in memory only.
  Table() = default;
  explicit Table(std::unique_ptr<TableFile> file) : file_(std::move(file)) {}

  // Of the entries of `spec`, the one with the fewest lines that are at least `available`. If its program
  // turns out to need no more than `available`, it is the optimum there; if not, the table doesn't know.
  // An error says that the file is damaged.
  absl::StatusOr<std::optional<TableEntry>> Find(const Spec& spec, Lines available);

  // Remembers an entry; false if it was known. The decision has to be the only one possible.
  absl::StatusOr<bool> Add(const TableEntry& entry);

  // The answer to a question, and one to be remembered, which is united with what is known.
  absl::StatusOr<std::optional<std::string>> FindText(TextKind kind, const std::string& question) const;
  absl::Status AddText(TextKind kind, const std::string& question, const std::string& answer) {
    return texts_.Add(kind, question, answer);
  }

  // What is proven: no program for `spec` that fills at most `available` lines costs less than `bound`.
  // 0 where nothing is.
  absl::StatusOr<Cost> FindBound(const Spec& spec, Lines available) const;
  absl::Status AddBound(const Spec& spec, Lines available, Cost bound);

  // Writes what was added to the file, all or nothing; AlreadyExists if the file has another solution.
  absl::Status Commit();

  // What was added since the last Commit.
  std::vector<TableEntry> Added() const;

  const TableFile* file() const { return file_.get(); }

 private:
  absl::StatusOr<const Page*> PageOf(const PageKey& key);
  std::optional<PagePoint> FindAdded(const PageKey& key, const CoordinateList& point) const;

  std::unique_ptr<TableFile> file_;
  std::map<PageKey, Page> pages_;                                // as they are in the file
  std::map<PageKey, std::map<CoordinateList, Decision>> added_;  // by point
  TableTexts texts_;                                             // that were added
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_TABLE_H_
