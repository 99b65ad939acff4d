// SPDX-License-Identifier: Apache-2.0
// Running the program as a script would. KIRSCH_BINARY is its path.
#ifndef KIRSCH_TESTS_TESTING_CLI_TESTING_H_
#define KIRSCH_TESTS_TESTING_CLI_TESTING_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "spec/text/cat.h"
#include "spec/text/file.h"

namespace kirsch::testing {

struct Outcome {
  int code;
  std::string out, err;
};

// `arguments` as a shell would read them, with `environment` ("NAME=VALUE") set; what is printed goes through
// files in `directory`.
inline Outcome RunKirsch(const std::string& environment, const std::string& arguments,
                         const std::string& directory) {
  const std::string out = Cat(directory, "/.out"), err = Cat(directory, "/.err");
  const int status =
      std::system(Cat(environment, " ", KIRSCH_BINARY, " ", arguments, " >", out, " 2>", err).c_str());
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, *ReadFile(out), *ReadFile(err)};
  std::filesystem::remove(out);
  std::filesystem::remove(err);
  return outcome;
}

// Bad input: exit code 2 and one line, with `message` in it, on standard error.
inline void ExpectRefusal(const Outcome& outcome, const std::string& arguments, const std::string& message) {
  EXPECT_EQ(outcome.code, 2) << arguments;
  EXPECT_EQ(outcome.out, "") << arguments;
  EXPECT_THAT(outcome.err, ::testing::StartsWith("kirsch: ")) << arguments;
  EXPECT_THAT(outcome.err, ::testing::HasSubstr(message)) << arguments;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

// Has a directory of its own.
class CliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        std::filesystem::path(::testing::TempDir()) /
        Cat("kirsch_cli_", getpid(), "_", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return (directory_ / name).string(); }

  // `arguments` as a shell would read them.
  Outcome Run(const std::string& arguments) const { return RunKirsch("", arguments, directory_.string()); }

  void ExpectRefused(const std::string& arguments, const std::string& message) const {
    ExpectRefusal(Run(arguments), arguments, message);
  }

  std::filesystem::path directory_;
};

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_CLI_TESTING_H_
