// SPDX-License-Identifier: Apache-2.0
// `explain` began with a long table, said the same subtree many times, and two of the best programs could
// have the same line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ExplainSummary : public testing::CliTest {
 protected:
  std::vector<std::string> Explain(const std::string& arguments) const {
    const testing::Outcome outcome = Run("explain " + arguments + " --target znver4 --no-db");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::istringstream stream(outcome.out);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    EXPECT_GT(lines.size(), 6u);
    lines.resize(std::max<size_t>(lines.size(), 6));
    return lines;
  }

  static void ExpectLine(const std::string& line, const std::string& pattern) {
    EXPECT_TRUE(std::regex_match(line, std::regex(pattern))) << line << "\n" << pattern;
  }
};

TEST_F(ExplainSummary, OfASpec) {
  const std::vector<std::string> lines = Explain("'matmul f32 100x100x100'");
  ExpectLine(lines[0], "time       [0-9.]+ us: [0-9]+ cycles at 3.63 GHz, [0-9.]+ GFLOP/s");
  ExpectLine(lines[1], "peak       [0-9.]+% of the peak rate of znver4");
  ExpectLine(lines[2],
             "bound by   arithmetic in register tiles: 6x4 of 16 lanes by fma, 100.0% of the peak rate in "
             "the loop");
  ExpectLine(lines[3], "cycles     register tiles [0-9.]+%(, [a-z ,]+ [0-9.]+%)+");
  ExpectLine(lines[4], "runner-up  to begin with .*, not .*, \\+[0-9.]+%");
  EXPECT_EQ(lines[5], "");
}

TEST_F(ExplainSummary, OfOthers) {
  EXPECT_THAT(Explain("'matmul u8*s8->s32 8x64x64'")[0], HasSubstr(" GOP/s"));
  EXPECT_THAT(Explain("'matmul f32 1x4096x4096 rhs=col' --cold")[2], HasSubstr("transfers from RAM"));
  const std::vector<std::string> attention = Explain("'attention f32 heads=2 tokens=64 dim=64'");
  ExpectLine(attention[1], "peak       [0-9.]+% of the peak rate of znver4's multiply-adds");
  ExpectLine(attention[2], "bound by   arithmetic in register tiles: .*, in contraction\\(q, k, v6\\) .*");
  EXPECT_THAT(attention[4], HasSubstr("runner-up  "));
  ExpectLine(Explain("'softmax f32 32x1024'")[1],
             "peak       no products of matrices: [0-9.]+ GB/s of parameters and result");
}

TEST_F(ExplainSummary, FoldsWhatIsRepeated) {
  const std::vector<std::string> lines = Explain("'matmul f32 64x4096x512'");
  int folded = 0;
  for (const std::string& line : lines)
    folded += line.ends_with("; below it the same steps as above") ? 1 : 0;
  EXPECT_GT(folded, 0);
  for (const std::string& line : Explain("'matmul f32 16x16x16'"))
    EXPECT_THAT(line, Not(HasSubstr("steps as above")));
}

TEST_F(ExplainSummary, TheBestDifferInWhatIsSaid) {
  for (const char* text : {"'matmul f32 100x100x100' --best 12", "'softmax f32 32x1024' --best 3"}) {
    std::set<std::string> differences;
    int programs = 0;
    for (const std::string& line : Explain(text))
      if (const size_t above = line.find("%  ");
          std::isdigit(line.empty() ? 0 : line[4]) && above != line.npos) {
        differences.insert(line.substr(above));
        ++programs;
      }
    EXPECT_GT(programs, 1) << text;
    EXPECT_EQ(static_cast<int>(differences.size()), programs) << text;
  }
}

}  // namespace
}  // namespace kirsch
