// SPDX-License-Identifier: Apache-2.0
// Operands that come from RAM beside others that wait in caches.
#include "search/solver/residency.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "search/table/answer.h"
#include "search/table/plan_recall.h"
#include "spec/language/graph_parser.h"
#include "spec/language/parser.h"
#include "spec/text/text.h"
#include "tests/testing/targets.h"
#include "tests/testing/temp_directory.h"

namespace kirsch {
namespace {

const std::vector<std::string> kNames = {"lhs", "rhs", "out"};

TEST(ResidencyTest, AListOfNames) {
  EXPECT_EQ(*ParseResidency("rhs", "--cold", kNames), Residency(2));
  EXPECT_EQ(*ParseResidency("out,lhs", "--cold", kNames), Residency(5));
  EXPECT_TRUE(Residency::kCold.InRam(70));
  EXPECT_FALSE(Residency(2).InRam(70));
}

TEST(ResidencyTest, ErrorsSayWhere) {
  const auto error = [](const char* text) {
    return std::string(ParseResidency(text, "--cold", kNames).status().message());
  };
  EXPECT_EQ(error("rhs,weights"), "--cold:1:5: expected one of the operands lhs, rhs, out, got 'weights'");
  EXPECT_EQ(error("rhs,out,rhs"), "--cold:1:9: expected each operand once, got 'rhs'");
  EXPECT_EQ(error("rhs,"), "--cold:1:5: expected one of the operands lhs, rhs, out, got nothing");
  EXPECT_EQ(error(""), "--cold:1:1: expected one of the operands lhs, rhs, out, got nothing");
}

// Those that aren't in RAM are as warm as they all fit.
TEST(ResidencyTest, TheOthersAreInTheFastestCache) {
  const Target target = testing::Avx512Target();
  const Spec root = ParseSpec("matmul f32 4x512x4096 epilogue=add:n,mul:mn")->spec;
  const auto levels = [&](Residency residency) {
    const Spec placed = PlaceOperands(root, residency, target);
    std::vector<Level> levels;
    for (int operand = 0; operand < root.op_info().num_operands; ++operand)
      levels.push_back(placed.tensor(operand).level);
    return levels;
  };
  using enum Level;
  const Level all = levels(Residency::kWarm).front();
  EXPECT_EQ(levels(Residency::kWarm), (std::vector{all, all, all, kL1, all}));
  EXPECT_EQ(levels(Residency::kCold), (std::vector{kRam, kRam, kRam, kL1, kRam}));
  EXPECT_GT(all, kL2);
  EXPECT_EQ(levels(Residency(2)), (std::vector{kL2, kRam, kL2, kL1, kL2}));
  EXPECT_EQ(levels(Residency(2 | 4 | 16)), (std::vector{kL1, kRam, kRam, kL1, kRam}));
}

SearchResult Ask(const std::string& text, Residency residency, Table* table) {
  const Target target = testing::Avx512Target();
  HashMemo memo;
  const absl::StatusOr<SearchResult> result =
      Answer(PlaceOperands(ParseSpec(text)->spec, residency, target), CostModel(target), memo, {}, table);
  EXPECT_TRUE(result.ok()) << result.status();
  return *result;
}

// Each of them is a question of its own to a table, with costs between those of all warm and of all cold.
TEST(ResidencyTest, TablesTellThemApart) {
  const std::string text = "matmul f32 3x200x300";
  const testing::TempDirectory directory;
  Table table(*TableFile::Open(directory.File("t.db"), IdentityOf(testing::Avx512Target())));
  std::vector<Cost> costs;
  for (Residency residency : {Residency::kWarm, Residency(4), Residency(2), Residency(6), Residency::kCold}) {
    const SearchResult found = Ask(text, residency, &table);
    EXPECT_FALSE(found.from_table);
    costs.push_back(found.cost);
  }
  EXPECT_LT(costs[0], costs[1]);
  EXPECT_LT(costs[1], costs[2]);
  EXPECT_LT(costs[2], costs[4]);
  ASSERT_TRUE(table.Commit().ok());
  Table again(*TableFile::Open(directory.File("t.db"), IdentityOf(testing::Avx512Target())));
  const SearchResult known = Ask(text, Residency(2), &again);
  EXPECT_TRUE(known.from_table);
  EXPECT_EQ(known.cost, costs[2]);
}

// What tables have been asked before is asked in the same words.
TEST(ResidencyTest, PlansAreQuestionsOfTheirOwn) {
  const std::string text =
      "kernel mlp(x: f32[4,64], w: f32[64,900], v: f32[900,64]):\n return matmul(relu(matmul(x, w)), v)";
  const Graph graph = *ParseGraph(Split({text, {}}, '\n'), "test");
  const auto question = [&](Residency residency) {
    PlanOptions options;
    options.residency = residency;
    return PlanQuestion(graph, options);
  };
  EXPECT_EQ(question(Residency::kWarm).substr(0, 17), "threads=1 result=");
  EXPECT_EQ(question(Residency::kCold).substr(0, 22), "threads=1 cold result=");
  EXPECT_EQ(question(Residency(6)).substr(0, 24), "threads=1 cold=6 result=");
}

}  // namespace
}  // namespace kirsch
