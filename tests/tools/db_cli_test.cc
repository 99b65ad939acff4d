// SPDX-License-Identifier: Apache-2.0
// kirsch db and --db as a script sees them. KIRSCH_BINARY is the path of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "memo/table.h"
#include "search/table/recall.h"
#include "spec/target/target_json.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"
#include "tests/testing/temp_directory.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::Outcome;
using ::testing::StartsWith;

class DbCliTest : public ::testing::Test {
 protected:
  // The user's cache is in the directory, too.
  Outcome Run(const std::string& arguments) const {
    return kirsch::testing::RunKirsch("XDG_CACHE_HOME=" + File("cache"), arguments, File(""));
  }

  void ExpectRefused(const std::string& arguments, const std::string& message) const {
    testing::ExpectRefusal(Run(arguments), arguments, message);
  }

  std::string File(const std::string& name) const { return directory_.File(name); }

  static std::string Synth(const std::string& spec, const std::string& rest) {
    return Cat("synth 'matmul f32 ", spec, "' --no-verify --emit schedule --target haswell ", rest);
  }

  // A table of the programs of `specs` in the file `name`; its path.
  std::string MakeTable(const std::string& name, const std::vector<std::string>& specs) const {
    for (const std::string& spec : specs) EXPECT_EQ(Run(Synth(spec, "--db " + File(name))).code, 0) << spec;
    return File(name);
  }

  std::string Export(const std::string& path) const {
    const Outcome outcome = Run("db export " + path);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }

  json Stats(const std::string& path) const {
    return json::parse(Run(Cat("db stats ", path, " --json -")).out, nullptr, false);
  }

  void Sql(const std::string& path, const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  // The table at `path` once more in the file `name`, with what `change` makes of its identity and decisions.
  template <typename Change>
  std::string Changed(const std::string& path, const std::string& name, Change change) const {
    const auto table = TableFile::OpenExisting(path);
    TableIdentity identity = (*table)->identity();
    std::map<PageKey, std::vector<PagePoint>> points;
    const absl::Status read = (*table)->ForEachPage([&](const TableFile::StoredPage& stored) {
      points[stored.key] = stored.page.Points();
      return absl::OkStatus();
    });
    EXPECT_TRUE(read.ok());
    change(&identity, &points.begin()->second.front().decision);
    EXPECT_TRUE((*TableFile::Open(File(name), identity))->Add(points).ok());
    return File(name);
  }

  const testing::TempDirectory directory_;
};

const std::vector<std::string> kSome = {"20x30x40", "64x64x64", "7x8x9 lhs=col accumulate"};
const std::vector<std::string> kOthers = {"33x34x35", "64x64x64", "17x40x30 rhs=col"};

TEST_F(DbCliTest, BadInputIsRefusedOnOneLine) {
  ASSERT_TRUE(WriteFile(File("text"), std::string(3000, 'x')).ok());
  ASSERT_TRUE(WriteFile(File("empty"), "").ok());
  ExpectRefused("db", "expected a command (stats, check, export, merge or precompute), got nothing");
  for (const char* command : {"stats", "check", "export"}) {
    const std::string db = Cat("db ", command, " ");
    ExpectRefused(db + File("none"), File("none") + "': No such file or directory");
    ExpectRefused(db + directory_.path(), "expected a table, got a directory");
    ExpectRefused(db + File("text"), "no table of Kirsch's, or a damaged one");
    ExpectRefused(db + File("empty"), "not a table of Kirsch's");
    ExpectRefused(db + "--db " + directory_.path(), "No such file or directory");
    ExpectRefused(db, File("cache/kirsch/"));
    ExpectRefused(db + "--no-db", "expected FILE");
    ExpectRefused(db + "--target vax", "expected one of haswell");
  }
  ExpectRefused("db merge", "OUT is required");
  ExpectRefused("db merge out", "IN is required");
  ExpectRefused(Cat("db merge ", File("out"), " ", File("none")), "No such file or directory");
  ExpectRefused(Cat("db check ", File("none"), " --search -1"), "--search");
  ExpectRefused(Cat("db export -o ", File("no/where")), "No such file or directory");
  EXPECT_FALSE(fs::exists(File("out")));
}

TEST_F(DbCliTest, TableIsTheOneOfTheTargetIfNotNamed) {
  ASSERT_EQ(Run(Synth("20x30x40", "")).code, 0);
  EXPECT_THAT(Run("db stats --target haswell").out, HasSubstr("a table for haswell"));
  EXPECT_EQ(Run("db check --target haswell").code, 0);
  EXPECT_THAT(Run("db export --target haswell").out, HasSubstr("\"m\":[20]"));
  ASSERT_EQ(Run(Synth("20x30x41", "--db " + directory_.path())).code, 0);
  EXPECT_THAT(Run(Cat("db export --target haswell --db ", directory_.path())).out, HasSubstr("\"n\":[41]"));
}

TEST_F(DbCliTest, StatsCountWhatIsThere) {
  const std::string path = MakeTable("t.db", kSome);
  const json stats = Stats(path);
  const std::string lines = Export(path);
  EXPECT_EQ(stats["boxes"], std::count(lines.begin(), lines.end(), '\n'));
  EXPECT_EQ(stats["target"], "haswell");
  for (const char* name : {"target", "rules", "cost"}) {
    EXPECT_EQ(stats["fingerprints"][name]["matches"], true) << name;
    EXPECT_EQ(stats["fingerprints"][name]["value"].get<std::string>().size(), 32u) << name;
  }
  EXPECT_EQ(stats["disk_bytes"], fs::file_size(path));
  int entries = 0, boxes = 0, bytes = 0;
  for (const json& part : stats["parts"]) {
    entries += part["entries"].get<int>();
    boxes += part["boxes"].get<int>();
    bytes += part["bytes"].get<int>();
  }
  EXPECT_EQ(stats["entries"], entries);
  EXPECT_EQ(stats["boxes"], boxes);
  EXPECT_EQ(stats["page_bytes"], bytes);
  EXPECT_EQ(stats["dense"]["per_entry"]["bytes"], 8 * entries);
  EXPECT_GT(stats["dense"]["powers_of_two"]["points"], entries);
  EXPECT_GT(stats["dense"]["lines"]["points"], stats["dense"]["powers_of_two"]["points"]);
  EXPECT_THAT(Run("db stats " + path).out, HasSubstr(Cat(entries, " entries in ", boxes, " boxes")));
}

TEST_F(DbCliTest, BoundsOfFamiliesAreKept) {
  const std::string family = "1..40x64x80";
  const std::string path = MakeTable("t.db", {family});
  EXPECT_GT(Stats(path)["bounds"], 0);
  EXPECT_THAT(Export(path), HasSubstr("{\"bound\":\""));
  const auto report = [&](const std::string& rest) {
    return json::parse(Run(Synth(family, "--json - " + rest)).out, nullptr, false);
  };
  json with = report("--db " + path), without = report("--no-db");
  EXPECT_EQ(with["search"]["specs_solved"], 0);
  EXPECT_GT(without["search"]["specs_solved"], 1000);
  with.erase("search"), without.erase("search");
  EXPECT_EQ(with, without);
  // A table with other proofs, and one in which they are wrong.
  const std::string other = MakeTable("other.db", {"1..40x72x80"}), merged = File("merged.db");
  EXPECT_EQ(Run(Cat("db merge ", merged, " ", path, " ", other)).code, 0);
  EXPECT_EQ(Stats(merged)["bounds"].get<int>(),
            Stats(path)["bounds"].get<int>() + Stats(other)["bounds"].get<int>());
  EXPECT_EQ(Run(Cat("db check ", merged, " --search 20")).code, 0);
  absl::StatusOr<std::unique_ptr<TableFile>> file = TableFile::OpenExisting(merged);
  TableTexts wrong;
  const absl::Status read =
      (*file)->ForEachText(TextKind::kBound, [&](const std::string& question, const std::string& answer) {
        return wrong.Add(TextKind::kBound, question, BoundText(2 * *ParseBound(answer)));
      });
  ASSERT_TRUE(read.ok() && (*file)->Add({}, wrong).ok());
  const Outcome outcome = Run(Cat("db check ", merged, " --search 1"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("cycles, less than its bound, "));
}

// Line by line, entry by entry.
TEST_F(DbCliTest, DensePointsAreCountedByTheirDefinition) {
  const std::string path = MakeTable("t.db", {"4x4x4", "64x64x64", "100x100x100", "33x34x35"});
  Table table(*TableFile::OpenExisting(path));
  const CostModel model(ParseTarget(table.file()->identity().target, "")->target);
  int64_t entries = 0, powers = 0, lines = 0, above_zero = 0;
  std::map<Spec::Words, Lines> answered;
  const absl::Status status = table.file()->ForEachPage([&](const TableFile::StoredPage& stored) {
    for (const PagePoint& point : stored.page.Points()) {
      const Question entry = *QuestionAt({stored.key.plane, point.point});
      const Lines peak = (*Recall(entry.spec, entry.available, model, table))->peak;
      const auto before = answered.find(entry.spec.words());
      const Lines low = before == answered.end() ? peak : std::max(peak, before->second + 1);
      const int64_t powers_before = powers;
      for (Lines available = low; available <= entry.available; ++available, ++lines)
        powers += std::has_single_bit(static_cast<uint32_t>(available)) ? 1 : 0;
      if (powers == powers_before) ++powers;
      answered[entry.spec.words()] = entry.available;
      above_zero += peak > 0 ? 1 : 0;
      ++entries;
    }
    return absl::OkStatus();
  });
  ASSERT_TRUE(status.ok());
  ASSERT_GT(above_zero, 0);
  const json stats = Stats(path);
  EXPECT_EQ(stats["entries"], entries);
  EXPECT_EQ(stats["dense"]["lines"]["points"], lines);
  EXPECT_EQ(stats["dense"]["powers_of_two"]["points"], powers);
}

TEST_F(DbCliTest, ExportDependsOnTheEntriesAlone) {
  std::vector<std::string> specs = kSome;
  const std::string path = MakeTable("t.db", specs);
  std::reverse(specs.begin(), specs.end());
  const std::string text = Export(path);
  EXPECT_EQ(Export(MakeTable("reversed.db", specs)), text);
  EXPECT_THAT(text, HasSubstr("\"sizes\":{\"b\":[1],\"m\":[64],\"k\":[64],\"n\":[64]}"));
  EXPECT_THAT(text, HasSubstr("\"decision\":\"microkernel\""));
  ASSERT_EQ(Run(Cat("db export ", path, " -o ", File("text"))).code, 0);
  EXPECT_EQ(*ReadFile(File("text")), text);
}

TEST_F(DbCliTest, WholeTablesPassTheCheck) {
  const std::string path = MakeTable("t.db", kSome);
  const Outcome outcome = Run(Cat("db check ", path, " --search 100"));
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, StartsWith("whole: "));
  EXPECT_THAT(outcome.out, Not(HasSubstr(" 0 searched")));
  EXPECT_THAT(Run(Cat("db check ", path, " --search 2")).out, HasSubstr(" 2 searched for again"));
}

TEST_F(DbCliTest, AllDamagedPagesAreReported) {
  const std::string path = MakeTable("t.db", kSome);
  Sql(path, "UPDATE pages SET checksum = checksum + 1 WHERE rowid IN (2, 3, 5)");
  const Outcome outcome = Run("db check " + path);
  EXPECT_EQ(outcome.code, 1);
  const std::string finding = Cat("'", path, "': damaged: page ");
  size_t found = 0;
  for (size_t at = 0; (at = outcome.out.find(finding, at)) != std::string::npos; ++at)
    found += at == 0 || outcome.out[at - 1] == '\n' ? 1 : 0;  // else an entry that would need the page
  EXPECT_EQ(found, 3u) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("\ndamaged: "));
  ExpectRefused("db stats " + path, "its checksum doesn't match");
  ExpectRefused("db export " + path, "its checksum doesn't match");
}

TEST_F(DbCliTest, FindingsAreCutOff) {
  const std::string path = MakeTable("t.db", {"4x4x4"});
  Sql(path,
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) "
      "INSERT INTO pages SELECT CAST(i AS BLOB), 0, X'' FROM n");
  const Outcome outcome = Run("db check " + path);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 22) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("\n... and 11 more\n"));
}

TEST_F(DbCliTest, MissingPagesAreFound) {
  const std::string path = MakeTable("t.db", {"64x64x64"});
  Sql(path, "DELETE FROM pages WHERE rowid = 1");
  const Outcome outcome = Run("db check " + path);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("its program is not whole"));
}

TEST_F(DbCliTest, MergeIsTheUnion) {
  const std::string a = MakeTable("a.db", kSome), b = MakeTable("b.db", kOthers), out = File("out.db");
  std::vector<std::string> all = kSome;
  all.insert(all.end(), kOthers.begin(), kOthers.end());
  const std::string both = MakeTable("both.db", all);
  const int read = Stats(a)["entries"].get<int>() + Stats(b)["entries"].get<int>();
  const Outcome outcome = Run(Cat("db merge ", out, " ", a, " ", b));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            Cat(read, " entries read, ", Stats(both)["entries"].get<int>(), " of them new to ", out, "\n"));
  EXPECT_EQ(Export(out), Export(both));
  EXPECT_EQ(Run(Cat("db merge ", out, " ", b)).out,
            Cat(Stats(b)["entries"].get<int>(), " entries read, 0 of them new to ", out, "\n"));
  EXPECT_EQ(Run(Cat("db merge ", a, " ", b)).code, 0) << "into one that is there";
  EXPECT_EQ(Export(a), Export(both));
  const Outcome synth = Run(Synth("33x34x35", "--json - --db " + out));
  EXPECT_EQ(json::parse(synth.out, nullptr, false)["search"]["from_table"], true);
}

TEST_F(DbCliTest, OtherTablesAreNotMerged) {
  const std::string a = MakeTable("a.db", kSome), out = File("out.db"), other = File("other.db");
  ASSERT_EQ(Run(Cat("synth 'matmul f32 9x9x9' --no-verify --target znver4 --db ", other)).code, 0);
  const std::string bytes = *ReadFile(a);
  ExpectRefused(Cat("db merge ", out, " ", a, " ", other), other + "': a table for another target than");
  EXPECT_FALSE(fs::exists(out));
  ExpectRefused(Cat("db merge ", a, " ", other), a + "': a table for another target than");
  EXPECT_TRUE(*ReadFile(a) == bytes);
}

TEST_F(DbCliTest, DamagedTablesAreNotMerged) {
  const std::string a = MakeTable("a.db", kSome), b = MakeTable("b.db", kOthers);
  Sql(b, "UPDATE pages SET checksum = checksum + 1 WHERE rowid = 2");
  const std::string bytes = *ReadFile(a);
  ExpectRefused(Cat("db merge ", File("out.db"), " ", a, " ", b), b + "': damaged: the file's page ");
  EXPECT_FALSE(fs::exists(File("out.db")));
  ExpectRefused(Cat("db merge ", a, " ", b), b + "': damaged: the file's page ");
  EXPECT_TRUE(*ReadFile(a) == bytes);
}

TEST_F(DbCliTest, ContradictionsAreNotMerged) {
  const std::string a = MakeTable("a.db", {"64x64x64"});
  const std::string b =
      Changed(a, "b.db", [](TableIdentity*, Decision* decision) { decision->size = 12345; });
  const std::string bytes = *ReadFile(a);
  EXPECT_EQ(Run("db check " + b).code, 1) << "the decision isn't legal";
  ExpectRefused(Cat("db merge ", a, " ", b), "two decisions for one spec");
  EXPECT_TRUE(*ReadFile(a) == bytes);
  ExpectRefused(Cat("db merge ", File("out.db"), " ", a, " ", b), "two decisions for one spec");
  EXPECT_FALSE(fs::exists(File("out.db")));
}

TEST_F(DbCliTest, TablesOfOtherVersionsAreShownButNotRecalled) {
  const std::string path =
      Changed(MakeTable("now.db", kSome), "then.db",
              [](TableIdentity* identity, Decision*) { identity->rules_fingerprint = std::string(32, '0'); });
  const Outcome check = Run(Cat("db check ", path, " --search 5"));
  EXPECT_EQ(check.code, 0) << check.out;
  EXPECT_THAT(check.out, HasSubstr("could not be checked"));
  const json stats = Stats(path);
  EXPECT_EQ(stats["fingerprints"]["rules"]["matches"], false);
  EXPECT_EQ(stats["fingerprints"]["cost"]["matches"], true);
  EXPECT_TRUE(stats["dense"]["lines"].is_null());
  EXPECT_GT(stats["dense"]["per_entry"]["points"], 0);
  EXPECT_THAT(Run("db stats " + path).out, HasSubstr("not this program's"));
  EXPECT_NE(Export(path), "");
  ExpectRefused(Synth("4x4x4", "--db " + path), "other rewrite rules");
}

// Where nothing can be written the answer is the same, and one line says that it isn't kept.
TEST_F(DbCliTest, UnwritableTablesAreReadWithARemark) {
  const std::string expected = Run(Synth("64x64x64", "--no-db")).out;
  const Outcome nowhere = Run(Synth("64x64x64", "--db /proc/none/t.db"));
  EXPECT_EQ(nowhere.code, 0);
  EXPECT_EQ(nowhere.out, expected);
  EXPECT_THAT(nowhere.err, StartsWith("kirsch: warning: '/proc/none': "));
  EXPECT_THAT(nowhere.err, HasSubstr("; nothing is kept\n"));
  const Outcome graph =
      Run("synth 'attention f32 heads=1 tokens=16 dim=16' --no-verify --db /proc/none/t.db");
  EXPECT_EQ(graph.code, 0);
  EXPECT_EQ(graph.err.find("nothing is kept"), graph.err.rfind("nothing is kept")) << graph.err;
  ExpectRefused("db precompute 'matmul f32 4x4x4' --db /proc/none/t.db --target haswell",
                "expected a table to write to");
  if (geteuid() == 0) GTEST_SKIP() << "root may write to any file";
  const std::string path = MakeTable("t.db", {"64x64x64"}), bytes = *ReadFile(path);
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  for (const mode_t mode : {0755, 0555}) {  // without and with files beside it
    ASSERT_EQ(chmod(directory_.path().c_str(), mode), 0);
    for (const char* spec : {"64x64x64", "33x34x35"}) {
      const int status =
          std::system(Cat(KIRSCH_BINARY, " ", Synth(spec, Cat("--db ", path)), " >/dev/null 2>&1").c_str());
      EXPECT_EQ(status, 0) << spec;
    }
    EXPECT_TRUE(*ReadFile(path) == bytes);
  }
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  EXPECT_THAT(Run(Synth("33x34x35", Cat("--db ", path))).err, HasSubstr("can't be written; nothing is kept"));
}

TEST_F(DbCliTest, DamagedTablesAreAnErrorIfNamedAndElseAWarning) {
  const std::string expected = Run(Synth("64x64x64", "--no-db")).out;
  const std::string named = MakeTable("t.db", {"64x64x64"});
  ASSERT_EQ(Run(Synth("64x64x64", "")).out, expected);
  const auto entry = fs::directory_iterator(File("cache/kirsch"));
  const std::string cached = entry->path().string();
  const std::string whole = *ReadFile(named);
  std::string no_header = whole;
  no_header.replace(0, 100, 100, 'x');
  for (const std::string& damaged : {no_header, std::string(2000, 'x')}) {
    ASSERT_TRUE(WriteFile(named, damaged).ok());
    ExpectRefused(Synth("64x64x64", "--db " + named), named);
    ASSERT_TRUE(WriteFile(cached, damaged).ok());
    const Outcome outcome = Run(Synth("64x64x64", ""));
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, expected);
    EXPECT_THAT(outcome.err, StartsWith("kirsch: warning: '"));
    EXPECT_THAT(outcome.err, HasSubstr("searching without a table\n"));
  }
  for (const std::string& path : {named, cached}) {
    ASSERT_TRUE(WriteFile(path, whole).ok());
    Sql(path, "UPDATE pages SET checksum = checksum + 1");
  }
  ExpectRefused(Synth("64x64x64", "--db " + named), "its checksum doesn't match");
  const Outcome outcome = Run(Synth("64x64x64", ""));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, expected);
  EXPECT_THAT(outcome.err, HasSubstr("its checksum doesn't match; searching without a table\n"));
}

}  // namespace
}  // namespace kirsch
