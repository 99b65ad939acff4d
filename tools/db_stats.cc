// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch db stats [FILE]`: says what a table holds, and how small it is beside a dense table.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cost/cost_model.h"
#include "search/table/recall.h"
#include "spec/expansion.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "tools/db_command.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/report_head.h"

namespace kirsch {
namespace {

// A dense table is the plain alternative: an array with a field for each question. The ratio of both sizes
// says what boxes and compression save.
constexpr char kDefinition[] =
    "A dense table has a 4-byte cost and a 4-byte decision for each spec and each limit that it answers.";
constexpr int64_t kDenseBytes = 8;  // of a field: the cost and the decision

struct StatsArguments {
  TableChoice table;
  std::string json;
};

// The fields that a dense table would need for the same answers. An entry holds for a range of numbers of
// lines. A dense table must have a field for each number that may be asked: all of them, or powers of two
// only.
struct DensePoints {
  int64_t entries = 0;        // one for each, whatever number of lines it holds for
  int64_t powers_of_two = 0;  // one for each power of two among these numbers; one where there is none
  int64_t lines = 0;          // one for each of these numbers
};

// A part of a table: all that has one operation and fills one level.
struct Part {
  int64_t entries = 0, boxes = 0, bytes = 0;
};

// What the pages and texts of a table hold.
struct Stats {
  int64_t pages = 0, disk_bytes = 0;
  int64_t plans = 0, groups = 0;  // of graphs
  int64_t tuned = 0;              // measurements, which are no answers
  int64_t bounds = 0;             // proofs that no program costs less
  Part total;
  DensePoints dense;
  std::map<std::pair<OpKind, Level>, Part> parts;  // by the level that the specs fill
};

// Counts what `entry` answers beyond the entry of the same spec for fewer lines, which answers up to
// `answered` lines. The entry holds for all numbers of lines from what its program needs (its peak) up to its
// own.
//
//   an entry for 512 lines, whose program needs 5; the entry before it answers up to 3 lines
//     -->  one entry; 7 powers of two (8 to 512); 508 numbers of lines (5 to 512)
absl::Status CountPoints(const Question& entry, int64_t answered, Recaller& recaller, DensePoints* dense) {
  KIRSCH_ASSIGN_OR_RETURN(std::optional<Solution> solution, recaller.Find(entry.spec, entry.available));
  if (!solution) return absl::DataLossError("an entry without a whole program (see kirsch db check)");
  if (FillingLevel(entry.spec) == Level::kRam) {  // without limits
    ++dense->powers_of_two, ++dense->lines;
    return absl::OkStatus();
  }
  // The entry answers the numbers of lines from `low` to `high`.
  const int64_t low = std::max<int64_t>(solution->peak, answered + 1), high = entry.available;
  // The number of powers of two that are at most `end`.
  const auto powers_below = [](int64_t end) { return std::bit_width(static_cast<uint64_t>(end)); };
  dense->powers_of_two +=
      std::max<int64_t>(1, powers_below(high) - powers_below(std::max<int64_t>(low, 1) - 1));
  dense->lines += high - low + 1;
  return absl::OkStatus();
}

// Counts a page. `recaller`: null if the table's programs can't be made, so that what they need is not known.
absl::Status CountPage(const TableFile::StoredPage& stored, Recaller* recaller, Stats* stats) {
  const std::vector<PagePoint> points = stored.page.Points();
  // Points of a page are in order: those of one spec stand together, by ascending lines.
  std::optional<Question> before;
  for (const PagePoint& point : points) {
    std::optional<Question> entry = QuestionAt({stored.key.plane, point.point});
    if (!entry) return absl::DataLossError("an entry that is no spec (see kirsch db check)");
    const int64_t answered = before && before->spec == entry->spec ? before->available : -1;
    if (recaller != nullptr) KIRSCH_RETURN_IF_ERROR(CountPoints(*entry, answered, *recaller, &stats->dense));
    before = entry;
  }
  // Entries, boxes and bytes count for the whole, and for the part that the page belongs to.
  ++stats->pages;
  stats->dense.entries += static_cast<int64_t>(points.size());
  if (!before) return absl::OkStatus();
  // All specs of a page have one operation and fill one level.
  for (Part* part :
       {&stats->total, &stats->parts[{before->spec.op_info().base, FillingLevel(before->spec)}]}) {
    part->entries += static_cast<int64_t>(points.size());
    part->boxes += static_cast<int64_t>(stored.page.boxes().size());
    part->bytes += stored.bytes;
  }
  return absl::OkStatus();
}

// Bytes of the file, and of SQLite's write-ahead log beside it.
int64_t DiskBytes(const std::string& path) {
  int64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path + suffix, error);
    if (!error) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

// Counts the texts of one kind.
absl::Status CountTexts(const Table& table, TextKind kind, int64_t* count) {
  return table.file()->ForEachText(kind, [&](const std::string&, const std::string&) {
    ++*count;
    return absl::OkStatus();
  });
}

// Reads the whole table once. An error if a page is damaged.
absl::StatusOr<Stats> Gather(Table& table, const IdentityMatch& match) {
  Stats stats;
  stats.disk_bytes = DiskBytes(table.file()->path());
  const CostModel model(match.target);
  Recaller recaller(model, table);
  absl::Status status = table.file()->ForEachPage([&](const TableFile::StoredPage& page) {
    return CountPage(page, match.all() ? &recaller : nullptr, &stats);
  });
  if (status.ok())
    status = table.file()->ForEachText(TextKind::kPlan, [&](const std::string&, const std::string& schedule) {
      ++stats.plans;
      // A plan's schedule has a line for each of its groups.
      for (size_t at = schedule.find("\ngroup "); at != schedule.npos; at = schedule.find("\ngroup ", at + 1))
        ++stats.groups;
      return absl::OkStatus();
    });
  if (status.ok()) status = CountTexts(table, TextKind::kTuned, &stats.tuned);
  if (status.ok()) status = CountTexts(table, TextKind::kBound, &stats.bounds);
  if (!status.ok()) return status;
  return stats;
}

// A way to count the fields of a dense table: its key in JSON, its text for people. `known` is false if it
// takes programs that can't be made.
struct Ratio {
  const char* key;
  const char* text;
  int64_t points;
  bool known;
};

std::vector<Ratio> Ratios(const Stats& stats, bool recalled) {
  // The first is known without programs: a field for each entry.
  return {{"per_entry", "one limit an entry", stats.dense.entries, true},
          {"powers_of_two", "limits in powers of two", stats.dense.powers_of_two, recalled},
          {"lines", "limits in single lines", stats.dense.lines, recalled}};
}

double RatioOf(const Ratio& ratio, const Stats& stats) {
  return static_cast<double>(ratio.points * kDenseBytes) / static_cast<double>(stats.disk_bytes);
}

// The report as JSON; docs/json/db-stats.schema.json describes it.
nlohmann::ordered_json Json(const TableFile& file, const Stats& stats, const IdentityMatch& match) {
  const TableIdentity& identity = file.identity();
  nlohmann::ordered_json json;
  json["path"] = file.path();
  json["fingerprints"] = {
      {"target", {{"value", identity.target_fingerprint}, {"matches", match.target_matches}}},
      {"rules", {{"value", identity.rules_fingerprint}, {"matches", match.rules_match}}},
      {"cost", {{"value", identity.cost_fingerprint}, {"matches", match.cost_matches}}}};
  json["entries"] = stats.total.entries;
  json["boxes"] = stats.total.boxes;
  json["pages"] = stats.pages;
  json["plans"] = stats.plans;
  json["groups"] = stats.groups;
  json["tuned"] = stats.tuned;
  json["bounds"] = stats.bounds;
  json["disk_bytes"] = stats.disk_bytes;
  json["page_bytes"] = stats.total.bytes;
  json["dense"]["definition"] = kDefinition;
  for (const Ratio& ratio : Ratios(stats, match.all())) {
    // A ratio that is not known is null: readers find the key in every report.
    json["dense"][ratio.key] = nullptr;
    if (ratio.known)
      json["dense"][ratio.key] = {
          {"points", ratio.points}, {"bytes", ratio.points * kDenseBytes}, {"ratio", RatioOf(ratio, stats)}};
  }
  json["parts"] = nlohmann::ordered_json::array();
  for (const auto& [key, part] : stats.parts)
    json["parts"].push_back({{"op", std::string(Info(key.first).name)},
                             {"level", std::string(Name(key.second))},
                             {"entries", part.entries},
                             {"boxes", part.boxes},
                             {"bytes", part.bytes}});
  return json;
}

// Says for which target the table is, and whether its fingerprints are this program's.
void PrintIdentity(const TableFile& file, const IdentityMatch& match) {
  const TableIdentity& identity = file.identity();
  const auto line = [](const char* what, const std::string& fingerprint, bool matches) {
    std::printf("  %-6s  %s  %s\n", what, fingerprint.c_str(),
                matches ? "this program's" : "not this program's");
  };
  std::printf("%s: a table for %s\n", file.path().c_str(), identity.target_name.c_str());
  line("target", identity.target_fingerprint, match.target_matches);
  line("rules", identity.rules_fingerprint, match.rules_match);
  line("cost", identity.cost_fingerprint, match.cost_matches);
}

// The report for people: identity, totals, a table of ratios, and a table of parts.
void Print(const TableFile& file, const Stats& stats, const IdentityMatch& match) {
  PrintIdentity(file, match);
  std::printf("\n%s\n\n", Cat(stats.total.entries, " entries in ", stats.total.boxes, " boxes on ",
                              stats.pages, " pages, ", stats.groups, " groups of ", stats.plans, " graphs; ",
                              stats.bounds, " bounds; ", stats.tuned, " tuned by measuring; ",
                              stats.disk_bytes, " bytes on disk, ", stats.total.bytes, " of them in pages")
                              .c_str());
  std::printf("%s\n", kDefinition);
  std::printf("  %-24s %20s %20s %10s\n", "", "points", "bytes", "ratio");
  for (const Ratio& ratio : Ratios(stats, match.all())) {
    if (ratio.known)
      std::printf("  %-24s %20s %20s %10.2f\n", ratio.text, Cat(ratio.points).c_str(),
                  Cat(ratio.points * kDenseBytes).c_str(), RatioOf(ratio, stats));
    else
      std::printf("  %-24s %20s (the table is not this program's)\n", ratio.text, "unknown");
  }
  std::printf("\n  %-10s %-6s %12s %12s %12s\n", "op", "fills", "entries", "boxes", "bytes");
  for (const auto& [key, part] : stats.parts)
    std::printf("  %-10s %-6s %12s %12s %12s\n", std::string(Info(key.first).name).c_str(),
                std::string(Name(key.second)).c_str(), Cat(part.entries).c_str(), Cat(part.boxes).c_str(),
                Cat(part.bytes).c_str());
}

// Prints the report, or writes the JSON, or both.
absl::StatusOr<int> PrintStats(const StatsArguments& arguments, const DbOptions& db) {
  KIRSCH_RETURN_IF_ERROR(CheckOutputs({arguments.json}, InputsOf(arguments.table, db)));
  KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<TableFile> file, OpenChoice(arguments.table, db));
  Table table(std::move(file));
  const IdentityMatch match = MatchIdentity(table.file()->identity());
  KIRSCH_ASSIGN_OR_RETURN(Stats stats, Gather(table, match));
  if (arguments.json != "-") Print(*table.file(), stats, match);
  if (!arguments.json.empty()) {
    // The report's target is that of the table.
    const ReportHead head = {"db stats", table.file()->identity().target_name};
    KIRSCH_RETURN_IF_ERROR(WriteJson(arguments.json, WithHead(head, Json(*table.file(), stats, match))));
  }
  return 0;
}

}  // namespace

void AddDbStats(const Command& db_command, const DbOptions& db, Run& run) {
  const Command command = db_command.AddCommand("stats", "What a table holds, and how small it is");
  auto arguments = std::make_shared<StatsArguments>();
  AddTableChoice(command, arguments->table);
  command.BeginGroup(kOutputGroup);
  command.AddFile("--json", arguments->json, "Write this as JSON to this file (-: standard output)");
  command.OnChosen([&run, &db, arguments] { run = [arguments, &db] { return PrintStats(*arguments, db); }; });
}

}  // namespace kirsch
