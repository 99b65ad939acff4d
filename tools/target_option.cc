// SPDX-License-Identifier: Apache-2.0
#include "tools/target_option.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "spec/text/date.h"
#include "spec/text/file.h"
#include "spec/text/identifier.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"
#include "synthesis/database.h"
#include "synthesis/usable_target.h"
#include "tools/output.h"

namespace kirsch {
namespace {

constexpr char kNotCalibrated[] = "not-calibrated";  // the name of a file

// True if `what` has not been said today (UTC), as far as is known. Some remarks are made once a day only. A
// file beside the tables, called `what`, has the day on which the remark was made last.
bool IsDueToday(const std::string& what) {
  const std::string directory = CacheDirectory();
  if (directory.empty()) return true;
  // Another day, or no file: it is due.
  const absl::StatusOr<std::string> said = ReadFile(Cat(directory, "/", what));
  return !said.ok() || *said != Today();
}

// Keeps that `what` has been said today. Where that can't be kept, it will be said again.
void KeepToday(const std::string& what) {
  const std::string directory = CacheDirectory();
  if (directory.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  (void)WriteFile(Cat(directory, "/", what), Today());
}

// The name of the target that this command calls uncalibrated; empty: none.
std::string& ToldUncalibrated() {
  static std::string& name = *new std::string();
  return name;
}

// Adds the remark that a host is not calibrated, if it has not been made today. The day is kept only after
// the remark was printed, so a command that fails does not use it up.
void TellUncalibrated(const TargetFile& host) {
  if (!IsDueToday(kNotCalibrated)) return;
  ToldUncalibrated() = host.target.name;
  RemarkAtEnd(host.note, [] { KeepToday(kNotCalibrated); });
}

}  // namespace

bool IsToldUncalibrated(const Target& target) {
  return !ToldUncalibrated().empty() && target.name == ToldUncalibrated();
}

absl::StatusOr<Target> LoadTarget(const std::string& name_or_path) {
  KIRSCH_ASSIGN_OR_RETURN(TargetFile found, FindUsableTarget(name_or_path));
  // Costs of another machine are worth a remark, but not in every command.
  if (found.uncalibrated)
    TellUncalibrated(found);
  else if (!found.note.empty())
    RemarkAtEnd(found.note);
  // Warnings are about keys of the file that mean nothing.
  for (const std::string& warning : found.warnings) PrintRemark(Cat("warning: ", warning));
  return std::move(found.target);
}

std::string NamesOfTargets(const std::vector<Target>& targets) { return Join(NamesOf(targets), ","); }

// Unlike LoadTargets it loads nothing, so it can be asked before errors of targets are looked for.
std::vector<std::string> TargetFilesIn(const std::string& list) {
  std::vector<std::string> files;
  for (const Word& word : Split({list, {}}, ',')) {
    const std::vector<Target>& named = NamedTargets();
    // A named target is part of the program, and no file.
    if (word.text == "host")
      files.push_back(HostFile());
    else if (std::ranges::none_of(named, [&](const Target& target) { return target.name == word.text; }))
      files.emplace_back(word.text);
  }
  return files;
}

// Names are compared as identifiers, as those are in the functions' names: "skylake-avx512" is skylake_avx512
// there.
absl::StatusOr<std::vector<Target>> LoadTargets(const std::string& list) {
  std::vector<Target> targets;
  for (const Word& word : Split({list, {}}, ',')) {
    KIRSCH_ASSIGN_OR_RETURN(Target target, LoadTarget(std::string(word.text)));
    for (const Target& before : targets)
      if (MakeIdentifier(before.name) == MakeIdentifier(target.name))  // what its functions are called by
        return absl::InvalidArgumentError(
            Cat("--target: expected different targets, got ", Quoted(target.name), " twice"));
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace kirsch
