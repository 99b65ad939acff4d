// SPDX-License-Identifier: Apache-2.0
#include "search/solver/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "memo/hash_memo.h"
#include "spec/language/parser.h"
#include "spec/target/targets.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;

class ReplayTest : public ::testing::Test {
 protected:
  absl::StatusOr<SearchResult> Run(std::string_view spec, std::string_view schedule_text) {
    const Spec placed = Placed(spec);
    absl::StatusOr<Schedule> schedule = ParseSchedule(schedule_text, "s", placed.op);
    if (!schedule.ok()) return schedule.status();
    HashMemo memo;
    return Replay(placed, *schedule, "s", model_, memo, {});
  }

  SearchResult Best(std::string_view spec) {
    HashMemo memo;
    return Search(Placed(spec), model_, memo, {});
  }

  Spec Placed(std::string_view spec) {
    return PlaceOperands(ParseSpec(spec)->spec, Residency::kWarm, model_.target());
  }

  std::string ErrorOf(std::string_view spec, std::string_view schedule) {
    return std::string(Run(spec, schedule).status().message());
  }

  const CostModel model_{FindTarget("znver4", "")->target};
};

TEST_F(ReplayTest, PrintedProgramCostsTheSame) {
  for (std::string_view spec :
       {"matmul f32 64x64x64", "matmul f32 17x100x33 rhs=col", "matmul f32 3:5x7x9"}) {
    const SearchResult best = Best(spec);
    const std::string text = PrintSchedule(best.impl);
    absl::StatusOr<SearchResult> again = Run(spec, text);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << text;
    EXPECT_EQ(again->cost, best.cost);
    EXPECT_EQ(PrintSchedule(again->impl), text);
    EXPECT_EQ(again->stop, StopReason::kPinned);
  }
}

TEST_F(ReplayTest, WhatIsLeftOpenIsSearched) {
  const SearchResult best = Best("matmul f32 96x64x64");
  absl::StatusOr<SearchResult> all = Run("matmul f32 96x64x64", "search");
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->cost, best.cost);
  absl::StatusOr<SearchResult> part = Run("matmul f32 96x64x64", "tile m 1");
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_GT(part->cost, best.cost);
}

TEST_F(ReplayTest, AStoppedSearchFollowsAsWell) {
  const std::atomic<bool> cancel = true;
  const Spec placed = Placed("matmul f32 512x512x512");
  for (std::string_view text : {"tile m 8", "tile m ?; ...; tile n 32; move out VRF"}) {
    HashMemo memo;
    const absl::StatusOr<SearchResult> result =
        Replay(placed, *ParseSchedule(text, "s", placed.op), "s", model_, memo, {.cancel = &cancel});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->stop, StopReason::kCancelled);
    EXPECT_LE(result->bound, result->cost);
    EXPECT_TRUE(PrintSchedule(result->impl).starts_with("tile m ")) << PrintSchedule(result->impl);
  }
}

TEST_F(ReplayTest, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(ErrorOf("matmul f32 64x64x64", "tile m 65"),
              HasSubstr("s:1:1: expected a decision that is in the space of 'matmul f32 64x64x64"));
  EXPECT_THAT(ErrorOf("matmul f32 64x64x64", "tile m 1\n  microkernel"), HasSubstr("got 'microkernel'"));
  EXPECT_EQ(ErrorOf("matmul f32 64x64x64", "tile m 1\n  search\n  search"),
            "s:3:3: expected no more than 1 decisions below 'tile m 1'");
  EXPECT_THAT(ErrorOf("matmul f32 64x64x64", "schedule a = tile n 32\ntile m ?; a; a"),
              HasSubstr("s:1:14: expected a decision that is in the space of "));
  EXPECT_THAT(ErrorOf("matmul f32 8x8x8", "...; tile m 3; tile m 3"),
              HasSubstr("s:1:16: expected a decision"));
}

}  // namespace
}  // namespace kirsch
