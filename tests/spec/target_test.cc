// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "absl/strings/substitute.h"
#include "spec/target/target_files.h"
#include "spec/target/target_json.h"
#include "spec/target/target_keys.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string ErrorOf(std::string_view text) {
  return std::string(ParseTarget(text, "t.json").status().message());
}

TEST(TargetTest, NamedTargetsAreTheOnesPromised) {
  std::set<std::string> names;
  for (const Target& target : NamedTargets()) names.insert(target.name);
  EXPECT_THAT(names, ElementsAre("haswell", "sapphirerapids", "sierraforest", "skylake-avx512", "znver1",
                                 "znver2", "znver3", "znver4", "znver5"));
}

TEST(TargetTest, NamedTargetsParseWithoutWarning) {
  for (const EmbeddedFile& file : TargetFiles()) {
    absl::StatusOr<TargetFile> parsed = ParseTarget(file.text, file.name);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_THAT(parsed->warnings, IsEmpty());
    EXPECT_EQ(parsed->target.name, file.name);
  }
}

// But for what widening each type takes, which was measured on few of them, and chains, which follow from
// rates and latencies.
TEST(TargetTest, NamedTargetsStateEveryKey) {
  std::vector<std::string_view> left_out = {"_chains"};
  for (const NumericKey<WideningCosts>& key : kWideningKeys) left_out.push_back(key.name);
  const auto keys = [&](std::string_view text) {
    ptrdiff_t keys = std::count(text.begin(), text.end(), ':');
    for (std::string_view name : left_out)
      for (size_t at = 0; (at = text.find(Cat(name, "\":"), at)) != std::string::npos; ++at) --keys;
    return keys;
  };
  for (const EmbeddedFile& file : TargetFiles())
    EXPECT_EQ(keys(file.text), keys(PrintTarget(ParseTarget(file.text, file.name)->target))) << file.name;
}

TEST(TargetTest, PrintedTargetParsesBack) {
  std::vector<Target> targets = NamedTargets();
  targets.push_back(DefaultTarget());
  targets.back().ghz = 3.1415926535897931;  // every digit counts
  targets.back().vectors[0].masked_store_cycles = 0.1;
  for (const Target& target : targets) {
    absl::StatusOr<TargetFile> parsed = ParseTarget(PrintTarget(target), "printed");
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_TRUE(parsed->target == target) << PrintTarget(target);
    EXPECT_THAT(parsed->warnings, IsEmpty());
  }
}

TEST(TargetTest, EveryKeyIsOptional) {
  absl::StatusOr<TargetFile> parsed = ParseTarget("{}", "t.json");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->target == DefaultTarget());
  parsed = ParseTarget(R"({"memory": {"L2": {"ways": 4}}, "vectors": [{"registers": 12}]})", "t.json");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->target.at(Level::kL2).ways, 4);
  EXPECT_EQ(parsed->target.at(Level::kL2).bytes, DefaultTarget().at(Level::kL2).bytes);
  EXPECT_EQ(parsed->target.vectors[0].registers, 12);
  EXPECT_EQ(parsed->target.vectors[0].bytes, 32);
}

// Users have calibrated files with the former names.
TEST(TargetTest, FormerNamesOfKeysAreRead) {
  const auto read = [](const std::string& text) {
    absl::StatusOr<TargetFile> parsed = ParseTarget(text, "t.json");
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_THAT(parsed->warnings, IsEmpty()) << text;
    return parsed->target;
  };
  const std::string all =
      R"({"vectors": [{"$0": 3}], "memory": {"L3": {"$1": 4, "$2": 5, "$3": 6, "$4": 7, "$5": 8, "$6": 0.5, "$7": 0.25}}})";
  const Target former = read(absl::Substitute(all, "far_line_cycles", "sharers", "lone_cycles_per_line",
                                              "pieces_cycles_per_line", "crowded_cycles_per_line",
                                              "beside_cycles_per_line", "usable", "usable_beside_ram"));
  EXPECT_EQ(former.vectors[0].wide_load_cycles_per_line, 3);
  const MemoryLevel& cache = former.at(Level::kL3);
  EXPECT_EQ(cache.threads_per_cache, 4);
  EXPECT_EQ(cache.single_stream_cycles_per_line, 5);
  EXPECT_EQ(cache.short_run_cycles_per_line, 6);
  EXPECT_EQ(cache.set_conflict_cycles_per_line, 7);
  EXPECT_EQ(cache.lhs_contention_cycles_per_line, 8);
  EXPECT_EQ(cache.capacity_share, 0.5);
  EXPECT_EQ(cache.capacity_share_beside_ram, 0.25);
  EXPECT_TRUE(former ==
              read(absl::Substitute(all, "wide_load_cycles_per_line", "threads_per_cache",
                                    "single_stream_cycles_per_line", "short_run_cycles_per_line",
                                    "set_conflict_cycles_per_line", "lhs_contention_cycles_per_line",
                                    "capacity_share", "capacity_share_beside_ram")));
  for (const RenamedKey& renamed : kRenamedKeys) {
    EXPECT_THAT(PrintTarget(former), Not(HasSubstr(Cat("\"", renamed.former, "\""))));
    EXPECT_THAT(PrintTarget(former), HasSubstr(Cat("\"", renamed.name, "\"")));
  }
  const absl::StatusOr<TargetFile> wrong = ParseTarget(R"({"memory": {"L3": {"sharers": 0}}})", "t.json");
  EXPECT_EQ(wrong.status().message(),
            "t.json:1:31: expected a whole number from 1 to 4096 for sharers, got 0");
}

TEST(TargetTest, AKeyUnderBothOfItsNamesIsRefused) {
  const absl::StatusOr<TargetFile> both =
      ParseTarget(R"({"memory": {"L3": {"capacity_share": 0.5, "usable": 0.5}}})", "t.json");
  EXPECT_EQ(both.status().message(),
            "t.json:1:43: expected one of 'capacity_share' and 'usable', which are the same key, got both");
}

TEST(TargetTest, UnknownKeyIsAWarning) {
  absl::StatusOr<TargetFile> parsed = ParseTarget(
      "{\"ghz\": 2,\n \"colour\": \"red\", \"memory\": {\"L4\": {}, \"RAM\": {\"bytes\": 1}},\n"
      " \"vectors\": [{\"speed\": 1}]}",
      "t.json");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->target.ghz, 2);
  EXPECT_THAT(parsed->warnings, ElementsAre("t.json:2:2: unknown key 'colour' is ignored",
                                            "t.json:2:30: unknown key 'L4' is ignored",
                                            "t.json:2:48: unknown key 'bytes' is ignored",
                                            "t.json:3:15: unknown key 'speed' is ignored"));
}

TEST(TargetTest, SaysWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "t.json:1:1: malformed JSON: expected '[', '{', or a literal, got the end of the text"},
      {"[]", "t.json:1:1: expected an object with the keys of a target, got an array"},
      {"{\"ghz\" 3}", "t.json:1:8: malformed JSON: expected ':', got '3'"},
      {"{\"ghz\": 3", "t.json:1:10: malformed JSON: expected '}', got the end of the text"},
      {"{\"ghz\": tru}", "t.json:1:9: malformed JSON: invalid literal, got 'tru}'"},
      {"{\"name\": \"a\nb\"}", "t.json:1:10: malformed JSON: invalid string, got '\"a\\x0a'"},
      {"{\"ghz\": 1e999}", "t.json:1:9: malformed JSON: number out of range, got '1e999'"},
      {"{\"ghz\": \"fast\"}", "t.json:1:9: expected a number from 0.1 to 10 for ghz, got the string 'fast'"},
      {"{\"ghz\":-3}", "t.json:1:8: expected a number from 0.1 to 10 for ghz, got -3"},
      {"{\"cores\": 1.5}", "t.json:1:11: expected a whole number from 1 to 4096 for cores, got 1.5"},
      {"{\"cores\": 99999999999999999999}",
       "t.json:1:11: expected a whole number from 1 to 4096 for cores, got 99999999999999999999"},
      {"{\"cores\": null}", "t.json:1:11: expected a whole number from 1 to 4096 for cores, got null"},
      {"{\"cpu\": \"-mattr=evil option\"}",
       "t.json:1:9: expected a name (letters, digits, '.', '-', '_', '+'), got the string '-mattr=evil "
       "option'"},
      {"{\"features\": \"avx2\"}", "t.json:1:14: expected an array of feature names, got the string 'avx2'"},
      {"{\"features\": [\"avx2\"]}", "t.json:1:14: expected the feature fma, which vectors[0] needs"},
      {"{\"vectors\": []}", "t.json:1:13: expected an array of one object per vector width, got an array"},
      {"{\"vectors\": [{\"registers\": 0}]}",
       "t.json:1:28: expected a whole number from 8 to 32 for registers, got 0"},
      {"{\"vectors\": [{\"bytes\": 24}]}", "t.json:1:24: expected 16, 32 or 64, got 24"},
      {"{\"vectors\": [{\"bytes\": 64}]}", "t.json:1:14: expected masks with 64-byte vectors"},
      {"{\"vectors\": [{\"masks\": 1}]}", "t.json:1:24: expected true or false, got 1"},
      {"{\"vectors\": [{}, {}]}", "t.json:1:13: expected each vector width once, the widest first"},
      {"{\"memory\": {\"L1\": 5}}", "t.json:1:19: expected an object with the keys of a memory level, got 5"},
      {"{\"memory\": {\"L1\": {\"bytes\": 1048576}}}",
       "t.json:1:12: expected every cache to be at least as large as the one before it"},
      {"{\"line_bytes\": 48}", "t.json:1:16: expected a power of two for line_bytes, got 48"},
      {"{\"\\u0007\": 1, \"\\u0007\": 2}", "t.json:1:15: expected each key once, got '\\x07'"},
      {"{\"ghz\": 1, \"ghz\": 2}", "t.json:1:12: expected each key once, got 'ghz'"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
}

TEST(TargetTest, DeepNestingIsRefused) {
  EXPECT_THAT(ErrorOf(std::string(1000000, '[')), HasSubstr("expected at most 64 levels of nesting"));
}

TEST(TargetTest, WarnsOfFeaturesThatNoCodeIsMadeFor) {
  const absl::StatusOr<TargetFile> file =
      ParseTarget("{\"features\": [\"avx2\", \"fma\", \"avx512vni\"]}", "t.json");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->warnings,
              ElementsAre("t.json:1:30: no code is made for the feature 'avx512vni'; did you mean "
                          "'avx512vnni'?"));
}

// What tiles leave is multiplied by vectors, in groups as long.
TEST(TargetTest, TilesNeedTheirInstructionOfVectors) {
  Target target = FindTarget("sapphirerapids", "")->target;
  std::erase(target.features, "avx512vnni");
  EXPECT_THAT(ErrorOf(PrintTarget(target)),
              HasSubstr("expected the feature avx512vnni, which amx-int8 needs"));
}

TEST(FindTargetTest, FindsNamesAndFiles) {
  EXPECT_EQ(FindTarget("znver4", "")->target.name, "znver4");
  const std::string path = ::testing::TempDir() + "kirsch_target_test.json";
  std::ofstream(path) << R"({"name": "mine", "colour": 1})";
  absl::StatusOr<TargetFile> found = FindTarget(path, "");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->target.name, "mine");
  EXPECT_THAT(found->warnings, ElementsAre(Cat(path, ":1:18: unknown key 'colour' is ignored")));
  std::remove(path.c_str());
  EXPECT_EQ(FindTarget("znver9", "").status().message(),
            "target: expected one of haswell sapphirerapids sierraforest skylake-avx512 znver1 znver2 znver3 "
            "znver4 "
            "znver5 host, or "
            "a target file, got 'znver9': No such file or directory; did you mean 'znver1'?");
}

}  // namespace
}  // namespace kirsch
