// SPDX-License-Identifier: Apache-2.0
// A schedule's decision that can't be was refused without a word of those that can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "memo/hash_memo.h"
#include "search/solver/replay.h"
#include "spec/language/parser.h"
#include "spec/target/targets.h"

namespace kirsch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

std::string ErrorOf(const std::string& spec, const std::string& schedule) {
  const CostModel model(FindTarget("znver4", "")->target);
  const Spec placed = PlaceOperands(ParseSpec(spec)->spec, Residency::kWarm, model.target());
  const absl::StatusOr<Schedule> read = ParseSchedule(schedule, "s", placed.op);
  if (!read.ok()) return std::string(read.status().message());
  HashMemo memo;
  return std::string(Replay(placed, *read, "s", model, memo, {}).status().message());
}

TEST(IllegalDecision, NamesTilesThatAreNear) {
  const std::string error = ErrorOf("matmul f32 512x512x512", "tile k 300");
  EXPECT_THAT(error, HasSubstr("(there are tile k 128, tile k 256)"));
  EXPECT_THAT(error, HasSubstr("got 'tile k 300'"));
  EXPECT_THAT(ErrorOf("matmul f32 512x512x512", "tile m 15"), HasSubstr(", tile m 14)"));
}

TEST(IllegalDecision, NamesCopiesThatAreThere) {
  EXPECT_THAT(ErrorOf("matmul f32 512x512x512", "pack rhs L2 packed7 f32"),
              HasSubstr("(there are pack rhs "));
  EXPECT_THAT(ErrorOf("matmul f32 64x64x64", "microkernel"), Not(HasSubstr("there are")));
}

TEST(IllegalDecision, SaysHowMuchRoomThereIs) {
  EXPECT_THAT(
      ErrorOf("matmul f32 512x512x512", "move rhs L1"),
      MatchesRegex("s:1:1: expected a tile that fits, got 16384 lines for L1, which has room for 512"));
}

}  // namespace
}  // namespace kirsch
