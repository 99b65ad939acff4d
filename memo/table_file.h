// SPDX-License-Identifier: Apache-2.0
// Keeps a table on disk: a SQLite file of compressed pages (FORMAT.md). A file holds the solutions of one
// identity. Several processes may read and write it at once. A process that is killed leaves the state of its
// last commit.
#ifndef KIRSCH_MEMO_TABLE_FILE_H_
#define KIRSCH_MEMO_TABLE_FILE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "memo/page.h"
#include "memo/page_key.h"
#include "memo/table_texts.h"

struct sqlite3;

namespace kirsch {

struct TableRows;  // which of the file's tables

// Says what a table's solutions hold for: one target, one set of rules, one cost model. Fingerprints are 32
// hexadecimal digits. If one of them differs, no solution carries over.
struct TableIdentity {
  std::string target_name;
  std::string target;              // its target file, whole: the table can be worked on without it
  std::string target_fingerprint;  // of what the search sees of the target
  std::string rules_fingerprint;   // of the rewrites and of how the search chooses between equals
  std::string cost_fingerprint;    // of the cost model
};

// Says what differs for the solutions; null if nothing does. The target's name and text do not matter.
const char* DifferenceOf(const TableIdentity& identity, const TableIdentity& expected);

// The version of FORMAT.md. A table of another version is refused.
inline constexpr int kTableFormat = 11;

// A table's file, open. Errors are one line that begins with the path. DataLoss: the file is damaged.
// FailedPrecondition: it is whole, but of another format or identity. Unavailable: SQLite cannot use it. Not
// thread-safe.
class TableFile {
 public:
  // Opens the table at `path` for `identity`; makes it if there is none.
  static absl::StatusOr<std::unique_ptr<TableFile>> Open(const std::string& path,
                                                         const TableIdentity& identity);
  // Opens the table at `path`, whatever its identity, for tools that look into tables.
  static absl::StatusOr<std::unique_ptr<TableFile>> OpenExisting(const std::string& path);

  // Opens the table at `path` for `identity` where nothing can be written, not even beside it. Unavailable if
  // there is none, or only the beginning of one (a full disk).
  static absl::StatusOr<std::unique_ptr<TableFile>> OpenReadOnly(const std::string& path,
                                                                 const TableIdentity& identity);

  ~TableFile();
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  const std::string& path() const { return path_; }
  bool writable() const;
  const TableIdentity& identity() const { return identity_; }

  // Reads a page; returns an empty one if there is none.
  absl::StatusOr<Page> ReadPage(const PageKey& key) const;

  // Adds the points to their pages, and unites the texts with those in the file (United), all or none.
  // AlreadyExists if a point is there with another decision, or a graph with another plan.
  absl::Status Add(const std::map<PageKey, std::vector<PagePoint>>& points, const TableTexts& texts = {});

  // Finds the answer to a question; nothing if there is none.
  absl::StatusOr<std::optional<std::string>> FindText(TextKind kind, const std::string& question) const;
  // Calls `visit` with every question of this kind and its answer, ascending by the question's bytes. Errors
  // and damage are handled as in ForEachPage.
  absl::Status ForEachText(
      TextKind kind,
      const std::function<absl::Status(const std::string& question, const std::string& answer)>& visit,
      const std::function<void(const absl::Status&)>& damaged = nullptr) const;

  struct StoredPage {
    PageKey key;
    Page page;
    int64_t bytes = 0;  // as stored, its key included
  };
  // Calls `visit` with every page, ascending by the bytes of their keys, until an error. A damaged page is an
  // error, unless `damaged` is given: then that is told of it, and the walk goes on.
  absl::Status ForEachPage(const std::function<absl::Status(const StoredPage&)>& visit,
                           const std::function<void(const absl::Status&)>& damaged = nullptr) const;

  // Checks that every byte of the file is as it was written, and that SQLite finds nothing wrong. DataLoss
  // names the first fault only.
  absl::Status CheckIntegrity() const;

 private:
  // Takes over the database, which the destructor closes.
  TableFile(std::string path, sqlite3* database) : path_(std::move(path)), database_(database) {}
  static absl::StatusOr<std::unique_ptr<TableFile>> OpenDatabase(const std::string& path, int flags,
                                                                 const std::string& uri = "");
  absl::Status Begin();
  absl::Status UseWriteAheadLog();
  absl::Status CheckPagesOfFile() const;
  absl::Status Create(const TableIdentity& identity);
  absl::Status ReadIdentity();
  absl::Status RefuseOthers(const TableIdentity& expected) const;
  absl::StatusOr<bool> IsNew() const;
  absl::Status AddText(TextKind kind, const std::string& question, const std::string& answer);
  absl::Status AddToPage(const PageKey& key, const std::vector<PagePoint>& points);
  absl::StatusOr<StoredPage> DecodeRow(std::string_view key_bytes, int64_t checksum,
                                       std::string_view data) const;
  absl::StatusOr<Page> DecodePage(const PageKey& key, std::string_view key_bytes,
                                  std::string_view bytes) const;
  absl::Status Contradiction(const absl::Status& status) const;

  // Pages and texts are kept alike, as rows of a key, a checksum and compressed bytes. Unpacked checks and
  // decompresses what a row holds; FindRow returns nothing if there is no row with that key.
  absl::Status Damaged(const TableRows& rows, std::string_view key, std::string_view what) const;
  absl::StatusOr<std::string> Unpacked(const TableRows& rows, std::string_view key, int64_t checksum,
                                       std::string_view data) const;
  absl::StatusOr<std::optional<std::string>> FindRow(const TableRows& rows, const std::string& key) const;
  absl::Status SetRow(const TableRows& rows, const std::string& key, const std::string& bytes);
  template <typename Decode, typename Visit>
  absl::Status ForEachRow(const TableRows& rows, const Decode& decode, const Visit& visit,
                          const std::function<void(const absl::Status&)>& damaged) const;

  const std::string path_;
  sqlite3* const database_;
  TableIdentity identity_;
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_TABLE_FILE_H_
