// SPDX-License-Identifier: Apache-2.0
// Keeps solutions that outlive the process. The search asks the table for whole programs and tells it whole
// programs (search/table/recall.h). Costs and peaks are not stored: they follow from the decisions.
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

// Reads each page from the file when it is first asked for. Keeps in memory what is added, until Commit. Not
// thread-safe.
class Table {
 public:
  // A table in memory only.
  Table() = default;
  explicit Table(std::unique_ptr<TableFile> file) : file_(std::move(file)) {}

  // Finds the entry of `spec` with the fewest lines that are at least `available`. If its program turns out
  // to need no more than `available`, it is the optimum for `available`, too; if not, the table does not
  // know. DataLoss: the file is damaged.
  absl::StatusOr<std::optional<TableEntry>> Find(const Spec& spec, Lines available);

  // Remembers an entry. Returns false if it was known. AlreadyExists if another decision is known for it: one
  // of the two must be wrong.
  absl::StatusOr<bool> Add(const TableEntry& entry);

  // Finds the answer to a question; remembers one, united with what is known (United in table_texts.h).
  absl::StatusOr<std::optional<std::string>> FindText(TextKind kind, const std::string& question) const;
  absl::Status AddText(TextKind kind, const std::string& question, const std::string& answer) {
    return texts_.Add(kind, question, answer);
  }

  // A proven bound: no program for `spec` that fills at most `available` lines costs less than `bound`.
  // FindBound returns 0 if nothing is proven.
  absl::StatusOr<Cost> FindBound(const Spec& spec, Lines available) const;
  absl::Status AddBound(const Spec& spec, Lines available, Cost bound);

  // Writes what was added to the file, all or nothing. AlreadyExists if the file has another solution, for
  // example another process's. Without a file it does nothing.
  absl::Status Commit();

  // The entries that were added since the last Commit.
  std::vector<TableEntry> Added() const;

  // True if something was.
  bool HasAdded() const { return !added_.empty() || !texts_.empty(); }

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
