// SPDX-License-Identifier: Apache-2.0
// Wraps SQLite's C interface, so that errors are absl::Status and resources have scopes. Internal to memo/.
#ifndef KIRSCH_MEMO_SQLITE_H_
#define KIRSCH_MEMO_SQLITE_H_

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "spec/text/cat.h"

namespace kirsch {

// The last error of the database as one line. DataLoss if it means that the file is damaged, else
// Unavailable.
inline absl::Status SqliteError(sqlite3* database, const std::string& path) {
  const int code = sqlite3_errcode(database);
  const std::string text = Cat("'", path, "': ", sqlite3_errmsg(database));
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT || code == SQLITE_ERROR)
    return absl::DataLossError(Cat(text, " (no table of Kirsch's, or a damaged one)"));
  return absl::UnavailableError(text);
}

// One prepared statement. After a failure every further step fails, too; status() says why. So callers may
// bind and step, and look at the status once. Not thread-safe.
class SqlStatement {
 public:
  SqlStatement(sqlite3* database, const std::string& path, const char* sql)
      : database_(database), path_(path) {
    if (sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr) != SQLITE_OK)
      status_ = SqliteError(database, path);
  }
  ~SqlStatement() { sqlite3_finalize(statement_); }
  SqlStatement(const SqlStatement&) = delete;
  SqlStatement& operator=(const SqlStatement&) = delete;

  // Binds the next parameter, from the first on. The bytes must outlive the statement.
  SqlStatement& Bind(std::string_view bytes) {  // as a blob, which outlives the statement
    return Bound(sqlite3_bind_blob64(statement_, next_++, bytes.data(), bytes.size(), SQLITE_STATIC));
  }
  SqlStatement& BindText(std::string_view text) {
    return Bound(
        sqlite3_bind_text64(statement_, next_++, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
  SqlStatement& Bind(int64_t number) { return Bound(sqlite3_bind_int64(statement_, next_++, number)); }

  // Goes to the next row. Returns false if there is none, or after an error.
  bool Step() {
    if (!status_.ok()) return false;
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) status_ = SqliteError(database_, path_);
    return code == SQLITE_ROW;
  }

  // Steps to the end, for statements without rows.
  absl::Status Run() {
    while (Step()) {
    }
    return status_;
  }

  // A column of the present row. The bytes are valid until the next step.
  std::string_view Bytes(int column) const {
    const void* const data = sqlite3_column_blob(statement_, column);
    return {static_cast<const char*>(data), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
  }
  int64_t Number(int column) const { return sqlite3_column_int64(statement_, column); }

  const absl::Status& status() const { return status_; }

 private:
  // Keeps the first failure, so that Bind can be chained.
  SqlStatement& Bound(int code) {
    if (code != SQLITE_OK && status_.ok()) status_ = SqliteError(database_, path_);
    return *this;
  }

  sqlite3* const database_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
  absl::Status status_;
};

// Runs statements that return nothing.
inline absl::Status RunSql(sqlite3* database, const std::string& path, const char* sql) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return absl::OkStatus();
  return SqliteError(database, path);
}

// The number in the first column of the first row; 0 if there is no row.
inline absl::StatusOr<int64_t> QueryNumber(sqlite3* database, const std::string& path, const char* sql) {
  SqlStatement statement(database, path, sql);
  const int64_t number = statement.Step() ? statement.Number(0) : 0;
  if (!statement.status().ok()) return statement.status();
  return number;
}

}  // namespace kirsch

#endif  // KIRSCH_MEMO_SQLITE_H_
