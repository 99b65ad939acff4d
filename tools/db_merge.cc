// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch db merge OUT IN...`: adds the entries of tables to a table. Tables can be filled on several
// machines, and put together here.
//
// Invariant: OUT is changed only after all tables have been read and found to agree.
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "tools/db_command.h"

namespace kirsch {
namespace {

using Points = std::map<PageKey, std::vector<PagePoint>>;

struct MergeArguments {
  std::string output;
  std::vector<std::string> inputs;
};

// Tables may be merged only if they are for the same target, rules and cost model. Else their solutions don't
// mean the same. FailedPrecondition says what differs.
absl::Status RefuseOthers(const TableFile& file, const TableFile& first) {
  const char* const other = DifferenceOf(file.identity(), first.identity());
  if (other == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      Cat("'", file.path(), "': a table for ", other, " than '", first.path(), "' is"));
}

// Opens a table that is there. An error if it is damaged, or not of the identity of `first`; null: any
// identity will do.
absl::StatusOr<std::unique_ptr<TableFile>> OpenLike(const std::string& path, const TableFile* first) {
  KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<TableFile> file, OpenNamed(path));
  absl::Status status = first == nullptr ? absl::OkStatus() : RefuseOthers(*file, *first);
  if (status.ok()) status = file->CheckIntegrity();
  if (!status.ok()) return status;
  return file;
}

// Two tables that agree in identity can't have different answers. If they have, the error says so.
absl::Status Contradiction(const absl::Status& status) {
  if (!absl::IsAlreadyExists(status)) return status;
  return absl::AlreadyExistsError(Cat("the tables contradict each other: ", std::string(status.message())));
}

// Appends the table's entries to `points` and `texts`. Returns their number.
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
  KIRSCH_RETURN_IF_ERROR(file.ForEachPage([&](const TableFile::StoredPage& stored) {
    const std::vector<PagePoint> more = stored.page.Points();
    // Several tables may have a page for the same part of a plane.
    std::vector<PagePoint>& known = (*points)[stored.key];
    known.insert(known.end(), more.begin(), more.end());
    entries += static_cast<int64_t>(more.size());
    return absl::OkStatus();
  }));
  return entries;
}

// Leaves each point once. An error if two tables have different solutions for one spec.
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

// The command. Prints how many entries were read, and how many were new.
absl::StatusOr<int> Merge(const MergeArguments& arguments) {
  std::unique_ptr<TableFile> output, first;
  Points points, old;
  TableTexts texts, old_texts;
  int64_t read = 0;
  // 1. Read all inputs; the first one sets the identity.
  for (const std::string& path : arguments.inputs) {
    KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<TableFile> input, OpenLike(path, first.get()));
    KIRSCH_ASSIGN_OR_RETURN(int64_t entries, Read(*input, &points, &texts));
    read += entries;
    if (first == nullptr) first = std::move(input);
  }
  // 2. Read what OUT has already.
  if (std::filesystem::exists(arguments.output)) {
    KIRSCH_ASSIGN_OR_RETURN(output, OpenLike(arguments.output, first.get()));
    KIRSCH_RETURN_IF_ERROR(Read(*output, &old, &old_texts).status());
  }
  // 3. Put them together in memory, which finds contradictions, and count what is new.
  Points all = old;
  int64_t new_texts = 0;
  for (const TextKind kind : kTextKinds)
    for (const auto& [question, answer] : texts[kind])
      new_texts += old_texts[kind].contains(question) ? 0 : 1;
  for (const auto& [key, page] : points) all[key].insert(all[key].end(), page.begin(), page.end());
  absl::Status status = Unite(&all);
  if (!status.ok()) return status;
  // 4. Write. A new OUT gets the identity of the inputs.
  if (output == nullptr) {
    KIRSCH_ASSIGN_OR_RETURN(output, TableFile::Open(arguments.output, first->identity()));
  }
  if (status = output->Add(points, texts); !status.ok()) return status;
  std::printf("%s entries read, %s of them new to %s\n", Cat(read).c_str(),
              Cat(CountPoints(all) - CountPoints(old) + new_texts).c_str(), arguments.output.c_str());
  return 0;
}

}  // namespace

void AddDbMerge(const Command& db_command, Run& run) {
  const Command command = db_command.AddCommand("merge", "Add the entries of tables to a table");
  auto arguments = std::make_shared<MergeArguments>();
  command.Add("OUT", arguments->output, "The table to add to; made if there is none").Required();
  command.Add("IN", arguments->inputs, "The tables to take from").Required();
  command.OnChosen([&run, arguments] { run = [arguments] { return Merge(*arguments); }; });
}

}  // namespace kirsch
