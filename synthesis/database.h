// SPDX-License-Identifier: Apache-2.0
// The table of solved specs that a user names, and what to do without
// it.
#ifndef KIRSCH_SYNTHESIS_DATABASE_H_
#define KIRSCH_SYNTHESIS_DATABASE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/table.h"
#include "spec/target.h"

namespace kirsch {

struct DbOptions {
  std::string path;   // a file, or a directory that holds a file for each identity; empty: the user's cache
  bool none = false;  // no table at all
  // Is told what is done without.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

// Where the user's tables are: $XDG_CACHE_HOME/kirsch, or ~/.cache/kirsch. Empty: the user has no home.
std::string CacheDirectory();

// The file that holds, or will hold, the table of this identity: in the directory of `options`, or its file.
// Empty: there is none, as it is unwanted or the user has no home.
std::string TablePath(const DbOptions& options, const TableIdentity& identity);

// The files that may hold the tables of these options: the one that is named, or those in the directory.
std::vector<std::string> ListTableFiles(const DbOptions& options);

// The table for searches on `target`; null: to be done without. A table that was asked for by name and can't
// be used is an error; the one in the user's cache is then done without, with a warning.
// One that can't be written is read, if it is there, with a remark; without `remarks`, callers say so.
absl::StatusOr<std::unique_ptr<Table>> OpenTable(const DbOptions& options, const Target& target,
                                                 bool remarks = true);

// What to do about `problem` with an open table, likewise: the error, or a warning (the first time) and OK.
absl::Status WithoutTable(const DbOptions& options, const absl::Status& problem);

// Writes what was added to the table, if that can be done; else as WithoutTable.
absl::Status CommitTable(const DbOptions& options, Table& table);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_DATABASE_H_
