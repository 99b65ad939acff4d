// SPDX-License-Identifier: Apache-2.0
// kirsch db merge OUT IN...
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spec/text/cat.h"
#include "tools/db_command.h"

namespace kirsch {
namespace {

using Points = std::map<PageKey, std::vector<PagePoint>>;

struct MergeArguments {
  std::string output;
  std::vector<std::string> inputs;
};

absl::Status RefuseOthers(const TableFile& file, const TableFile& first) {
  const TableIdentity &a = file.identity(), &b = first.identity();
  const char* const other = a.target_fingerprint != b.target_fingerprint ? "another target"
                            : a.rules_fingerprint != b.rules_fingerprint ? "other rewrite rules"
                            : a.cost_fingerprint != b.cost_fingerprint   ? "another cost model"
                                                                         : nullptr;
  if (other == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      Cat("'", file.path(), "': a table for ", other, " than '", first.path(), "' is"));
}

// A table at `path` that is whole and of the identity of `first`, if there is one already.
absl::StatusOr<std::unique_ptr<TableFile>> OpenLike(const std::string& path, const TableFile* first) {
  absl::StatusOr<std::unique_ptr<TableFile>> file = OpenNamed(path);
  if (!file.ok()) return file.status();
  absl::Status status = first == nullptr ? absl::OkStatus() : RefuseOthers(**file, *first);
  if (status.ok()) status = (*file)->CheckIntegrity();
  if (!status.ok()) return status;
  return file;
}

// An error of two tables that have different answers to one question.
absl::Status Contradiction(const absl::Status& status) {
  if (!absl::IsAlreadyExists(status)) return status;
  return absl::AlreadyExistsError(Cat("the tables contradict each other: ", std::string(status.message())));
}

// Appends the table's entries; their number.
absl::StatusOr<int64_t> Read(const TableFile& file, Points* points, TableTexts* texts) {
  int64_t entries = 0;
  for (const TextKind kind : kTextKinds) {
    const absl::Status read =
        file.ForEachText(kind, [&](const std::string& question, const std::string& answer) {
          ++entries;
          return texts->Add(kind, question, answer);
        });
    if (!read.ok()) return Contradiction(read);
  }
  absl::Status status = file.ForEachPage([&](const TableFile::StoredPage& stored) {
    const std::vector<PagePoint> more = stored.page.Points();
    std::vector<PagePoint>& known = (*points)[stored.key];
    known.insert(known.end(), more.begin(), more.end());
    entries += static_cast<int64_t>(more.size());
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return entries;
}

// An error if two of the tables have different solutions for one spec; else each point once.
absl::Status Unite(Points* points) {
  for (auto& [key, page] : *points) {
    absl::StatusOr<Page> united = Page::Of(std::move(page));
    if (!united.ok()) return Contradiction(absl::AlreadyExistsError(united.status().message()));
    page = united->Points();
  }
  return absl::OkStatus();
}

int64_t CountPoints(const Points& points) {
  int64_t count = 0;
  for (const auto& [key, page] : points) count += static_cast<int64_t>(page.size());
  return count;
}

absl::StatusOr<int> Merge(const MergeArguments& arguments) {
  std::unique_ptr<TableFile> output, first;
  Points points, old;
  TableTexts texts, old_texts;
  int64_t read = 0;
  for (const std::string& path : arguments.inputs) {
    absl::StatusOr<std::unique_ptr<TableFile>> input = OpenLike(path, first.get());
    if (!input.ok()) return input.status();
    absl::StatusOr<int64_t> entries = Read(**input, &points, &texts);
    if (!entries.ok()) return entries.status();
    read += *entries;
    if (first == nullptr) first = *std::move(input);
  }
  if (std::filesystem::exists(arguments.output)) {
    absl::StatusOr<std::unique_ptr<TableFile>> opened = OpenLike(arguments.output, first.get());
    if (!opened.ok()) return opened.status();
    output = *std::move(opened);
    if (absl::StatusOr<int64_t> entries = Read(*output, &old, &old_texts); !entries.ok())
      return entries.status();
  }
  Points all = old;
  int64_t new_texts = 0;
  for (const TextKind kind : kTextKinds)
    for (const auto& [question, answer] : texts[kind])
      new_texts += old_texts[kind].contains(question) ? 0 : 1;
  for (const auto& [key, page] : points) all[key].insert(all[key].end(), page.begin(), page.end());
  absl::Status status = Unite(&all);
  if (!status.ok()) return status;
  if (output == nullptr) {
    absl::StatusOr<std::unique_ptr<TableFile>> made = TableFile::Open(arguments.output, first->identity());
    if (!made.ok()) return made.status();
    output = *std::move(made);
  }
  if (status = output->Add(points, texts); !status.ok()) return status;
  std::printf("%s entries read, %s of them new to %s\n", Cat(read).c_str(),
              Cat(CountPoints(all) - CountPoints(old) + new_texts).c_str(), arguments.output.c_str());
  return 0;
}

}  // namespace

void AddDbMerge(CLI::App& db_command, Run& run) {
  CLI::App* command = db_command.add_subcommand("merge", "Add the entries of tables to a table");
  auto arguments = std::make_shared<MergeArguments>();
  command->add_option("OUT", arguments->output, "The table to add to; made if there is none")->required();
  command->add_option("IN", arguments->inputs, "The tables to take from")->required();
  command->callback([&run, arguments] { run = [arguments] { return Merge(*arguments); }; });
}

}  // namespace kirsch
