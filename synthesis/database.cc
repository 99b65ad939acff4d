// SPDX-License-Identifier: Apache-2.0
#include "synthesis/database.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "search/table/answer.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;

constexpr char kTableExtension[] = ".db";

// "znver4-<24 hexadecimal digits>.db". People read the target's name; the first 8 digits of each of the three
// fingerprints tell tables of one target apart.
std::string FileName(const TableIdentity& identity) {
  constexpr size_t kDigits = 8;
  return Cat(identity.target_name, "-", identity.target_fingerprint.substr(0, kDigits),
             identity.rules_fingerprint.substr(0, kDigits), identity.cost_fingerprint.substr(0, kDigits),
             kTableExtension);
}

// The directory of the tables, where options name no file. Empty: the user has no home.
std::string DirectoryOf(const DbOptions& options) {
  return options.path.empty() ? CacheDirectory() : options.path;
}

// A path that ends with '/' means a directory even if nothing is there yet.
bool IsDirectory(const std::string& path) {
  std::error_code error;
  return path.back() == '/' || fs::is_directory(path, error);
}

// Makes the directories above the file first. Unavailable if that fails: then the table can't be written,
// which is no damage.
absl::StatusOr<std::unique_ptr<TableFile>> OpenFile(const std::string& path, const TableIdentity& identity) {
  std::error_code error;
  const fs::path directory = fs::path(path).parent_path();
  if (!directory.empty()) fs::create_directories(directory, error);
  if (error) return absl::UnavailableError(Cat("'", directory.string(), "': ", error.message()));
  return TableFile::Open(path, identity);
}

}  // namespace

// The XDG standard says that a relative path in the variable is to be ignored.
std::string CacheDirectory() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return Cat(cache, "/kirsch");
  const char* const home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? Cat(home, "/.cache/kirsch") : "";
}

std::string TablePath(const DbOptions& options, const TableIdentity& identity) {
  if (options.none) return "";
  if (!options.path.empty() && !IsDirectory(options.path)) return options.path;
  const std::string directory = DirectoryOf(options);
  return directory.empty() ? "" : (fs::path(directory) / FileName(identity)).string();
}

std::vector<std::string> ListTableFiles(const DbOptions& options) {
  if (options.none) return {};
  if (!options.path.empty() && !IsDirectory(options.path)) return {options.path};
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(DirectoryOf(options), error))
    if (entry.path().extension() == kTableExtension) files.push_back(entry.path().string());
  return files;
}

absl::StatusOr<std::shared_ptr<Table>> OpenTable(const DbOptions& options, const Target& target,
                                                 bool remarks) {
  if (options.none) return nullptr;  // stages of graphs ask often, and an identity takes a while
  if (options.pool != nullptr)
    if (std::shared_ptr<Table> kept = options.pool->Take(target)) return kept;
  const TableIdentity identity = IdentityOf(target);
  const std::string path = TablePath(options, identity);
  if (path.empty()) return nullptr;
  // Unavailable means that nothing can be written there. The table may still be readable.
  absl::StatusOr<std::unique_ptr<TableFile>> file = OpenFile(path, identity);
  if (absl::IsUnavailable(file.status()))
    if (auto unwritable = TableFile::OpenReadOnly(path, identity); !absl::IsUnavailable(unwritable.status()))
      file = std::move(unwritable);
  if (remarks && file.ok() && !(*file)->writable())
    options.warn(Cat("'", path, "' can't be written; nothing is kept"));
  if (file.ok()) {
    auto table = std::make_unique<Table>(*std::move(file));
    if (options.pool != nullptr) return options.pool->Lend(target, std::move(table));
    return std::shared_ptr<Table>(std::move(table));
  }
  // A caller without remarks finds out from the null table that nothing can be kept.
  if (!remarks && absl::IsUnavailable(file.status())) return nullptr;
  KIRSCH_RETURN_IF_ERROR(WithoutTable(options, file.status()));
  return nullptr;
}

absl::Status CommitTable(const DbOptions& options, Table& table) {
  if (table.file() != nullptr && !table.file()->writable()) return absl::OkStatus();
  return WithoutTable(options, table.Commit());
}

absl::Status WithoutTable(const DbOptions& options, const absl::Status& problem) {
  // A table that can't be written is no error, not even if the user named it: results stay right without it.
  const bool unwritable = absl::IsUnavailable(problem);
  if (problem.ok() || (!options.path.empty() && !unwritable)) return problem;
  options.warn(Cat(std::string(problem.message()),
                   unwritable ? ": it can't be written; nothing is kept" : "; searching without a table"));
  return absl::OkStatus();
}

}  // namespace kirsch
