// SPDX-License-Identifier: Apache-2.0
// What took long said nothing where standard error is no terminal, or not what it was doing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "codegen/verify/known_contraction.h"
#include "codegen/verify/verify_ladder.h"
#include "tests/testing/plain_kernel.h"
#include "tests/testing/random_spec.h"
#include "tools/progress_line.h"

namespace kirsch {
namespace {

using ::testing::Contains;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

std::string ContentsOf(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text.push_back(static_cast<char>(c));
  return text;
}

// Waits until the reporter has printed something, ten seconds at most.
TEST(SilentProgress, ALineEverySoOftenSaysWhatIsDone) {
  std::FILE* const file = std::tmpfile();
  {
    ProgressReporter reporter(std::chrono::milliseconds(1), file);
    reporter.Begin();
    reporter.Tell("searching: 3 specs");
    for (int wait = 0; wait < 10'000 && std::ftell(file) == 0; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    reporter.End();
  }
  const std::string text = ContentsOf(file);
  EXPECT_THAT(text.substr(0, text.find('\n') + 1), MatchesRegex("kirsch: [0-9]+ s: searching: 3 specs\n"));
  std::fclose(file);
}

TEST(SilentProgress, NothingIsSaidOfWhatIsOver) {
  std::FILE* const file = std::tmpfile();
  {
    ProgressReporter reporter(std::chrono::milliseconds(1), file);
    reporter.Begin();
    reporter.End();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(ContentsOf(file), "");
  std::fclose(file);
}

// Which engine, which of how many runs, how much it computes.
TEST(SilentProgress, VerificationSaysWhatItDoes) {
  std::vector<std::string> told;
  const Spec spec = testing::MatmulSpec({.m = 4, .k = 8, .n = 16});
  const ContractionProblem problem(spec);
  Ladder ladder(problem, PlanTrials(problem, 1, 1), [&](std::string_view what) { told.emplace_back(what); });
  Kernel kernel = testing::PlainKernel(spec, {});
  kernel.name = "jit";
  ladder.Climb(kernel, 2);
  EXPECT_THAT(told, Contains(StartsWith("jit, run 1 of 2, 1.02e-06 GFLOP")));
  EXPECT_THAT(told, Contains("jit, run 2 of 2: computing what is right"));
  EXPECT_THAT(told, Contains("jit, run 2 of 2: comparing results"));
}

}  // namespace
}  // namespace kirsch
