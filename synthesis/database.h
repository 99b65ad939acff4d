// SPDX-License-Identifier: Apache-2.0
// Opens the table of solved specs that the user asked for, and decides what happens where it can't be used.
// Invariant: a table that can't be used costs time, and never the result, unless the user named it.
#ifndef KIRSCH_SYNTHESIS_DATABASE_H_
#define KIRSCH_SYNTHESIS_DATABASE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/table.h"
#include "spec/target.h"
#include "synthesis/table_pool.h"

namespace kirsch {

struct DbOptions {
  std::string path;   // a file, or a directory that holds a file for each identity; empty: the user's cache
  bool none = false;  // no table at all
  // Gets one line of text whenever something goes on without a table.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  // Keeps tables open for further questions; null: each question opens its own.
  std::shared_ptr<TablePool> pool = nullptr;
};

// Where the user's tables are: $XDG_CACHE_HOME/kirsch, or ~/.cache/kirsch. Empty: the user has no home.
std::string CacheDirectory();

// The file that holds, or will hold, the table of this identity: in the directory of `options`, or its file.
// Empty: there is none, as it is unwanted or the user has no home.
std::string TablePath(const DbOptions& options, const TableIdentity& identity);

// The files that may hold the tables of these options: the one that is named, or those in the directory.
std::vector<std::string> ListTableFiles(const DbOptions& options);

// The table for searches on `target`. Null: the search does without. A named table that is damaged, or of
// another format or identity, is an error. The table in the user's cache is skipped instead, with a warning.
//
// A table that can't be written is read, if it is there. A remark says so, unless `remarks` is false: then
// the caller says it.
absl::StatusOr<std::shared_ptr<Table>> OpenTable(const DbOptions& options, const Target& target,
                                                 bool remarks = true);

// Decides about a `problem` with an open table: the error itself, or a warning and OK. An OK `problem` stays
// OK. The rules are those of OpenTable.
absl::Status WithoutTable(const DbOptions& options, const absl::Status& problem);

// Writes what was added to the table. A table that is read-only stays as it is. Problems are treated as by
// WithoutTable.
absl::Status CommitTable(const DbOptions& options, Table& table);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_DATABASE_H_
