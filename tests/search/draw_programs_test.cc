// SPDX-License-Identifier: Apache-2.0
#include "search/sampling/draw_programs.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "search/sampling/random.h"
#include "search/solver/replay.h"
#include "search/solver/search.h"
#include "spec/language/parser.h"
#include "spec/language/schedule.h"
#include "spec/target/targets.h"
#include "tests/testing/oracle.h"
#include "tests/testing/targets.h"

namespace kirsch::testing {
namespace {

const char* const kSpecs[] = {
    "matmul f32 64x64x64",
    "matmul f32 300x200x100 rhs=col",
    "matmul bf16*bf16->f32 96x128x160",
    "matmul u8*s8->s32 8x512x256",
    "matmul f32 1x1000x1000",
    "matmul f32 64x256x256 const-rhs",
    "conv2d f32 1x16x14x14 filters=32 kernel=3x3 layout=nhwc",
};

Spec Placed(std::string_view spec, const Target& target) {
  return PlaceOperands(ParseSpec(spec)->spec, Residency::kWarm, target);
}

std::vector<std::string> SchedulesOf(const std::vector<DrawnProgram>& programs) {
  std::vector<std::string> schedules;
  for (const DrawnProgram& program : programs) schedules.push_back(PrintSchedule(program.impl));
  return schedules;
}

TEST(DrawProgramsTest, DrawsProgramsOfTheSpaceAtTheirCosts) {
  const CostModel model(FindTarget("znver4", "")->target);
  for (const std::string_view text : kSpecs) {
    SCOPED_TRACE(text);
    const Spec root = Placed(text, model.target());
    HashMemo memo;
    const std::vector<DrawnProgram> programs = DrawPrograms(root, model, memo, 21, 7);
    ASSERT_EQ(programs.size(), 21u);
    const Cost best = Search(root, model, memo, {}).cost;
    EXPECT_EQ(programs[0].cost, best);
    for (size_t i = 0; i < programs.size(); ++i) {
      const Schedule schedule = *ParseSchedule(PrintSchedule(programs[i].impl), "s", root.op);
      const absl::StatusOr<SearchResult> again = Replay(root, schedule, "s", model, memo, {});
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_EQ(again->cost, programs[i].cost);
      EXPECT_GE(programs[i].cost, best);
      EXPECT_LE(programs[i].cost, kFarthestDrawn * best);
      if (i <= 10) continue;
      EXPECT_LE(static_cast<double>(programs[i].cost), kFarthestAround * static_cast<double>(best) + 1);
    }
    const std::vector<std::string> schedules = SchedulesOf(programs);
    EXPECT_EQ(std::set<std::string>(schedules.begin(), schedules.end()).size(), programs.size());
  }
}

TEST(DrawProgramsTest, DependsOnTheSeedAndNotOnTheMemo) {
  const CostModel model(FindTarget("haswell", "")->target);
  const Spec root = Placed("matmul f32 128x96x200", model.target());
  HashMemo fresh, used;
  Search(Placed("matmul f32 128x96x256", model.target()), model, used, {});
  const std::vector<std::string> once = SchedulesOf(DrawPrograms(root, model, fresh, 30, 1));
  EXPECT_EQ(SchedulesOf(DrawPrograms(root, model, fresh, 30, 1)), once);
  EXPECT_EQ(SchedulesOf(DrawPrograms(root, model, used, 30, 1)), once);
  EXPECT_NE(SchedulesOf(DrawPrograms(root, model, used, 30, 2)), once);
}

// Costs of programs drawn from the whole space are spread, not all at one end.
TEST(DrawProgramsTest, ReachesFarFromTheOptimum) {
  const CostModel model(FindTarget("znver4", "")->target);
  HashMemo memo;
  const std::vector<DrawnProgram> programs =
      DrawPrograms(Placed("matmul f32 256x256x256", model.target()), model, memo, 41, 3);
  int far = 0;
  for (const DrawnProgram& program : programs) far += program.cost > 2 * programs[0].cost;
  EXPECT_GE(far, 8);
}

TEST(DrawProgramsTest, DrawsFewerWhereThereAreNoMore) {
  const CostModel model(TinyTarget());
  HashMemo memo;
  const std::vector<DrawnProgram> programs =
      DrawPrograms(Placed("matmul f32 1x1x1", model.target()), model, memo, 500, 1);
  EXPECT_GE(programs.size(), 2u);
  EXPECT_LT(programs.size(), 500u);
}

TEST(DrawProgramsTest, ProgramsComputeTheirSpec) {
  for (const Target& target : {TinyTarget(), Avx512DotTarget()}) {
    const CostModel model(target);
    for (const char* text : {"matmul f32 5x6x4", "matmul f32 7x20x9 rhs=col", "matmul u8*s8->s32 3x18x8"}) {
      const Spec root = Placed(text, target);
      HashMemo memo;
      for (const DrawnProgram& program : DrawPrograms(root, model, memo, 60, 11))
        ASSERT_TRUE(InterpretedEqualsReference(program.impl, target)) << PrintSchedule(program.impl);
    }
  }
}

// Published values, so that draws are the same everywhere.
TEST(DiceTest, IsSplitMix64) {
  Random random(0);
  EXPECT_EQ(random.Next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random.Next(), 0x6e789e6aa1b965f4u);
  std::vector<int> items = {1, 2, 3, 4, 5};
  std::set<int> taken;
  while (!items.empty()) taken.insert(TakeOne(&items, &random));
  EXPECT_EQ(taken.size(), 5u);
}

}  // namespace
}  // namespace kirsch::testing
