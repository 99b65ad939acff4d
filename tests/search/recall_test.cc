// SPDX-License-Identifier: Apache-2.0
// What a table answers: the program and the cost that the search finds, or nothing; and on a damaged file,
// an error, nothing, or the same program.
#include "search/table/recall.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "search/table/answer.h"
#include "spec/convolution.h"
#include "spec/language/schedule.h"
#include "spec/text/file.h"
#include "tests/testing/brute_force.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"
#include "tests/testing/temp_directory.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;
using testing::TempDirectory;

std::unique_ptr<Table> OpenTable(const std::string& path, const Target& target) {
  absl::StatusOr<std::unique_ptr<TableFile>> file = TableFile::Open(path, IdentityOf(target));
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? std::make_unique<Table>(*std::move(file)) : nullptr;
}

std::vector<Spec> SomeRoots(const Target& target, int count, double max_flops) {
  std::mt19937_64 random(21);
  std::vector<Spec> roots;
  for (int i = 0; i < count; ++i) {
    const Spec spec = testing::RandomMatmulSpec(
        {.max_side = 120, .max_flops = max_flops, .constants = true, .constant_batches = true}, &random);
    roots.push_back(PlaceOperands(spec, i % 3 == 0 ? Residency::kCold : Residency::kWarm, target));
    roots.back().threads = i % 4 == 1 ? 2 : 1;
  }
  // Registers of another form.
  ConvShape depthwise{.group = 1, .channels = 40, .filters = 40};
  depthwise.axes = {{{}, {.size = 9, .kernel = 3}, {.size = 9, .kernel = 3}}};
  roots.push_back(PlaceOperands(ConvolutionSpec(depthwise, {Dtype::kF32, Dtype::kF32, Dtype::kF32}),
                                Residency::kWarm, target));
  return roots;
}

SearchResult Ask(const Spec& root, const CostModel& model, Table* table) {
  HashMemo memo;
  absl::StatusOr<SearchResult> result = Answer(root, model, memo, {}, table);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : SearchResult();
}

void ExpectSame(const SearchResult& result, const SearchResult& expected, const Spec& root) {
  EXPECT_EQ(result.cost, expected.cost) << testing::Describe(root);
  EXPECT_EQ(PrintSchedule(result.impl), PrintSchedule(expected.impl)) << testing::Describe(root);
}

// Asks all, none of them known before; returns how many were then recalled.
int AskAll(const std::vector<Spec>& roots, const std::vector<SearchResult>& expected, const CostModel& model,
           Table* table) {
  int recalled = 0;
  for (size_t i = 0; i < roots.size(); ++i) {
    const SearchResult result = Ask(roots[i], model, table);
    ExpectSame(result, expected[i], roots[i]);
    recalled += result.from_table ? 1 : 0;
  }
  return recalled;
}

int CountParallel(const std::vector<SearchResult>& results) {
  return static_cast<int>(std::count_if(results.begin(), results.end(), [](const SearchResult& result) {
    return PrintSchedule(result.impl).find("parallel") != std::string::npos;
  }));
}

// So that it pays to share out small matmuls over threads.
Target WithCheapThreads(Target target) {
  target.fork_join_cycles = 20;
  return target;
}

class RecallTest : public ::testing::TestWithParam<Target> {
 protected:
  RecallTest()
      : model_(GetParam()), roots_(SomeRoots(GetParam(), 60, GetParam().line_bytes == 64 ? 4e5 : 800)) {
    for (const Spec& root : roots_) expected_.push_back(Ask(root, model_, nullptr));
  }

  int total() const { return static_cast<int>(roots_.size()); }

  const CostModel model_;
  const std::vector<Spec> roots_;
  std::vector<SearchResult> expected_;
};

INSTANTIATE_TEST_SUITE_P(Targets, RecallTest,
                         ::testing::Values(WithCheapThreads(testing::Avx2Target()),
                                           WithCheapThreads(testing::Avx512Target()), testing::TinyTarget()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(RecallTest, EmptyAndWarmTablesAnswerLikeNone) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  for (int i = 0; i < 2; ++i) {
    auto table = OpenTable(path, GetParam());
    const int recalled = AskAll(roots_, expected_, model_, table.get());
    EXPECT_GT(CountParallel(expected_), 5) << "what is for two threads has a part for one each";
    if (i == 0) {
      EXPECT_LT(recalled, total() / 4) << "only what is below another";
    } else {
      EXPECT_EQ(recalled, total());
    }
    EXPECT_EQ(AskAll(roots_, expected_, model_, table.get()), total()) << "before it is written";
    ASSERT_TRUE(table->Commit().ok());
    EXPECT_EQ(AskAll(roots_, expected_, model_, table.get()), total()) << "and after";
  }
}

// A program that costs less than the cutoff, or none: what is known already is not searched for.
TEST_P(RecallTest, ProofsAreRecalled) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  const auto ask = [&](size_t i, Cost cutoff, Table* table) {
    HashMemo memo;
    const absl::StatusOr<SearchResult> result = Answer(roots_[i], model_, memo, {.cutoff = cutoff}, table);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : SearchResult();
  };
  {
    auto table = OpenTable(path, GetParam());
    for (size_t i = 0; i < roots_.size(); ++i)
      EXPECT_EQ(ask(i, expected_[i].cost, table.get()).stop, StopReason::kCutoff)
          << testing::Describe(roots_[i]);
    ASSERT_TRUE(table->Commit().ok());
  }
  auto table = OpenTable(path, GetParam());
  for (size_t i = 0; i < roots_.size(); ++i) {
    const Cost least = expected_[i].cost;
    for (const Cost cutoff : {least, least - 1, least / 2}) {
      const SearchResult known = ask(i, cutoff, table.get());
      EXPECT_TRUE(known.from_table);
      EXPECT_EQ(known.stop, StopReason::kCutoff);
      EXPECT_GE(known.bound, cutoff);
      EXPECT_LE(known.bound, least);
    }
    const SearchResult found = ask(i, least + 1, table.get());
    ExpectSame(found, expected_[i], roots_[i]);
    EXPECT_EQ(found.stop, StopReason::kOptimal);
    EXPECT_TRUE(ask(i, least, table.get()).from_table) << "now that there is a program";
  }
}

TEST_P(RecallTest, MergedTablesAnswerLikeNone) {
  const TempDirectory directory;
  const size_t half = roots_.size() / 2;
  auto merged = OpenTable(directory.File("merged.db"), GetParam());
  for (const auto& [first, end] : {std::pair<size_t, size_t>{0, half}, {half, roots_.size()}}) {
    auto table = OpenTable(directory.File(Cat(first)), GetParam());
    for (size_t i = first; i < end; ++i)
      ExpectSame(Ask(roots_[i], model_, table.get()), expected_[i], roots_[i]);
    for (const TableEntry& entry : table->Added()) ASSERT_TRUE(merged->Add(entry).ok());
  }
  ASSERT_TRUE(merged->Commit().ok());
  EXPECT_EQ(AskAll(roots_, expected_, model_, merged.get()), total());
}

TEST_P(RecallTest, WhatIsRememberedDoesNotDependOnTheMemo) {
  HashMemo memo;  // of all searches so far
  for (const Spec& root : roots_) {
    HashMemo fresh;
    (void)Search(root, model_, memo, {});
    (void)Search(root, model_, fresh, {});
    const Lines available = AvailableAtPlacement(root, GetParam());
    EXPECT_EQ(ProgramEntries(root, available, model_, memo), ProgramEntries(root, available, model_, fresh))
        << testing::Describe(root);
  }
}

TEST_P(RecallTest, IllegalDecisionsAreDamage) {
  Table good;
  for (const Spec& root : roots_) (void)Ask(root, model_, &good);
  std::mt19937_64 random(2);
  int errors = 0;
  for (const TableEntry& entry : good.Added()) {
    Table bad;
    TableEntry changed = entry;
    changed.decision.size = static_cast<uint32_t>(random() % 50);
    changed.decision.dim = static_cast<uint8_t>(random() % kMaxDims);
    changed.decision.operand = static_cast<uint8_t>(random() % kMaxOperands);
    changed.decision.level = static_cast<Level>(random() % kNumLevels);
    ASSERT_TRUE(bad.Add(changed).ok());
    const auto recalled = Recall(entry.spec, entry.available, model_, bad);
    if (IsLegal(entry.spec, changed.decision, GetParam()) && recalled.ok()) continue;
    EXPECT_EQ(recalled.status().code(), absl::StatusCode::kDataLoss);
    ++errors;
  }
  EXPECT_GT(errors, 100);
}

// A sub-spec of a solved root is asked about with every number of lines: the table knows the optimum or
// nothing.
TEST(RecallTinyTest, EveryEntryIsTheOptimumWhereverItHolds) {
  const Target target = testing::TinyTarget();
  const CostModel model(target);
  testing::BruteForce brute_force(model);
  int checked = 0;
  for (const Spec& root : SomeRoots(target, 30, 200)) {
    Table table;
    (void)Ask(root, model, &table);
    for (const TableEntry& entry : table.Added()) {
      if (entry.available > target.at(Level::kL3).bytes / target.line_bytes) continue;
      for (Lines lines = 0; lines <= entry.available; ++lines) {
        const auto recalled = Recall(entry.spec, lines, model, table);
        ASSERT_TRUE(recalled.ok()) << recalled.status();
        if (!*recalled) continue;
        ++checked;
        ASSERT_EQ((*recalled)->cost, brute_force.Best(entry.spec, lines)) << testing::Describe(entry.spec);
        ASSERT_EQ((*recalled)->cost, testing::CostOf((*recalled)->impl, model));
        ASSERT_LE((*recalled)->peak, lines);
      }
    }
  }
  EXPECT_GT(checked, 1000);
}

// Where in a file the pages begin: zstd's magic number.
std::vector<size_t> PagesIn(const std::string& bytes) {
  std::vector<size_t> places;
  for (size_t at = 0; (at = bytes.find("\x28\xb5\x2f\xfd", at)) != std::string::npos; ++at)
    places.push_back(at);
  return places;
}

// Flips bits, cuts off the end, or wipes a block.
std::string Damaged(std::string bytes, std::mt19937_64* random) {
  constexpr size_t kBlock = 512;
  switch ((*random)() % 8) {
    case 0:
      bytes.resize((*random)() % bytes.size());
      break;
    case 2:
    case 3:
    case 4: {  // in a page
      const std::vector<size_t> pages = PagesIn(bytes);
      const size_t at = pages[(*random)() % pages.size()] + (*random)() % 64;
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << (*random)() % 8));
      break;
    }
    case 1: {
      const size_t block = (*random)() % (bytes.size() / kBlock) * kBlock;
      std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(block), kBlock, '\0');
      break;
    }
    default:
      for (uint64_t flips = (*random)() % 2 == 0 ? 1 : 1 + (*random)() % 64; flips > 0; --flips) {
        char& byte = bytes[(*random)() % bytes.size()];
        byte = static_cast<char>(byte ^ (1 << (*random)() % 8));
      }
  }
  return bytes;
}

struct DamageCounts {
  int refused = 0, errors = 0, unknown = 0, right = 0;
};

// Asks a damaged file for all; a failure if it gives a wrong answer.
void AskDamaged(const std::string& path, const std::vector<Spec>& roots,
                const std::vector<RecalledProgram>& expected, const CostModel& model, DamageCounts* counts) {
  absl::StatusOr<std::unique_ptr<TableFile>> file = TableFile::Open(path, IdentityOf(model.target()));
  if (!file.ok()) {
    ++counts->refused;
    return;
  }
  Table table(*std::move(file));
  for (size_t i = 0; i < roots.size(); ++i) {
    const Lines available = AvailableAtPlacement(roots[i], model.target());
    const absl::StatusOr<std::optional<RecalledProgram>> recalled = Recall(roots[i], available, model, table);
    if (!recalled.ok()) {
      ++counts->errors;
    } else if (!*recalled) {
      ++counts->unknown;
    } else {
      ++counts->right;
      ASSERT_EQ((*recalled)->cost, expected[i].cost);
      ASSERT_EQ(PrintSchedule((*recalled)->impl), PrintSchedule(expected[i].impl));
    }
  }
}

TEST(DamagedTableTest, NeverGivesAWrongAnswer) {
  const TempDirectory directory;
  const std::string path = directory.File("t.db");
  const Target target = testing::Avx2Target();
  const CostModel model(target);
  const std::vector<Spec> roots = SomeRoots(target, 12, 2e5);
  std::vector<RecalledProgram> expected;
  {
    auto table = OpenTable(path, target);
    for (const Spec& root : roots) {
      (void)Ask(root, model, table.get());
      expected.push_back(**Recall(root, AvailableAtPlacement(root, target), model, *table));
    }
    ASSERT_TRUE(table->Commit().ok());
  }
  const std::string bytes = *ReadFile(path);
  std::mt19937_64 random(9);
  DamageCounts counts;
  for (int i = 0; i < 4000 && !::testing::Test::HasFatalFailure(); ++i) {
    const std::string damaged_path = directory.File(Cat("damaged", i));
    ASSERT_TRUE(WriteFile(damaged_path, Damaged(bytes, &random)).ok());
    AskDamaged(damaged_path, roots, expected, model, &counts);
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(damaged_path + suffix);
  }
  EXPECT_GT(counts.refused, 100);
  EXPECT_GT(counts.errors, 100);
  EXPECT_GT(counts.unknown, 100);
  EXPECT_GT(counts.right, 1000);
}

}  // namespace
}  // namespace kirsch
