// SPDX-License-Identifier: Apache-2.0
// The subcommands of kirsch db, and what they share. Each adds itself as in command.h.
#ifndef KIRSCH_TOOLS_DB_COMMAND_H_
#define KIRSCH_TOOLS_DB_COMMAND_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/table.h"
#include "spec/target.h"
#include "tools/command.h"

namespace CLI {
class App;
}  // namespace CLI

namespace kirsch {

void AddDbStats(CLI::App& db_command, const DbOptions& db, Run& run);
void AddDbCheck(CLI::App& db_command, const DbOptions& db, Run& run);
void AddDbExport(CLI::App& db_command, const DbOptions& db, Run& run);
void AddDbMerge(CLI::App& db_command, Run& run);
void AddDbPrecompute(CLI::App& db_command, const DbOptions& db, Run& run);

// The table a subcommand is about.
struct TableChoice {
  std::string file;             // empty: the one that --db or the cache has for the target
  std::string target = "host";  // as the command line names it
};

void AddTableChoice(CLI::App& command, TableChoice& choice);

// The files that OpenChoice may read: for CheckOutputs.
std::vector<std::string> InputsOf(const TableChoice& choice, const DbOptions& db);

absl::StatusOr<std::unique_ptr<TableFile>> OpenChoice(const TableChoice& choice, const DbOptions& db);

// The table at `path`, which is there.
absl::StatusOr<std::unique_ptr<TableFile>> OpenNamed(const std::string& path);

// Which fingerprints of a table are those of this program. Where all are, `target` can be searched for, and
// the table's solutions are what the search would find.
struct IdentityMatch {
  bool target_matches = false, rules_match = false, cost_matches = false;
  Target target;

  bool all() const { return target_matches && rules_match && cost_matches; }
};

IdentityMatch MatchIdentity(const TableIdentity& identity);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_DB_COMMAND_H_
