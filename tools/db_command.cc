// SPDX-License-Identifier: Apache-2.0
// Puts `kirsch db stats | precompute | merge | check | export` together, and has what they share.
#include "tools/db_command.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "search/table/answer.h"
#include "spec/target/target_json.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "tools/options.h"
#include "tools/target_option.h"

namespace kirsch {

void AddDbCommand(const Command& app, const DbOptions& db, Run& run) {
  const Command command = app.AddCommand("db", "Tables of solved specs");
  command.RequireCommand();
  AddDbStats(command, db, run);
  AddDbCheck(command, db, run);
  AddDbExport(command, db, run);
  AddDbMerge(command, run);
  AddDbPrecompute(command, db, run);
}

void AddTableChoice(const Command& command, TableChoice& choice) {
  // A named file is used whatever its target. Without one, the target says which table of the directory it
  // is.
  command.Add("FILE", choice.file,
              "The table (default: the one that --db, or else the user's cache, has for the target)");
  command.BeginGroup(kTargetGroup);
  command.Add("--target", choice.target, "A known target, host (the default), or a target file");
}

absl::StatusOr<std::unique_ptr<TableFile>> OpenNamed(const std::string& path) {
  // Whether there is a file is asked of the system, whose words say why there is none.
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (error) return absl::NotFoundError(Cat("'", path, "': ", error.message()));
  if (type == std::filesystem::file_type::directory)
    return absl::InvalidArgumentError(Cat("'", path, "': expected a table, got a directory"));
  return TableFile::OpenExisting(path);
}

// All tables that may be opened, the target file, and the named file.
std::vector<std::string> InputsOf(const TableChoice& choice, const DbOptions& db) {
  std::vector<std::string> files = ListTableFiles(db);
  for (std::string& file : TargetFilesIn(choice.target)) files.push_back(std::move(file));
  files.push_back(choice.file);
  return files;
}

absl::StatusOr<std::unique_ptr<TableFile>> OpenChoice(const TableChoice& choice, const DbOptions& db) {
  if (!choice.file.empty()) return OpenNamed(choice.file);
  KIRSCH_ASSIGN_OR_RETURN(Target target, LoadTarget(choice.target));
  const std::string path = TablePath(db, IdentityOf(target));
  if (path.empty()) return absl::InvalidArgumentError("expected FILE, as there is no default table");
  return OpenNamed(path);
}

// The table has the whole target file, so its target can be used even if this machine has no such file.
IdentityMatch MatchIdentity(const TableIdentity& identity) {
  IdentityMatch match;
  absl::StatusOr<TargetFile> target = ParseTarget(identity.target, identity.target_name);
  // A table whose target can't be read matches nothing.
  if (!target.ok()) return match;
  match.target = std::move(target->target);
  // The identity that this program would give a table for the same target.
  const TableIdentity ours = IdentityOf(match.target);
  match.target_matches = identity.target_fingerprint == ours.target_fingerprint;
  match.rules_match = identity.rules_fingerprint == ours.rules_fingerprint;
  match.cost_matches = identity.cost_fingerprint == ours.cost_fingerprint;
  return match;
}

}  // namespace kirsch
