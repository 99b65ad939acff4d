// SPDX-License-Identifier: Apache-2.0
#include "spec/language/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/language/parser.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

absl::StatusOr<Schedule> Parse(std::string_view text) { return ParseSchedule(text, "s", OpKind::kMatmul); }
std::string ErrorOf(std::string_view text) { return std::string(Parse(text).status().message()); }

constexpr char kText[] =
    "# by hand\n"
    "tile n 256   # two of them\n"
    "  pack rhs L2 packed16 f32\n"
    "    move lhs L1\n"
    "      move out VRF vectors16\n"
    "        microkernel k 512\n"
    "\n"
    "  parallel m 10 2\n"
    "    pack rhs RAM packed32x2-col bf16\n"
    "      move out VRF sums8\n"
    "    search\n";

// The decisions, indented, without positions.
std::string Outline(const Schedule& schedule, size_t depth = 0) {
  std::string text = std::string(depth, ' ') + PrintDecision(OpKind::kMatmul, schedule) + "\n";
  for (const Schedule& child : schedule.children) text += Outline(child, depth + 1);
  return text;
}

TEST(ScheduleTest, ReadsAnOutline) {
  absl::StatusOr<Schedule> schedule = Parse(kText);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_EQ(Outline(*schedule),
            "tile n 256\n pack rhs L2 packed16 f32\n  move lhs L1\n   move out VRF vectors16\n    "
            "microkernel k 512\n"
            " parallel m 10 2\n  pack rhs RAM packed32x2-col bf16\n   move out VRF sums8\n  search\n");
  EXPECT_EQ(schedule->children[1].position, (TextPosition{8, 3}));
  const Decision& pack = schedule->children[0].decision;
  EXPECT_EQ(pack.kind, RewriteKind::kPack);
  EXPECT_EQ(pack.operand, 1);
  EXPECT_EQ(pack.level, Level::kL2);
  EXPECT_EQ(pack.layout, (Layout{LayoutKind::kPacked, Order::kRow, 16, 1, 0}));
  const Decision& grouped = schedule->children[1].children[0].decision;
  EXPECT_EQ(grouped.layout, (Layout{LayoutKind::kPacked, Order::kCol, 32, 2, 0}));
  EXPECT_EQ(grouped.dtype, Dtype::kBf16);
  const Decision& microkernel = schedule->children[0].children[0].children[0].children[0].decision;
  EXPECT_EQ(microkernel.kind, RewriteKind::kMicrokernel);
  EXPECT_EQ(microkernel.dim, MatmulDims::kK);
  EXPECT_EQ(microkernel.size, 512u);
}

TEST(ScheduleTest, PrintedProgramParsesBack) {
  absl::StatusOr<Schedule> schedule = Parse(kText);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  Impl impl{ParseSpec("matmul f32 8x8x512")->spec, schedule->decision, {}};
  impl.children.push_back({2, {impl.spec, schedule->children[0].decision, {}}});
  const std::string text = PrintSchedule(impl);
  EXPECT_THAT(text, HasSubstr("  pack rhs L2 packed16 f32                # 2 x matmul f32 8x8x512\n"));
  absl::StatusOr<Schedule> again = Parse(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->decision, impl.decision);
  ASSERT_THAT(again->children, SizeIs(1));
  EXPECT_EQ(again->children[0].decision, impl.children[0].impl.decision);
}

TEST(ScheduleTest, SaysWhatIsWrongAndWhere) {
  const std::string forms =
      "tile DIM SIZE | parallel DIM SIZE PARTS | move OPERAND LEVEL [LAYOUT] | pack OPERAND LEVEL [LAYOUT "
      "[TYPE]] | microkernel [DIM AHEAD] | search | ...";
  const std::pair<const char*, std::string> cases[] = {
      {"# nothing\n", Cat("s:1:1: expected a schedule (", forms, "), got nothing")},
      {"tile m 4\n  tile q 4\n", "s:2:8: expected a dim of matmul, got 'q'"},
      {"tile m 0", "s:1:8: expected a positive number, got '0'"},
      {"tile m", "s:1:7: expected a positive number, got nothing"},
      {"tile m 4 5", "s:1:10: expected the end of the line, got '5'"},
      {"move a L2", "s:1:6: expected an operand of matmul, got 'a'"},
      {"move lhs L4", "s:1:10: expected VRF, L1, L2, L3 or RAM, got 'L4'"},
      {"microkernel k", "s:1:14: expected a positive number, got nothing"},
      {"microkernel k 0", "s:1:15: expected a positive number, got '0'"},
      {"microkernel 8", "s:1:13: expected a dim of matmul, got '8'"},
      {"microkernel n 8 9", "s:1:17: expected the end of the line, got '9'"},
      {"pack lhs L2 vectors",
       "s:1:13: expected a layout (row, col, packed, packedN, vectorsN, chainsN, sumsN, lanesN or tilesN; "
       "xGROUP and "
       "-col "
       "after it), "
       "got 'vectors'"},
      {"pack lhs L2 packed99999",
       "s:1:13: expected a layout (row, col, packed, packedN, vectorsN, chainsN, sumsN, lanesN or tilesN; "
       "xGROUP and "
       "-col "
       "after it), "
       "got 'packed99999'"},
      {"pack lhs L2 packed32x",
       "s:1:13: expected a layout (row, col, packed, packedN, vectorsN, chainsN, sumsN, lanesN or tilesN; "
       "xGROUP and "
       "-col "
       "after it), "
       "got "
       "'packed32x'"},
      {"pack lhs L2 packed32x256",
       "s:1:13: expected a layout (row, col, packed, packedN, vectorsN, chainsN, sumsN, lanesN or tilesN; "
       "xGROUP and "
       "-col "
       "after it), "
       "got "
       "'packed32x256'"},
      {"pack lhs L2 packed f128", "s:1:20: expected the element type of the copy, got 'f128'"},
      {"tile m 4\ntile m 2", "s:2:1: expected one decision at the top, got 'tile'"},
      {"tile m 4\n   search\n  search", "s:3:3: expected column 4"},
      {"tile m 4; tile n 8\n    search\n  search", "s:3:3: expected column 5"},
      {"tile m 4; tile n 0", "s:1:18: expected a positive number, got '0'"},
      {"tile m 4; ? n 8", Cat("s:1:11: expected ", forms, ", got '?'")},
      // Names.
      {"schedule",
       "s:1:9: expected a new name that is no word of schedules (letters, digits, underscores; a letter "
       "first), got nothing"},
      {"schedule tile = search",
       "s:1:10: expected a new name that is no word of schedules (letters, digits, underscores; a letter "
       "first), got 'tile'"},
      {"schedule a = search\nschedule a = search",
       "s:2:10: expected a new name that is no word of schedules (letters, digits, underscores; a letter "
       "first), got 'a'"},
      {"schedule rows = search",
       "s:1:10: expected a new name that is no word of schedules (letters, digits, underscores; a letter "
       "first), got 'rows'"},
      {"schedule a search", "s:1:12: expected '=', got 'search'"},
      {"schedule a =\ntile m 4", "s:1:13: expected the decisions of the name, got nothing"},
      {"tile m 4\nschedule a = search",
       "s:2:1: expected named schedules before all decisions, got 'schedule'"},
      {"schedule a = tile q 4\ntile m 4", "s:1:19: expected a dim of matmul, got 'q'"},
      {"schedule a = tile m 4\na 5", "s:2:3: expected the end of the name's decision, got '5'"},
      {"schedule a =\n  tile m 4\n  tile n 4\na", "s:3:3: expected one decision at the top, got 'tile'"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
}

std::string OutlineOf(std::string_view text) {
  const absl::StatusOr<Schedule> schedule = Parse(text);
  return schedule.ok() ? Outline(*schedule) : std::string(schedule.status().message());
}

TEST(ScheduleTest, SemicolonsGoDown) {
  EXPECT_EQ(OutlineOf("tile m 4; move rhs L2;tile n 8\n  search\n  microkernel"),
            OutlineOf("tile m 4\n move rhs L2\n  tile n 8\n   search\n   microkernel"));
}

TEST(ScheduleTest, NamesAreTheirDecisions) {
  constexpr std::string_view kNames =
      "schedule outer = tile m 64; move rhs L2  # of one line\n"
      "schedule both =\n"
      "  outer; tile k 128\n"
      "    tile n 32\n"
      "    search\n"
      "schedule more = outer\n"
      "  tile n 16\n";
  const std::pair<const char*, const char*> cases[] = {
      {"outer", "tile m 64\n  move rhs L2"},
      {"outer; tile n 32", "tile m 64\n move rhs L2\n  tile n 32"},
      {"tile n 96\n  outer\n    search\n  outer",
       "tile n 96\n tile m 64\n  move rhs L2\n   search\n tile m 64\n  move rhs L2"},
      {"both; microkernel",
       "tile m 64\n move rhs L2\n  tile k 128\n   tile n 32\n    microkernel\n   search"},
      {"more; search", "tile m 64\n move rhs L2\n  tile n 16\n   search"},
  };
  for (const auto& [text, same] : cases)
    EXPECT_EQ(OutlineOf(std::string(kNames) + text), OutlineOf(same)) << text;
  // Where a decision is wrong, its own place is said.
  absl::StatusOr<Schedule> schedule = Parse(std::string(kNames) + "both");
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(schedule->position, (TextPosition{1, 18}));
  EXPECT_EQ(schedule->children[0].children[0].position, (TextPosition{3, 10}));
}

TEST(ScheduleTest, NamesOfNamesEnd) {
  std::string text = "schedule a0 = tile m 2\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = "a" + std::to_string(i - 1);
    text += "schedule a" + std::to_string(i) + " =\n  tile k 4\n    " + last + "\n    " + last + "\n";
  }
  EXPECT_THAT(ErrorOf(text + "a39"), HasSubstr("expected at most 65536 decisions"));
}

TEST(ScheduleTest, HolesFit) {
  const auto fits = [](std::string_view pattern, std::string_view decision) {
    return Parse(pattern)->Fits(Parse(decision)->decision);
  };
  EXPECT_TRUE(fits("tile m ?", "tile m 4"));
  EXPECT_FALSE(fits("tile m ?", "tile n 4"));
  EXPECT_TRUE(fits("tile ? 4", "tile n 4"));
  EXPECT_FALSE(fits("tile ? ?", "parallel n 4 2"));
  EXPECT_TRUE(fits("parallel n 4 ?", "parallel n 4 2"));
  EXPECT_TRUE(fits("pack rhs L2", "pack rhs L2 packed16 bf16"));
  EXPECT_FALSE(fits("pack rhs L2 packed32", "pack rhs L2 packed16 bf16"));
  EXPECT_TRUE(fits("pack ? ? packed16 ?", "pack rhs L2 packed16 bf16"));
  EXPECT_TRUE(fits("move out VRF", "move out VRF sums8"));
  EXPECT_FALSE(fits("move lhs L2", "move lhs L1"));
  EXPECT_TRUE(fits("microkernel ?", "microkernel"));
  EXPECT_TRUE(fits("microkernel ?", "microkernel k 64"));
  EXPECT_FALSE(fits("microkernel", "microkernel k 64"));
  for (const char* text : {"tile ? ?", "move ? ? ?", "pack rhs ? packed16 ?", "microkernel ? ?", "...",
                           "parallel ? ? ?", "microkernel k ?"})
    EXPECT_EQ(PrintDecision(OpKind::kMatmul, *Parse(text)), text);
}

TEST(ScheduleTest, DeepNestingIsRefused) {
  std::string text;
  for (size_t depth = 0; depth < 300; ++depth) text += std::string(depth, ' ') + "tile m 2\n";
  EXPECT_EQ(ErrorOf(text), "s:257:257: expected at most 256 levels");
}

}  // namespace
}  // namespace kirsch
