// SPDX-License-Identifier: Apache-2.0
// A file that a command reads was overwritten by what it writes, and what isn't a file could not be written
// to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using ::testing::StartsWith;

class OutputThatIsRead : public testing::CliTest {
 protected:
  // Runs a command line of the shell in the test's directory; $K is the program.
  int Shell(const std::string& line) const {
    const int status =
        std::system(Cat("cd ", directory_.string(), " && K=", KIRSCH_BINARY, " && ", line).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

// `input` and `output`, options, name one file.
TEST_F(OutputThatIsRead, IsRefused) {
  const std::string text = "matmul f32 4x4x4\n", spec = "'matmul f32 4x4x4'";
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"synth -f F", "-o F"},
      {"synth -f F -o x.h", "--json F"},
      {"synth -f F --emit obj -o x.o", "--declarations F"},
      {"synth -f F", "-o other-name-of-F"},
      {Cat("synth ", spec, " --schedule F"), "-o F"},
      {Cat("synth ", spec, " --target F"), "-o F"},
      {Cat("synth ", spec, " --target haswell,F"), "-o F"},
      {Cat("synth ", spec, " --db F"), "-o F"},
      {Cat("synth ", spec, " --db ."), "-o t.db"},
      {"verify -f F", "--json F"},
      {"explain -f F", "--html F"},
      {Cat("explain ", spec, " --html x.html --measured F"), "--json F"},
      {"bench -f F", "--json F"},
      {"bench --suite F", "--plot F"},
      {Cat("bench ", spec, " --against cblas:F"), "--json F"},
      {"fidelity --suite F", "--svg F"},
      {"fidelity --corpus F", "--json F"},
      {"target calibrate --refit F", "-o F"},
      {"target calibrate --from F -o x.json", "--svg F"},
      {"db stats F", "--json F"},
      {"db export F", "-o F"},
      {Cat("db precompute ", spec, " --db F"), "--json F"}};
  for (const char* name : {"F", "t.db"}) ASSERT_TRUE(WriteFile(Path(name), text).ok());
  std::filesystem::create_symlink("F", Path("other-name-of-F"));
  for (const auto& [command, output] : refused) {
    const std::string line = Cat(command, " ", output);
    EXPECT_EQ(Shell(Cat("$K ", line, " >out 2>err")), 2) << line;
    EXPECT_THAT(*ReadFile(Path("err")), StartsWith("kirsch: expected another file to write to than '"))
        << line;
    EXPECT_EQ(*ReadFile(Path("F")), text) << line;
    EXPECT_EQ(*ReadFile(Path("t.db")), text) << line;
  }
}

// There is no table yet.
TEST_F(OutputThatIsRead, IsRefusedBeforeItIsThere) {
  ExpectRefused(Cat("synth 'matmul f32 4x4x4' --db ", Path("new.db"), " -o ", Path("new.db")),
                "', which is read");
}

// The name of a target is no file.
TEST_F(OutputThatIsRead, AFileNamedLikeATargetIsNone) {
  EXPECT_EQ(Shell("touch haswell && $K synth 'matmul f32 4x4x4' --target haswell --no-db --no-verify -o "
                  "haswell 2>err"),
            0);
  EXPECT_THAT(*ReadFile(Path("haswell")), StartsWith("//"));
}

TEST_F(OutputThatIsRead, WhatIsNoFileIsWrittenTo) {
  const std::string synth = "$K synth 'matmul f32 4x4x4' --target haswell --no-db --no-verify 2>err ";
  ASSERT_EQ(Shell(synth + ">expected"), 0);
  const std::string expected = *ReadFile(Path("expected"));
  for (const char* rest : {"-o /dev/stdout | cat >got", "-o /proc/self/fd/1 | cat >got", "-o /dev/fd/3 3>got",
                           "-o /dev/stdout >got", "-o link | cat >got"}) {
    ASSERT_EQ(Shell("rm -f got fifo link && mkfifo fifo && ln -s /dev/stdout link"), 0);
    EXPECT_EQ(Shell(synth + rest), 0) << rest;
    EXPECT_EQ(*ReadFile(Path("got")), expected) << rest;
  }
  EXPECT_EQ(Shell(Cat("(timeout 9 cat fifo >got & ", synth, "-o fifo && wait)")), 0);
  EXPECT_EQ(*ReadFile(Path("got")), expected);
  // What is there already stays.
  EXPECT_EQ(Shell(Cat("echo before >got && ", synth, "-o /dev/stdout >>got")), 0);
  EXPECT_EQ(*ReadFile(Path("got")), "before\n" + expected);
  EXPECT_EQ(Shell(Cat("echo before >got && ", synth, "-o /dev/fd/0 <got")), 2);  // open to be read only
}

}  // namespace
}  // namespace kirsch
