// SPDX-License-Identifier: Apache-2.0
// Declares the subcommands of `kirsch db`, and what they share: which table they are about, and whether its
// solutions hold for this program. Each adds itself as in command.h.
#ifndef KIRSCH_TOOLS_DB_COMMAND_H_
#define KIRSCH_TOOLS_DB_COMMAND_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/table.h"
#include "spec/target.h"
#include "tools/command.h"
#include "tools/options.h"

namespace kirsch {

void AddDbStats(const Command& db_command, const DbOptions& db, Run& run);
void AddDbCheck(const Command& db_command, const DbOptions& db, Run& run);
void AddDbExport(const Command& db_command, const DbOptions& db, Run& run);
void AddDbMerge(const Command& db_command, Run& run);
void AddDbPrecompute(const Command& db_command, const DbOptions& db, Run& run);

// Names the table that a subcommand works on: FILE; or the file of --db; or, in the directory of --db or else
// in the user's cache, the file for the target.
struct TableChoice {
  std::string file;             // empty: the one that --db or the cache has for the target
  std::string target = "host";  // as the command line names it
};

// Adds FILE and --target. `choice` lives as long as the command.
void AddTableChoice(const Command& command, TableChoice& choice);

// The files that OpenChoice may read: for CheckOutputs.
std::vector<std::string> InputsOf(const TableChoice& choice, const DbOptions& db);

// Opens the chosen table. InvalidArgument if no file is named and there is no default table.
absl::StatusOr<std::unique_ptr<TableFile>> OpenChoice(const TableChoice& choice, const DbOptions& db);

// Opens the table at `path`. NotFound if there is none, InvalidArgument for a directory: nothing is made.
absl::StatusOr<std::unique_ptr<TableFile>> OpenNamed(const std::string& path);

// Says which fingerprints of a table are those of this program. If all are, the table's solutions are what
// the search would find, and `target` can be searched for. If one differs, the entries can be read and
// counted, but their programs can't be made again.
struct IdentityMatch {
  bool target_matches = false, rules_match = false, cost_matches = false;
  Target target;  // that of the table, whose target file is in it

  bool all() const { return target_matches && rules_match && cost_matches; }
};

IdentityMatch MatchIdentity(const TableIdentity& identity);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_DB_COMMAND_H_
