// SPDX-License-Identifier: Apache-2.0
// Targets as attributes of MLIR: what is written is read back, both spellings are read, and no text, however
// it is broken, is more than a line of complaint.
#include "spec/target/dlti.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_replace.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// As a graph compiler writes it, in the middle of a module.
constexpr char kModule[] = R"(module attributes {
dlti.target_system_spec = #dlti.target_system_spec<
"CPU": #dlti.target_device_spec<
    #dlti.dl_entry<"L1_cache_size_in_bytes", 49152 : ui32>,
    #dlti.dl_entry<"L2_cache_size_in_bytes", 2097152 : ui64>,
    #dlti.dl_entry<"L3_cache_size_in_bytes", "110100480">,
    #dlti.dl_entry<"num_threads", 56 : i32>,
    #dlti.dl_entry<"max_vector_width", 512 : i64>>
>} {}
)";

std::string ErrorOf(std::string_view entries) {
  return std::string(ParseDlti(Cat("#dlti.target_device_spec<", entries, ">"), "t.mlir").status().message());
}

TEST(DltiTest, WhatIsWrittenIsReadBack) {
  for (const Target& target : NamedTargets()) {
    const absl::StatusOr<TargetFile> read = ParseDlti(PrintDlti(target), "t.mlir");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(PrintTarget(read->target), PrintTarget(target));
    EXPECT_THAT(read->warnings, IsEmpty());
  }
}

TEST(DltiTest, BothSpellingsAreRead) {
  const std::string other = R"(
// The first "CPU" is in a comment.
#spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"max_vector_op_width" = 128 : i32>,
  "CPU" = #dlti.target_device_spec<"L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152,
  // in any order
  "num_threads" = 56 : index, "L3_cache_size_in_bytes" = 110100480 : i64, "max_vector_width" = 512 : i64>>
)";
  const absl::StatusOr<TargetFile> one = ParseDlti(kModule, "mine.mlir"), two = ParseDlti(other, "mine.mlir");
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(PrintTarget(one->target), PrintTarget(two->target));
  EXPECT_THAT(one->warnings, IsEmpty());
  const Target& target = one->target;
  EXPECT_EQ(target.name, "mine");
  EXPECT_EQ(target.cores, 56);
  EXPECT_EQ(target.vectors.front().bytes, 64);
  EXPECT_EQ(target.at(Level::kL1).bytes, 49152);
  EXPECT_EQ(target.at(Level::kL2).bytes, 2097152);
  EXPECT_EQ(target.at(Level::kL3).bytes, 110100480);
}

TEST(DltiTest, WhatIsMissingAndWhatIsUnknownIsSaid) {
  const absl::StatusOr<TargetFile> read = ParseDlti(
      "#dlti.target_device_spec<\"num_threads\" = 2, \"tile_size\" = 32, \"b\" = \"x\">", "a/t.mlir");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->warnings,
              ElementsAre("a/t.mlir: keys that mean nothing here: b tile_size",
                          Cat("a/t.mlir: as those of ", DefaultTarget().name,
                              ", since it does not say them: L1_cache_size_in_bytes L2_cache_size_in_bytes "
                              "L3_cache_size_in_bytes")));
  EXPECT_EQ(read->target.at(Level::kL2).bytes, DefaultTarget().at(Level::kL2).bytes);
}

TEST(DltiTest, ErrorsSayWhere) {
  EXPECT_EQ(ErrorOf("\"num_threads\" = "), "t.mlir:1:42: expected a number or a text in quotes, got '>'");
  EXPECT_EQ(ErrorOf("\"num_threads\" 5"), "t.mlir:1:40: expected '=', got '5'");
  EXPECT_EQ(ErrorOf("#dlti.dl_entry<\"num_threads\" = 5>"), "t.mlir:1:55: expected ',', got '='");
  EXPECT_EQ(ErrorOf("\"a\" = 1, \"a\" = 2"), "t.mlir:1:35: expected each key once, got 'a'");
  EXPECT_EQ(ErrorOf("\"num_threads\" = \"x\""),
            "t.mlir:1:26: expected a whole number from 1 to 4096 for cores, got the string 'x'");
  EXPECT_EQ(ErrorOf("\"L1_cache_size_in_bytes\" = 5"),
            "t.mlir:1:26: expected a whole number from 1024 to 8.58993e+09 for bytes, got 5");
  EXPECT_EQ(ParseDlti("module {}", "t.mlir").status().message(),
            "t.mlir:1:1: expected #dlti.target_system_spec<...> or #dlti.target_device_spec<...>");
}

// What is around entries, and values that are no target's.
TEST(DltiTest, OtherTextsAreSkipped) {
  const std::string text =
      "// of #dlti.target_system_spec in the lab\r\n#dlti.target_device_spec<\"tile_sizes\" = [16, 64],\r\n"
      "\"a\" = dense<1> : vector<2xi32>, \"num_threads\" = 4\r\n, \"kirsch/ghz\" = 3.1,\r\n"
      "\"max_vector_width\" = 512>";
  const absl::StatusOr<TargetFile> read = ParseDlti(text, "dir/my target.mlir");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->target.name, "my_target");
  EXPECT_EQ(read->target.cores, 4);
  EXPECT_EQ(read->target.ghz, 3.1);
  EXPECT_EQ(read->target.cpu, "skylake-avx512");  // what is not said
}

TEST(DltiTest, WhatIsNoNumberIsRefusedWhereItIs) {
  for (const char* value : {"1e999", "99999999999999999999999", "nan", "-5", "[1]", "\"x\""}) {
    const absl::Status status =
        ParseDlti(Cat("#dlti.target_device_spec<\"num_threads\" = 4,\n\"L2_cache_size_in_bytes\" = ", value,
                      ",\n\"z\" = 1>"),
                  "t.mlir")
            .status();
    EXPECT_THAT(std::string(status.message()), ::testing::StartsWith("t.mlir:2:1: expected")) << value;
  }
  EXPECT_THAT(ErrorOf("\"num_threads\" = 4, \"kirsch/cores\" = 5"), HasSubstr("expected each number once"));
}

// Bytes that are changed, cut off or put in twice.
TEST(DltiTest, BrokenTextsAreOneLine) {
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string text = round % 10 == 0 ? PrintDlti(DefaultTarget()) : kModule;
    for (int change = 0; change < 3; ++change) {
      const size_t at = random() % text.size();
      if (random() % 3 == 0)
        text[at] = static_cast<char>(random() % 256);
      else if (random() % 2 == 0)
        text.erase(at, 1 + random() % 20);
      else
        text.insert(at, text.substr(random() % text.size(), 1 + random() % 20));
    }
    const absl::StatusOr<TargetFile> read = ParseDlti(text, "t.mlir");
    if (read.ok()) continue;
    ++refused;
    EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(read.status().message()), HasSubstr("t.mlir:"));
    EXPECT_EQ(read.status().message().find('\n'), std::string::npos) << read.status();
  }
  EXPECT_GT(refused, 150);
}

}  // namespace
}  // namespace kirsch
