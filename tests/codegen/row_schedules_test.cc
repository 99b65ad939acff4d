// SPDX-License-Identifier: Apache-2.0
// The schedules of row programs: sound, few, all with the same results; and which one the costs choose.
#include "rewrites/graph/row_schedules.h"

#include <gtest/gtest.h>

#include "cost/row_cost.h"
#include "spec/target/targets.h"
#include "tests/testing/row_testing.h"

namespace kirsch::testing {
namespace {

constexpr size_t kFewDozen = 72;

RowSchedule Cheapest(const RowProgram& program, int64_t columns, Level level, const Target& target) {
  const RowLevels levels = {std::vector<Level>(program.inputs.size(), level),
                            std::vector<Level>(program.results.size(), level)};
  const std::vector<RowSchedule> schedules = EnumerateRowSchedules(program, columns, target);
  return *std::min_element(schedules.begin(), schedules.end(), [&](const auto& a, const auto& b) {
    return RowCycles(program, a, 1, columns, levels, target) <
           RowCycles(program, b, 1, columns, levels, target);
  });
}

TEST(RowSchedulesTest, FewAndSoundAndDifferent) {
  RandomRows random(9);
  for (int round = 0; round < 300; ++round) {
    const RowProgram program = random.Program();
    for (const Target& target : NamedTargets()) {
      const std::vector<RowSchedule> schedules =
          EnumerateRowSchedules(program, 1 + random.Below(4096), target);
      ASSERT_FALSE(schedules.empty());
      EXPECT_LE(schedules.size(), kFewDozen);
      for (size_t i = 0; i < schedules.size(); ++i) {
        EXPECT_TRUE(IsSound(program, schedules[i]));
        for (size_t j = 0; j < i; ++j) EXPECT_NE(schedules[i], schedules[j]);
      }
    }
  }
}

TEST(RowSchedulesTest, AllGiveTheSameResults) {
  for (bool avx512 : {false, true}) {
    const Target target = TestTarget(avx512);
    if (!HostRuns(target)) continue;
    for (const RowProgram& program : {Softmax(), LayerNorm(150)})
      for (const RowSchedule& schedule : EnumerateRowSchedules(program, 150, target)) {
        RowCase row_case(program, schedule, 2, 150, 1, target);
        row_case.Fill(8);
        row_case.RunJit();
        ASSERT_TRUE(row_case.Matches());
      }
  }
}

TEST(RowSchedulesTest, ShortRowsTakeShortVectors) {
  const Target target = TestTarget(true);
  for (const RowSchedule& schedule : EnumerateRowSchedules(Softmax(), 8, target))
    EXPECT_EQ(schedule.lanes, 8);
  EXPECT_EQ(EnumerateRowSchedules(Softmax(), 9, target).front().lanes, 16);
}

// What is fastest on the machine that the target describes; see bench/lab/2026-11-22.md.
TEST(RowCostTest, SoftmaxKeepsItsExponentialsUnlessRowsAreLong) {
  const Target target = FindTarget("sapphirerapids", "")->target;
  for (int64_t columns : {512, 4096, 65536}) {
    const RowSchedule schedule = Cheapest(Softmax(), columns, Level::kL2, target);
    EXPECT_EQ(schedule.KeptAt(kSoftmaxExp), 0) << columns;
    EXPECT_FALSE(schedule.online) << columns;
    EXPECT_EQ(schedule.lanes, 16) << columns;
  }
}

TEST(RowCostTest, WhatComesFromRamIsPrefetchedAndGoesPastTheCaches) {
  const Target target = FindTarget("sapphirerapids", "")->target;
  const RowSchedule far = Cheapest(Softmax(), 1 << 20, Level::kRam, target);
  EXPECT_TRUE(far.online);
  EXPECT_GT(far.prefetch, 0);
  EXPECT_EQ(far.streamed, 0);
  for (Level level : {Level::kL1, Level::kL2, Level::kL3})
    EXPECT_EQ(Cheapest(Softmax(), 4096, level, target).streamed, RowSchedule::kNone);
}

// Vectors of 8 lanes are twice as many instructions, of which a CPU looks at so many at a time.
TEST(RowCostTest, LongChainsTakeWideVectors) {
  const Target target = FindTarget("znver4", "")->target;
  EXPECT_EQ(Cheapest(Softmax(), 4096, Level::kL1, target).lanes, 16);
  RowProgramBuilder b;
  b.Result(b.Op(Operation::kExp, b.Input()));
  RowSchedule schedule;
  schedule.unroll = {4};
  schedule.lanes = 8;
  const RowPasses passes = FindPasses(b.program(), schedule);
  EXPECT_EQ(VectorCyclesOf(b.program(), schedule, passes, 0, target).bottleneck(), "window");
}

// A masked store's elements are not forwarded to a load.
TEST(RowCostTest, KeptValuesThatEndInPartOfAVectorAreWaitedFor) {
  const Target target = FindTarget("znver4", "")->target;
  const RowProgram program = Softmax();
  int kept = 0;
  for (const RowSchedule& schedule : EnumerateRowSchedules(program, 48, target)) {
    if (schedule.online || schedule.streamed != RowSchedule::kNone) continue;
    const auto cycles = [&](int64_t columns) {
      return RowCycles(program, schedule, 64, columns, {{Level::kL1}, {Level::kL1}}, target);
    };
    const bool keeps = schedule.KeptAt(kSoftmaxExp) != RowSchedule::kRecomputed;
    EXPECT_EQ(cycles(47) > 1.01 * cycles(48), keeps);
    kept += keeps ? 1 : 0;
  }
  EXPECT_GT(kept, 0);
}

TEST(RowCostTest, CostsAreOfWhatIsDone) {
  const Target target = FindTarget("sapphirerapids", "")->target;
  const RowProgram program = Softmax();
  for (const RowSchedule& schedule : EnumerateRowSchedules(program, 4096, target)) {
    const auto cycles = [&](int64_t rows, int64_t columns, Level level) {
      return RowCycles(program, schedule, rows, columns, {{level}, {level}}, target);
    };
    EXPECT_GT(cycles(1, 4096, Level::kL1), 0);
    EXPECT_GT(cycles(1, 8192, Level::kL1), 1.5 * cycles(1, 4096, Level::kL1));
    EXPECT_GT(cycles(8, 4096, Level::kL1), 7 * cycles(1, 4096, Level::kL1));
    EXPECT_GE(cycles(1, 4096, Level::kL2), cycles(1, 4096, Level::kL1));
    if (schedule.streamed == RowSchedule::kNone)
      EXPECT_GT(cycles(1, 4096, Level::kRam), cycles(1, 4096, Level::kL2));
    else  // who wants it in L2 has to bring it back
      EXPECT_GT(cycles(1, 4096, Level::kL2), cycles(1, 4096, Level::kL1));
  }
}

TEST(RowCostTest, RowsThatLieApartAreNotForeseen) {
  const Target target = FindTarget("sapphirerapids", "")->target;
  const RowProgram program = Softmax();
  const auto cycles = [&](const RowSchedule& schedule, int64_t columns, bool apart) {
    return RowCycles(program, schedule, 64, columns, {{Level::kRam}, {Level::kL2}, {apart}}, target);
  };
  for (const RowSchedule& schedule : EnumerateRowSchedules(program, 64, target)) {
    const MemoryLevel& ram = target.at(Level::kRam);
    // Four lines of each row, if nobody asks for them; a page in any case.
    const double waits =
        ram.cycles_per_page + (schedule.prefetch > 0 ? 0 : 4 * ram.unstreamed_cycles_per_line);
    const double more = (cycles(schedule, 64, true) - cycles(schedule, 64, false)) / 64;
    EXPECT_LE(more, waits * (1 + 1e-9));
    EXPECT_GE(more, (1 - ram.overlap) * waits * (1 - 1e-9));
    // Of long rows only the beginning.
    EXPECT_LE(cycles(schedule, 4096, true) - cycles(schedule, 4096, false),
              64 * (ram.cycles_per_page + ram.ramp_lines * ram.unstreamed_cycles_per_line));
  }
}

TEST(RowCostTest, Bottlenecks) {
  const Target target = FindTarget("sapphirerapids", "")->target;
  const auto bottleneck = [&](Operation op, int unroll) {
    RowProgramBuilder b;
    b.Result(b.Op(op, b.Input(), Info(op).arguments == 2 ? 0 : -1));
    RowSchedule schedule;
    schedule.unroll = {unroll};
    return std::string(
        VectorCyclesOf(b.program(), schedule, FindPasses(b.program(), schedule), 0, target).bottleneck());
  };
  EXPECT_EQ(bottleneck(Operation::kExp, 4), "arithmetic");
  EXPECT_EQ(bottleneck(Operation::kDiv, 4), "division");
  EXPECT_EQ(bottleneck(Operation::kNeg, 4), "store");
  EXPECT_EQ(bottleneck(Operation::kSum, 1), "latency");
}

// The last vector of a row in place is stored with a mask, for which the next row's first load waits.
TEST(RowCostTest, PartsOfVectorsInPlaceMakeTheNextRowWait) {
  const Target target = TestTarget(true);
  const RowProgram program = Softmax();
  const auto extra = [&](int64_t rows, int64_t columns, int64_t stride) {
    const RowSchedule schedule = Cheapest(program, columns, Level::kL1, target);
    const auto cycles = [&](int64_t in_place) {
      return RowCycles(program, schedule, rows, columns, {{Level::kL1}, {Level::kL1}, {}, in_place}, target);
    };
    return cycles(stride) - cycles(0);
  };
  EXPECT_EQ(extra(10, 64, 64), 0);
  EXPECT_GT(extra(10, 65, 65), 9 * 20);
  EXPECT_EQ(extra(1, 65, 65), 0) << "there is no next row";
  EXPECT_EQ(extra(10, 65, 80), 0) << "the mask does not reach it";
}

}  // namespace
}  // namespace kirsch::testing
