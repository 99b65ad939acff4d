// SPDX-License-Identifier: Apache-2.0
// --tune and --tuned as a script sees them: what is measured, kept, used, interrupted and resumed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using testing::CliTest;
using ::testing::HasSubstr;
using testing::Outcome;

// What is measured is kept apart, used only if asked for, and not measured again.
TEST_F(CliTest, TunesWhereAskedTo) {
  const std::string spec = "'matmul f32 20x30x40' --no-verify -o " + Path("k.h") + " --db " + Path("t.db");
  const auto report = [&](const std::string& options) {
    const Outcome outcome = Run(Cat("synth ", spec, " ", options, " --json ", Path("r.json")));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(*ReadFile(Path("r.json")));
  };
  const nlohmann::json predicted = report(""), unknown = report("--tuned"), tuned = report("--tune=1");
  EXPECT_FALSE(predicted.contains("tuned"));
  EXPECT_FALSE(unknown.contains("tuned"));
  ASSERT_TRUE(tuned.contains("tuned"));
  const nlohmann::json& programs = tuned["tuned"]["programs"];
  EXPECT_GT(programs.size(), 3u);
  EXPECT_EQ(programs[0]["schedule"], predicted["schedule"]);
  EXPECT_EQ(programs[tuned["tuned"]["chosen"].get<size_t>()]["schedule"], tuned["schedule"]);
  for (const nlohmann::json& program : programs) EXPECT_GT(program["seconds"], 0);
  for (const std::string options : {"--tuned", "--tune=1"})
    EXPECT_EQ(report(options)["tuned"], tuned["tuned"]);
  EXPECT_EQ(report("")["schedule"], predicted["schedule"]);
  EXPECT_THAT(Run("db stats " + Path("t.db")).out, HasSubstr("1 tuned by measuring"));
  EXPECT_THAT(Run("db export " + Path("t.db")).out, HasSubstr("{\"tuned\":"));
  EXPECT_THAT(Run("db check " + Path("t.db")).out, HasSubstr("1 tunings"));
  EXPECT_THAT(Run("explain 'matmul f32 20x30x40' --tuned --db " + Path("t.db")).out,
              HasSubstr("tuned on this machine"));
  ExpectRefused("synth 'matmul f32 4x4x4' --tuned --no-db", "--tuned: expected a table, got --no-db");
  ExpectRefused("synth 'matmul f32 4x4x4' --tune=0", "--tune: expected 1 to 3600 seconds, got '0'");
}

TEST_F(CliTest, CalibratesFromATableThatHasWhatTuneMeasuredHere) {
  const std::string calibrate = "target calibrate -o " + Path("host.json") + " --from ";
  ExpectRefused(calibrate + Path("none.db"), "none.db");
  ASSERT_EQ(Run("synth 'matmul f32 4x4x4' --no-verify -o " + Path("k.h") + " --db " + Path("t.db")).code, 0);
  ExpectRefused(calibrate + Path("t.db"), "expected what --tune measured on this machine with one thread");
  EXPECT_FALSE(ReadFile(Path("host.json")).ok());
}

// Each is compared with what it should compute, whatever its calls look like.
TEST_F(CliTest, TunesWhateverThereIs) {
  for (const std::string what :
       {"'softmax f32 5x300'", "'attention f32 heads=2 tokens=40 dim=16'", "'matmul f32 20x30x40 const-rhs'",
        "'matmul f32 20x30x64 column-blocks=16'", "'matmul f32 20x30x40 epilogue=add:n,relu'",
        "'matmul u8*s8->u8 12x16x20 epilogue=add:n,f32,mul:n,add:3'",
        "'matmul f32 20x30x40 accumulate epilogue=add:n,relu'",
        "'matmul u8*s8->u8 12x16x20 ldc=30 accumulate epilogue=add:mn'",
        "'matmul bf16 12x16x20 const-rhs epilogue=leaky_relu:n'",
        "'conv2d f32 1x6x12x12 filters=8 kernel=3x3 pad=1' --allow-winograd"}) {
    SCOPED_TRACE(what);
    const auto report = [&](const std::string& options) {
      const Outcome outcome = Run(Cat("synth ", what, " ", options, " -o ", Path("k.h"), " --db ",
                                      Path("t.db"), " --json ", Path("r.json")));
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      return nlohmann::json::parse(*ReadFile(Path("r.json")));
    };
    const nlohmann::json tuned = report("--tune=1");
    ASSERT_TRUE(tuned.contains("tuned"));
    const nlohmann::json& programs = tuned["tuned"]["programs"];
    EXPECT_GT(programs.size(), 1u);
    EXPECT_EQ(programs[tuned["tuned"]["chosen"].get<size_t>()]["schedule"], tuned["schedule"]);
    EXPECT_EQ(tuned["search"]["stop"] == "tuned", tuned["tuned"]["chosen"] != 0);
    EXPECT_EQ(report("--tuned")["schedule"], tuned["schedule"]);
    EXPECT_FALSE(report("").contains("tuned"));
    EXPECT_THAT(Run(Cat("explain ", what, " --tuned --db ", Path("t.db"))).out,
                HasSubstr("tuned on this machine"));
  }
}

// A run in a process group of its own, as a terminal's are; standard error goes to a file.
class Running {
 public:
  Running(const std::string& arguments, const std::string& err) : pid_(fork()) {
    if (pid_ != 0) return;
    setpgid(0, 0);
    dup2(open(err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", Cat("exec ", KIRSCH_BINARY, " ", arguments).c_str(), nullptr);
    _exit(127);
  }

  bool ended() { return waitpid(pid_, &status_, WNOHANG) != 0; }
  // Ctrl-C; the status then, as of waitpid.
  int Interrupt() {
    kill(-pid_, SIGINT);
    waitpid(pid_, &status_, 0);
    return status_;
  }

 private:
  const pid_t pid_;
  int status_ = 0;
};

// What was tuned before is neither measured again nor lost. A signal at any time after the first kernel
// counts.
TEST_F(CliTest, ABatchIsInterruptedAndResumed) {
  const std::string first = "kernel first(x: f32[4,300]):\n return softmax(x)\n";
  ASSERT_TRUE(WriteFile(Path("one.kirsch"), first).ok());
  ASSERT_TRUE(WriteFile(Path("two.kirsch"), first + "second = matmul f32 20x30x40\n").ok());
  const auto synth = [&](const std::string& file, const std::string& options) {
    return Cat("synth -f ", Path(file), " --no-verify -o ", Path("k.h"), " --db ", Path("t.db"), " --json ",
               Path("r.json"), " ", options);
  };
  const auto report = [&](const std::string& file, const std::string& options) {
    const Outcome outcome = Run(synth(file, options));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(*ReadFile(Path("r.json")));
  };
  const nlohmann::json one = report("one.kirsch", "--tune=1");
  ASSERT_TRUE(one.contains("tuned"));

  ASSERT_TRUE(WriteFile(Path("err"), "").ok());
  Running running(synth("two.kirsch", "--tune=3600"), Path("err"));
  while (!running.ended() && ReadFile(Path("err"))->find("tuned on this machine") == std::string::npos)
    usleep(10'000);
  const int status = running.Interrupt();
  const std::string err = *ReadFile(Path("err"));
  // The signal may have come where nothing is under way.
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 2) << status;
  if (!WIFSIGNALED(status)) {
    EXPECT_THAT(err, HasSubstr("--tune: interrupted; what was measured before is kept"));
  }

  const nlohmann::json after = report("two.kirsch", "--tuned");
  EXPECT_EQ(after["kernels"][0]["tuned"], one["tuned"]);
  EXPECT_FALSE(after["kernels"][1].contains("tuned"));
  const nlohmann::json resumed = report("two.kirsch", "--tune=1");
  EXPECT_EQ(resumed["kernels"][0]["tuned"], one["tuned"]);
  EXPECT_TRUE(resumed["kernels"][1].contains("tuned"));
}

}  // namespace
}  // namespace kirsch
