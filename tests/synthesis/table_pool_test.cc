// SPDX-License-Identifier: Apache-2.0
#include "synthesis/table_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "spec/language/parser.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::Avx2Target;
using testing::Avx512Target;

TEST(TablePoolTest, TablesComeBack) {
  const auto pool = std::make_shared<TablePool>();
  EXPECT_EQ(pool->Take(Avx2Target()), nullptr);
  std::shared_ptr<Table> table = pool->Lend(Avx2Target(), std::make_unique<Table>());
  const Table* const known = table.get();
  EXPECT_EQ(pool->Take(Avx2Target()), nullptr) << "it is lent";
  table = nullptr;
  EXPECT_EQ(pool->Take(Avx512Target()), nullptr) << "it is of another target";
  table = pool->Take(Avx2Target());
  EXPECT_EQ(table.get(), known);
  EXPECT_EQ(pool->Take(Avx2Target()), nullptr) << "it is lent again";
}

TEST(TablePoolTest, WhatWasAddedIsNotKept) {
  const auto pool = std::make_shared<TablePool>();
  std::shared_ptr<Table> table = pool->Lend(Avx2Target(), std::make_unique<Table>());
  ASSERT_TRUE(table->AddBound(ParseSpec("matmul f32 8x8x8")->spec, 1, 1).ok());
  table = nullptr;
  EXPECT_EQ(pool->Take(Avx2Target()), nullptr);
}

TEST(TablePoolTest, ForksOpenTheirOwn) {
  const auto pool = std::make_shared<TablePool>();
  (void)pool->Lend(Avx2Target(), std::make_unique<Table>());
  const pid_t child = fork();
  if (child == 0) _exit(pool->Take(Avx2Target()) == nullptr ? 0 : 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NE(pool->Take(Avx2Target()), nullptr);
}

TEST(TablePoolTest, TablesOutliveThePool) {
  auto pool = std::make_shared<TablePool>();
  const std::shared_ptr<Table> table = pool->Lend(Avx2Target(), std::make_unique<Table>());
  pool = nullptr;
  EXPECT_FALSE(table->HasAdded());
}

}  // namespace
}  // namespace kirsch
