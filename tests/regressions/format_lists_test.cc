// SPDX-License-Identifier: Apache-2.0
// A reader of tables, written from the lists of codes in memo/FORMAT.md, lacked some that the program has. So
// may others that are written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "spec/dtype.h"
#include "spec/level.h"
#include "spec/operation.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"

namespace kirsch {
namespace {

std::string TextOf(const char* path) { return *ReadFile(Cat(KIRSCH_SOURCES, path)); }

// "0 f32, 1 bf16" of a row of the table of codes, without what it says of them in parentheses.
std::string CodesOf(const std::string& what) {
  const std::string text = TextOf("/memo/FORMAT.md");
  const std::string title = Cat("\n| ", what, " | ");
  const size_t begin = text.find(title);
  if (begin == std::string::npos) return "";
  const size_t from = begin + title.size();
  return std::regex_replace(text.substr(from, text.find(" |\n", from) - from), std::regex(" \\([^)]*\\)"),
                            "");
}

std::string Numbered(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) Append(&text, i == 0 ? "" : ", ", i, " ", words[i]);
  return text;
}

TEST(FormatLists, Types) {
  std::vector<std::string_view> names;
  for (const DtypeInfo& info : kDtypes) names.push_back(info.name);
  EXPECT_EQ(CodesOf("dtype"), Numbered(names));
}

TEST(FormatLists, StepsOfEpilogues) {
  std::vector<std::string_view> names;
  for (const OperationInfo& info : kOperations)
    if (IsStep(info.op)) names.push_back(info.name);
  EXPECT_EQ(CodesOf("step"), Numbered(names));
}

// The C interface numbers types as tables do, so neither ever changes.
TEST(FormatLists, TypesOfTheInterface) {
  const std::string text = TextOf("/library/kirsch.h");
  const size_t begin = text.find("typedef enum kirsch_type {"), end = text.find("} kirsch_type;");
  ASSERT_NE(begin, text.npos);
  const std::string list = text.substr(begin, end - begin);
  size_t types = 0;
  for (const DtypeInfo& info : kDtypes) {
    if (!IsOfCallers(info.dtype)) continue;
    ++types;
    const std::string row =
        Cat("KIRSCH_", absl::AsciiStrToUpper(std::string(info.name)), " = ", static_cast<int>(info.dtype));
    EXPECT_TRUE(std::regex_search(list, std::regex(row + "\\b"))) << row;
  }
  EXPECT_EQ(static_cast<size_t>(std::count(list.begin(), list.end(), '=')), types);
}

// docs/exactness.md has the bound of each function in the last column of the row that names it.
TEST(FormatLists, BoundsOfFunctions) {
  const std::string text = TextOf("/docs/exactness.md");
  for (const OperationInfo& info : kOperations) {
    if (info.latency != LatencyClass::kFunction) continue;
    const std::regex row(Cat("\\n\\|[^|]*`", info.name, "`[^|]*\\| ", info.ulps, "\\b(?!\\.)"));
    EXPECT_TRUE(std::regex_search(text, row)) << info.name << ": " << info.ulps;
  }
}

TEST(FormatLists, Levels) { EXPECT_EQ(CodesOf("level"), Numbered({kLevelNames.begin(), kLevelNames.end()})); }

}  // namespace
}  // namespace kirsch
