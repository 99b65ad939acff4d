// SPDX-License-Identifier: Apache-2.0
// A precomputed table is the same table, byte for byte, whoever worked on it; and it holds what single
// searches find.
#include "search/table/precompute.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "search/table/answer.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"
#include "tests/testing/thread_processes.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;

// What a file holds, page by page.
using Contents = std::vector<std::pair<PageKey, std::string>>;

class PrecomputeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        fs::path(::testing::TempDir()) / Cat("kirsch_precompute_", getpid(), "_",
                                             ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(directory_);
    fs::create_directory(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::unique_ptr<Table> Open(const std::string& name) const {
    auto file = TableFile::Open((directory_ / name).string(), IdentityOf(model_.target()));
    EXPECT_TRUE(file.ok()) << file.status();
    return std::make_unique<Table>(*std::move(file));
  }

  std::vector<Spec> Roots() const {
    std::vector<Spec> roots;
    const auto add = [&](testing::MatmulShape shape) {
      for (int threads : {1, 2}) {
        Spec root = testing::MatmulSpec(shape);
        root.threads = static_cast<uint8_t>(threads);
        roots.push_back(PlaceOperands(root, Residency::kWarm, model_.target()));
      }
    };
    for (uint32_t m : {1, 2, 3, 14, 16, 32, 33})
      for (uint32_t k : {1, 4, 40})
        for (uint32_t n : {1, 8, 16, 31, 64}) {
          add({.m = m, .k = k, .n = n});
          add({.m = m, .k = k, .n = n, .lhs = Order::kCol, .rhs = Order::kCol, .rhs_gap = 3});
        }
    add({.m = 120, .k = 130, .n = 140});
    add({.b = 3, .m = 60, .k = 200, .n = 90, .accumulate = true});
    return roots;
  }

  static Contents ContentsOf(const Table& table) {
    Contents contents;
    const absl::Status status = table.file()->ForEachPage([&](const TableFile::StoredPage& page) {
      contents.emplace_back(page.key, page.page.Encode());
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return contents;
  }

  Contents Made(const std::string& name, int processes, int workers) const {
    std::unique_ptr<Table> table = Open(name);
    testing::ThreadProcesses::Run(processes, [&](ProcessGroup& self) {
      Table none;
      PrecomputeOptions options;
      options.workers = workers;
      const auto progress = Precompute(Roots(), model_, self.rank() == 0 ? *table : none, self, options);
      ASSERT_TRUE(progress.ok()) << progress.status();
      if (self.rank() == 0) {
        EXPECT_EQ(progress->solved + progress->known, static_cast<int64_t>(Roots().size()));
      }
    });
    return ContentsOf(*table);
  }

  const CostModel model_{testing::Avx512Target()};
  fs::path directory_;
};

TEST_F(PrecomputeTest, ThreadsAndRanksChangeNothing) {
  const Contents expected = Made("alone", 1, 1);
  EXPECT_GT(expected.size(), 5u);
  EXPECT_EQ(Made("threads2", 1, 2), expected);
  EXPECT_EQ(Made("threads4", 1, 4), expected);
  EXPECT_EQ(Made("ranks2", 2, 1), expected);
  EXPECT_EQ(Made("ranks4", 4, 1), expected);
  EXPECT_EQ(Made("ranks3x2", 3, 2), expected);
}

TEST_F(PrecomputeTest, HoldsWhatSearchesFind) {
  Made("table", 2, 1);
  const std::unique_ptr<Table> table = Open("table");
  for (const Spec& root : Roots()) {
    HashMemo memo, unused;
    const SearchResult searched = Search(root, model_, memo, {});
    const auto answered = Answer(root, model_, unused, {}, table.get());
    ASSERT_TRUE(answered.ok()) << answered.status();
    EXPECT_TRUE(answered->from_table) << testing::Describe(root);
    EXPECT_EQ(answered->cost, searched.cost) << testing::Describe(root);
    EXPECT_EQ(PrintSchedule(answered->impl), PrintSchedule(searched.impl)) << testing::Describe(root);
  }
  EXPECT_TRUE(table->Added().empty());
}

// Cancelled after each round, it ends in the same table.
TEST_F(PrecomputeTest, GoesOnWhereItWasInterrupted) {
  const Contents expected = Made("at_once", 1, 1);
  const std::unique_ptr<Table> table = Open("in_parts");
  OneProcess alone;
  int64_t solved = 0;
  int parts = 0;
  while (solved < static_cast<int64_t>(Roots().size())) {
    ASSERT_LT(++parts, 100);
    std::atomic<bool> cancel = false;
    PrecomputeOptions options;
    options.cancel = &cancel;
    options.progress = [&](const PrecomputeProgress&) { cancel = true; };
    const auto progress = Precompute(Roots(), model_, *table, alone, options);
    ASSERT_TRUE(progress.ok()) << progress.status();
    EXPECT_EQ(progress->known, solved);
    solved += progress->solved;
  }
  EXPECT_GT(parts, 1);
  EXPECT_EQ(ContentsOf(*table), expected);
}

// Through mpirun, if there is one.
TEST_F(PrecomputeTest, MpiRanksMakeTheSameFile) {
#ifdef KIRSCH_SANITIZED
  GTEST_SKIP() << "MPI leaks what it allocates";
#endif
  if (std::system("mpirun --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no mpirun";
  const auto run = [this](const std::string& launcher, const std::string& name) {
    const std::string command =
        Cat("cd ", directory_.string(), " && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ",
            launcher, " ", KIRSCH_BINARY,
            " db precompute 'matmul f32 1..64x1..64x1..64' --target znver4 --search-threads 1 --db ", name,
            " 2>", name, ".err");
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    auto file = TableFile::OpenExisting((directory_ / name).string());
    EXPECT_TRUE(file.ok()) << file.status();
    return ContentsOf(Table(*std::move(file)));
  };
  const Contents expected = run("", "alone.db");
  EXPECT_GT(expected.size(), 5u);
  EXPECT_EQ(run("mpirun --oversubscribe -np 4", "processes.db"), expected);
}

}  // namespace
}  // namespace kirsch
