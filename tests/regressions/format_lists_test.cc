// SPDX-License-Identifier: Apache-2.0
// A reader of tables, written from the lists of codes in memo/FORMAT.md, lacked some that the program has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "spec/dtype.h"
#include "spec/level.h"
#include "spec/operation.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"

namespace kirsch {
namespace {

// "0 f32, 1 bf16" of a row of the table of codes, without what it says of them in parentheses.
std::string CodesOf(const std::string& what) {
  const std::string text = *ReadFile(KIRSCH_FORMAT);
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

TEST(FormatLists, Levels) { EXPECT_EQ(CodesOf("level"), Numbered({kLevelNames.begin(), kLevelNames.end()})); }

}  // namespace
}  // namespace kirsch
