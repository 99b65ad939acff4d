// SPDX-License-Identifier: Apache-2.0
// What a SPEC can say was only in READMEs, and a command's options were one long list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "spec/dtype.h"
#include "spec/language/functions.h"
#include "spec/language/graph_shorthand.h"
#include "spec/language/kernel_file.h"
#include "spec/language/parser.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HelpText : public testing::CliTest {
 protected:
  std::string HelpOf(const std::string& topic) const {
    const testing::Outcome outcome = Run("help " + topic);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }

  static std::vector<std::string> LinesOf(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(HelpText, HasEveryRowOfTheTables) {
  const std::string help = HelpOf("SPEC");
  for (std::string_view function : FunctionNames()) EXPECT_THAT(help, HasSubstr(Cat(function, "(x")));
  for (std::string_view shorthand : GraphShorthandNames())
    EXPECT_THAT(help, HasSubstr(Cat("\n  ", shorthand, " ")));
  for (const DtypeInfo& info : kDtypes) {
    const std::string line = Cat("\n  ", info.name, " ");
    EXPECT_EQ(help.find(line) != help.npos, IsOfCallers(info.dtype)) << line;
  }
  for (const std::string& option : MatmulOptions()) EXPECT_THAT(help, HasSubstr(option));
  for (const std::string& line : LinesOf(help)) EXPECT_LE(line.size(), 110u) << line;
}

TEST_F(HelpText, ItsExamplesAreKernels) {
  const std::string help = HelpOf("spec");
  int examples = 0;
  for (const std::string& line : LinesOf(help.substr(help.find("\nExamples:\n")))) {
    if (line.find('\'') == line.npos) continue;
    const std::string text = line.substr(3, line.size() - 4);
    const absl::StatusOr<KernelRequest> request = ParseKernelLine(text, "example");
    EXPECT_TRUE(request.ok()) << text << ": " << request.status();
    ++examples;
  }
  EXPECT_GT(examples, static_cast<int>(GraphShorthandNames().size()));
}

TEST_F(HelpText, WithoutTopicHasBoth) {
  const std::string both = HelpOf("");
  EXPECT_THAT(both, HasSubstr(HelpOf("SPEC")));
  EXPECT_THAT(both, HasSubstr("Subcommands:"));
  EXPECT_THAT(HelpOf("db stats"), HasSubstr("Usage: kirsch db stats"));
  ExpectRefused("help sinth", "got 'sinth'; did you mean 'synth'?");
  ExpectRefused("help synth more", "expected nothing, got 'more'");
}

TEST_F(HelpText, OptionsAreInGroups) {
  for (const char* command : {"synth", "verify", "explain", "bench", "fidelity", "target detect",
                              "target calibrate", "db stats", "db check", "db export", "db precompute"}) {
    const std::vector<std::string> lines = LinesOf(HelpOf(command));
    std::string group;
    for (const std::string& line : lines) {
      if (line.ends_with(":") && !line.starts_with(" ")) group = line;
      const bool other = group == "Options:" && line.starts_with("  -") && !line.starts_with("  -h,--help");
      EXPECT_FALSE(other) << command << ": " << line;
    }
  }
  const std::string synth = HelpOf("synth");
  for (const char* group : {"What", "Target", "Search", "Output", "Check"})
    EXPECT_THAT(synth, HasSubstr(Cat("\n", group, ":\n")));
}

TEST_F(HelpText, OptionsThatWereRenamedKeepTheirOldNames) {
  const testing::Outcome old =
      Run("db precompute 'matmul f32 2x2x2' --kernel-threads 2 --target haswell --db " + Path("t.db"));
  EXPECT_EQ(old.code, 0) << old.err;
  EXPECT_THAT(old.err, HasSubstr("kirsch: --kernel-threads is called --threads now\n"));
  EXPECT_THAT(HelpOf("db precompute"), Not(HasSubstr("--kernel-threads")));
  EXPECT_THAT(HelpOf("bench"), Not(HasSubstr("--plot")));
  ExpectRefused("bench 'matmul f32 4x4x4' --plot " + Path("no/file"), "No such file or directory");
}

}  // namespace
}  // namespace kirsch
