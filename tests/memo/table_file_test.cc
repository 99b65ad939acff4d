// SPDX-License-Identifier: Apache-2.0
// The table on disk: whose it is, what it refuses, and what is left of it after kills and among crowds.
// Entries are made up, but can be checked: the decision of each follows from its spec.
#include "memo/table_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "memo/table.h"
#include "spec/text/file.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/temp_directory.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::TempDirectory;

const TableIdentity kIdentity = {"cpu", "{}", std::string(32, '1'), std::string(32, '2'),
                                 std::string(32, '3')};

Question QuestionNumber(uint32_t i) {
  std::mt19937_64 random(i);
  const Spec spec = testing::RandomMatmulSpec({.max_side = 400}, &random);
  return {spec, static_cast<Lines>(i)};  // no two are one
}

Decision TruthOf(const Question& question) {
  uint64_t hash = static_cast<uint64_t>(question.available);
  for (uint64_t word : question.spec.words()) hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  Decision decision;
  decision.kind = RewriteKind::kTile;
  decision.dim = static_cast<uint8_t>(hash >> 62);
  decision.size = static_cast<uint32_t>(hash >> 40);
  return decision;
}

TableEntry EntryNumber(uint32_t i) {
  const Question question = QuestionNumber(i);
  return {question.spec, question.available, TruthOf(question)};
}

std::unique_ptr<Table> OpenTable(const std::string& path, const TableIdentity& identity = kIdentity) {
  absl::StatusOr<std::unique_ptr<TableFile>> file = TableFile::Open(path, identity);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? std::make_unique<Table>(*std::move(file)) : nullptr;
}

void AddEntries(Table& table, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; ++i) ASSERT_TRUE(table.Add(EntryNumber(i)).ok());
}

bool Knows(Table& table, uint32_t i) {
  const TableEntry entry = EntryNumber(i);
  const auto found = table.Find(entry.spec, entry.available);
  return found.ok() && *found && **found == entry;
}

// The number of entries; adds a failure for each that is not true.
int CountTrueEntries(const TableFile& file) {
  int count = 0;
  const absl::Status status = file.ForEachPage([&](const TableFile::StoredPage& stored) {
    for (const PagePoint& point : stored.page.Points()) {
      const std::optional<Question> question = QuestionAt({stored.key.plane, point.point});
      EXPECT_TRUE(question && point.decision == TruthOf(*question));
      ++count;
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return count;
}

void Sql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

TEST(TableFileTest, RemembersWhatIsCommitted) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  {
    auto table = OpenTable(path);
    AddEntries(*table, 0, 100);
    ASSERT_TRUE(table->Commit().ok());
    AddEntries(*table, 100, 200);
    EXPECT_TRUE(Knows(*table, 150));
  }
  auto table = OpenTable(path);
  for (uint32_t i = 0; i < 200; ++i) EXPECT_EQ(Knows(*table, i), i < 100) << i;
  EXPECT_EQ(CountTrueEntries(*table->file()), 100);
  EXPECT_TRUE(table->file()->CheckIntegrity().ok());
  EXPECT_FALSE(*table->Add(EntryNumber(7))) << "known";
}

TEST(TableFileTest, FindsTheEntryForTheFewestLinesThatSuffice) {
  const TempDirectory directory;
  auto table = OpenTable(directory.File("t.db"));
  const Spec spec = testing::MatmulSpec({.m = 3, .k = 4, .n = 5});
  Decision decision;
  for (Lines lines : {10, 20, 30}) {
    decision.size = static_cast<uint32_t>(lines);
    ASSERT_TRUE(table->Add({spec, lines, decision}).ok());
    if (lines == 20) {
      ASSERT_TRUE(table->Commit().ok());  // the last one is not in the file
    }
  }
  for (Lines asked = 0; asked <= 30; ++asked) {
    const auto found = table->Find(spec, asked);
    ASSERT_TRUE(found.ok() && *found) << asked;
    EXPECT_EQ((*found)->available, std::max(10, (asked + 9) / 10 * 10)) << asked;
    EXPECT_EQ((*found)->decision.size, static_cast<uint32_t>((*found)->available));
  }
  EXPECT_FALSE(*table->Find(spec, 31));
  EXPECT_FALSE(*table->Find(testing::MatmulSpec({.m = 3, .k = 4, .n = 6}), 5));
}

TEST(TableFileTest, OfTwoBoundsTheGreaterIsKept) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  const Question question = QuestionNumber(3);
  auto table = OpenTable(path), late = OpenTable(path);
  EXPECT_EQ(*table->FindBound(question.spec, question.available), 0);
  ASSERT_TRUE(table->AddBound(question.spec, question.available, 1000).ok());
  ASSERT_TRUE(table->AddBound(question.spec, question.available, 900).ok());
  EXPECT_EQ(*table->FindBound(question.spec, question.available), 1000) << "before it is written";
  EXPECT_EQ(*table->FindBound(question.spec, question.available + 1), 0) << "more lines, maybe a cheaper one";
  ASSERT_TRUE(table->Commit().ok());
  for (const Cost bound : {990, 2000, 1500}) {
    ASSERT_TRUE(late->AddBound(question.spec, question.available, bound).ok());
    ASSERT_TRUE(late->Commit().ok());
    EXPECT_EQ(*table->FindBound(question.spec, question.available), bound < 1000 ? 1000 : 2000);
  }
  Sql(path, "UPDATE bounds SET checksum = checksum + 1");
  EXPECT_EQ(table->FindBound(question.spec, question.available).status().code(), absl::StatusCode::kDataLoss);
}

TEST(TableFileTest, QuestionsAboutBoundsAreReadBack) {
  for (uint32_t i = 0; i < 200; ++i) {
    const Question question = QuestionNumber(i);
    const std::string text = BoundQuestion(question.spec, question.available);
    EXPECT_EQ(ParseBoundQuestion(text), question) << text;
    for (const std::string& wrong :
         {text + " 1", text + ";", "1 " + text, text.substr(1), std::string("x") + text})
      EXPECT_NE(ParseBoundQuestion(wrong), question) << wrong;
  }
  EXPECT_FALSE(ParseBoundQuestion("").has_value());
  for (const char* wrong : {"", "0", "-1", "1.5", "x", "9223372036854775807"})
    EXPECT_EQ(ParseBound(wrong).status().code(), absl::StatusCode::kDataLoss) << wrong;
}

TEST(TableFileTest, AnotherPlanIsRefused) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  auto table = OpenTable(path), late = OpenTable(path);
  ASSERT_TRUE(table->AddText(TextKind::kPlan, "which graph", "one").ok());
  ASSERT_TRUE(table->Commit().ok());
  ASSERT_TRUE(late->AddText(TextKind::kPlan, "which graph", "two").ok());
  ASSERT_TRUE(late->AddText(TextKind::kTuned, "which machine", "fast").ok());
  EXPECT_EQ(late->Commit().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(*table->FindText(TextKind::kPlan, "which graph"), "one");
  EXPECT_FALSE((*table->FindText(TextKind::kTuned, "which machine")).has_value()) << "all or nothing";
}

TEST(TableFileTest, OfTwoMeasurementsTheFirstIsKept) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  for (const char* answer : {"fast", "slow"}) {
    auto table = OpenTable(path);
    ASSERT_TRUE(table->AddText(TextKind::kTuned, "which machine", answer).ok());
    ASSERT_TRUE(table->Commit().ok());
    EXPECT_EQ(*table->FindText(TextKind::kTuned, "which machine"), "fast");
  }
}

TEST(TableFileTest, AnotherSolutionIsRefused) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  auto table = OpenTable(path), late = OpenTable(path);
  TableEntry other = EntryNumber(1);
  ++other.decision.size;
  ASSERT_TRUE(late->Add(other).ok());
  AddEntries(*late, 2, 100);
  AddEntries(*table, 0, 2);
  EXPECT_EQ(table->Add(other).status().code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(table->Commit().ok());
  EXPECT_EQ(late->Commit().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(CountTrueEntries(*table->file()), 2) << "all or nothing";
}

TEST(TableFileTest, OtherIdentitiesAndFormatsAreLeftAlone) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  {
    AddEntries(*OpenTable(path), 0, 10);
  }
  const std::string bytes = *ReadFile(path);
  const auto expect_refused = [&](const TableIdentity& identity, const std::string& why) {
    const absl::Status status = TableFile::Open(path, identity).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  };
  TableIdentity other = kIdentity;
  other.target_fingerprint[5] = '0';
  expect_refused(other, "another target");
  other = kIdentity;
  other.rules_fingerprint[5] = '0';
  expect_refused(other, "other rewrite rules");
  other = kIdentity;
  other.cost_fingerprint[5] = '0';
  expect_refused(other, "another cost model");
  EXPECT_TRUE(*ReadFile(path) == bytes);
  other = kIdentity;
  other.target_name = "another name for it";
  EXPECT_TRUE(TableFile::Open(path, other).ok());

  Sql(path, Cat("PRAGMA user_version=", kTableFormat + 1));
  const std::string newer = *ReadFile(path);
  expect_refused(kIdentity,
                 Cat("expected a table of format ", kTableFormat, ", got format ", kTableFormat + 1));
  EXPECT_FALSE(TableFile::OpenExisting(path).ok());
  EXPECT_TRUE(*ReadFile(path) == newer);
  Sql(path, "PRAGMA application_id=5");
  const std::string foreign = *ReadFile(path);
  expect_refused(kIdentity, "not a table of Kirsch's");
  EXPECT_TRUE(*ReadFile(path) == foreign);
}

TEST(TableFileTest, ChangedIdentityIsDamage) {
  const TempDirectory directory;
  for (const char* name :
       {"target", "target_fingerprint", "rules_fingerprint", "cost_fingerprint", "checksum"}) {
    const std::string path = directory.File(name);
    OpenTable(path);
    Sql(path, Cat("UPDATE identity SET value = '", std::string(32, '4'), "' WHERE name = '", name, "'"));
    EXPECT_EQ(TableFile::OpenExisting(path).status().code(), absl::StatusCode::kDataLoss) << name;
    EXPECT_EQ(TableFile::Open(path, kIdentity).status().code(), absl::StatusCode::kDataLoss) << name;
  }
}

TEST(TableFileTest, WhatIsNoDatabaseIsLeftAlone) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  const std::string text(5000, 'x');
  ASSERT_TRUE(WriteFile(path, text).ok());
  const absl::Status status = TableFile::Open(path, kIdentity).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  EXPECT_FALSE(TableFile::OpenExisting(path).ok());
  EXPECT_EQ(*ReadFile(path), text);
  EXPECT_FALSE(TableFile::Open(directory.path(), kIdentity).ok()) << "a directory";
  EXPECT_FALSE(TableFile::Open(directory.File("no/t.db"), kIdentity).ok()) << "no directory";
  EXPECT_FALSE(TableFile::Open("/dev/full", kIdentity).ok());
  EXPECT_FALSE(TableFile::OpenExisting(directory.File("none")).ok());
  EXPECT_FALSE(fs::exists(directory.File("none")));
}

TEST(TableFileTest, EmptyFileBecomesATable) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  ASSERT_TRUE(WriteFile(path, "").ok());
  EXPECT_FALSE(TableFile::OpenExisting(path).ok()) << "not yet one";
  EXPECT_TRUE(TableFile::Open(path, kIdentity).ok());
  EXPECT_TRUE(TableFile::OpenExisting(path).ok());
}

TEST(TableFileTest, ReadOnlyFileIsReadAndNotWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write to any file";
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  {
    auto table = OpenTable(path);
    AddEntries(*table, 0, 10);
    ASSERT_TRUE(table->Commit().ok());
  }
  const std::string bytes = *ReadFile(path);
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  auto table = OpenTable(path);
  EXPECT_TRUE(Knows(*table, 3));
  AddEntries(*table, 10, 20);
  EXPECT_FALSE(table->Commit().ok());
  EXPECT_TRUE(*ReadFile(path) == bytes);
  ASSERT_EQ(chmod(directory.path().c_str(), 0555), 0);
  EXPECT_FALSE(TableFile::Open(directory.File("new.db"), kIdentity).ok());
  ASSERT_EQ(chmod(directory.path().c_str(), 0755), 0);
}

TEST(TableFileTest, FullDiskLosesNothingCommitted) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  const pid_t child = fork();
  if (child == 0) {  // a limit on the size of files is as good as a full disk, and needs no rights
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto table = OpenTable(path);
    absl::Status status;
    for (uint32_t i = 0; i < 500 && status.ok(); ++i) {
      AddEntries(*table, i * 10, i * 10 + 10);
      status = table->Commit();
    }
    _exit(status.ok() ? 1 : 0);
  }
  int code = 0;
  ASSERT_EQ(waitpid(child, &code, 0), child);
  EXPECT_EQ(code, 0) << "it was not full";
  auto table = OpenTable(path);
  const int count = CountTrueEntries(*table->file());
  EXPECT_GE(count, 10);
  for (uint32_t i = 0; i < static_cast<uint32_t>(count); ++i) EXPECT_TRUE(Knows(*table, i)) << i;
  EXPECT_TRUE(table->file()->CheckIntegrity().ok());
  AddEntries(*table, 6000, 6010);
  EXPECT_TRUE(table->Commit().ok());
}

constexpr uint32_t kEntriesEach = 8;  // of a transaction

// Commits transactions `next`, `next` + 1, ... and reports each that is done.
[[noreturn]] void WriteForever(const std::string& path, uint32_t next, int report) {
  auto table = OpenTable(path);
  for (; next < 1'000'000; ++next) {
    AddEntries(*table, next * kEntriesEach, (next + 1) * kEntriesEach);
    if (!table->Commit().ok()) break;
    if (write(report, &next, sizeof(next)) != sizeof(next)) break;
  }
  _exit(1);
}

// Lets a child write until it has reported `reports` transactions, and for `microseconds` more; the number of
// the last one it reported.
uint32_t WriteAndKill(const std::string& path, uint32_t next, int reports, useconds_t microseconds) {
  int channel[2];
  EXPECT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(channel[0]);
    WriteForever(path, next, channel[1]);
  }
  close(channel[1]);
  uint32_t last = next;
  for (int i = 0; i < reports; ++i) EXPECT_EQ(read(channel[0], &last, sizeof(last)), ssize_t{sizeof(last)});
  usleep(microseconds);
  kill(child, SIGKILL);
  while (read(channel[0], &last, sizeof(last)) == sizeof(last)) {
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "an error in the child";
  close(channel[0]);
  return last;
}

TEST(TableFileTest, KilledWritersLoseNothingCommitted) {
  const TempDirectory directory;
  std::mt19937_64 random(1);
  constexpr int kKills = 220, kKillsOfOne = 20;
  std::string path;
  uint32_t next = 0, first = 0;
  for (int i = 0; i < kKills && !HasFailure(); ++i) {
    if (i % kKillsOfOne == 0) {
      path = directory.File(Cat("t", i, ".db"));
      first = next;
    }
    const uint32_t last = WriteAndKill(path, next, 1 + static_cast<int>(random() % 4),
                                       static_cast<useconds_t>(random() % 3000));
    next = last + 1;
    auto table = OpenTable(path);
    ASSERT_TRUE(table->file()->CheckIntegrity().ok()) << i;
    CountTrueEntries(*table->file());
    for (uint32_t entry = first * kEntriesEach; entry < next * kEntriesEach; ++entry)
      ASSERT_TRUE(Knows(*table, entry)) << "kill " << i << ", entry " << entry;
    uint32_t known = 0;  // of the one that may have been under way
    for (uint32_t entry = 0; entry < kEntriesEach; ++entry)
      known += Knows(*table, next * kEntriesEach + entry) ? 1 : 0;
    ASSERT_TRUE(known == 0 || known == kEntriesEach) << "a part of a transaction";
  }
}

// What each of several processes does to one file: adds its entries and others', and asks for some.
bool WriteAndRead(const std::string& path, uint32_t process) {
  constexpr uint32_t kRounds = 40, kStep = 5;
  absl::StatusOr<std::unique_ptr<TableFile>> file = TableFile::Open(path, kIdentity);
  if (!file.ok()) return false;
  Table table(*std::move(file));
  std::mt19937_64 random(process);
  for (uint32_t round = 0; round < kRounds; ++round) {
    const uint32_t first = (process * kRounds / 2 + round) * kStep;  // half of them are another's too
    for (uint32_t i = first; i < first + kStep; ++i)
      if (!table.Add(EntryNumber(i)).ok()) return false;
    if (!table.Commit().ok()) return false;
    for (int i = 0; i < 10; ++i) {
      const TableEntry entry = EntryNumber(static_cast<uint32_t>(random() % 500));
      const auto found = table.Find(entry.spec, entry.available);
      if (!found.ok()) return false;
      if (*found && (*found)->decision != TruthOf({entry.spec, (*found)->available})) return false;
    }
  }
  return true;
}

TEST(TableFileTest, FourProcessesShareAFile) {
  const TempDirectory directory;
  for (int i = 0; i < 10 && !HasFailure(); ++i) {
    const std::string path = directory.File(Cat("t", i, ".db"));
    std::vector<pid_t> children;
    for (uint32_t process = 0; process < 4; ++process) {
      children.push_back(fork());
      if (children.back() == 0) _exit(WriteAndRead(path, process) ? 0 : 1);
    }
    for (pid_t child : children) {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
    auto table = OpenTable(path);
    EXPECT_EQ(CountTrueEntries(*table->file()), 500);
    for (uint32_t entry = 0; entry < 500; ++entry) EXPECT_TRUE(Knows(*table, entry)) << entry;
    EXPECT_TRUE(table->file()->CheckIntegrity().ok());
  }
}

// What is wrong with the file, its pages and all that is on them.
absl::Status CheckAll(const std::string& path) {
  absl::StatusOr<std::unique_ptr<TableFile>> file = TableFile::OpenExisting(path);
  if (!file.ok()) return file.status();
  if (absl::Status status = (*file)->CheckIntegrity(); !status.ok()) return status;
  return (*file)->ForEachPage([](const TableFile::StoredPage&) { return absl::OkStatus(); });
}

// Pages that grew, so that there is free space in all places.
TEST(TableFileTest, EveryByteIsCoveredByACheck) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db"), damaged = directory.File("damaged.db");
  {
    auto table = OpenTable(path);
    for (uint32_t i = 0; i < 2000; i += 100) {
      AddEntries(*table, i, i + 100);
      ASSERT_TRUE(table->Commit().ok());
    }
  }
  ASSERT_TRUE(CheckAll(path).ok());
  const std::string whole = *ReadFile(path);
  std::mt19937_64 random(1);
  for (size_t i = 0; i < 600; ++i) {
    std::string bytes = whole;
    const size_t at = i < 100 ? i : random() % whole.size();  // the file's header, then anywhere
    bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 + random() % 255));
    ASSERT_TRUE(WriteFile(damaged, bytes).ok());
    EXPECT_FALSE(CheckAll(damaged).ok()) << "byte " << at;
    std::filesystem::remove(damaged + "-wal");
    std::filesystem::remove(damaged + "-shm");
  }
  for (const std::string& bytes :
       {whole.substr(0, whole.size() - 1), whole + "x", whole + std::string(4096, 'x'),
        whole.substr(0, whole.size() - 4096), whole.substr(0, whole.size() / 2)}) {
    ASSERT_TRUE(WriteFile(damaged, bytes).ok());
    EXPECT_FALSE(CheckAll(damaged).ok()) << bytes.size();
  }
}

// Files of others are none of our business, even where they reserve as many bytes.
TEST(TableFileTest, ForeignFilesGetNoChecksums) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  Sql(path, "CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(5000))");
  const std::string bytes = *ReadFile(path);
  EXPECT_FALSE(TableFile::Open(path, kIdentity).ok());
  EXPECT_TRUE(*ReadFile(path) == bytes);
}

TEST(TableFileTest, AllDamagedPagesAreTold) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  {
    auto table = OpenTable(path);
    AddEntries(*table, 0, 200);
    ASSERT_TRUE(table->Commit().ok());
  }
  Sql(path,
      "UPDATE pages SET checksum = checksum + 1 WHERE rowid = 2;"
      "UPDATE pages SET data = X'00' WHERE rowid = 4;"
      "UPDATE pages SET key = X'00' WHERE rowid = 5;");
  auto table = OpenTable(path);
  int pages = 0, damaged = 0;
  const absl::Status status = table->file()->ForEachPage(
      [&](const TableFile::StoredPage&) {
        ++pages;
        return absl::OkStatus();
      },
      [&](const absl::Status& damage) {
        EXPECT_EQ(damage.code(), absl::StatusCode::kDataLoss);
        EXPECT_THAT(std::string(damage.message()), HasSubstr(path));
        ++damaged;
      });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(damaged, 3);
  EXPECT_GT(pages, 3);
  EXPECT_EQ(table->file()->CheckIntegrity().code(), absl::StatusCode::kDataLoss) << "another wrote to it";
  const auto ok = [](const TableFile::StoredPage&) { return absl::OkStatus(); };
  EXPECT_EQ(table->file()->ForEachPage(ok).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace kirsch
