// SPDX-License-Identifier: Apache-2.0
// Trials of made-up kernels: nothing here depends on how fast.
#include "bench/harness/trials.h"

#include <csignal>

#include "bench/workload/workload.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/bench_testing.h"

namespace kirsch {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::SizeIs;

Workload Cube(int size) { return *MakeWorkload(MatmulSpec(1, size, size, size), 1); }

// Multiplies `size`-cubes, `off` too much in the first element.
Kernel Multiplier(size_t size, float off) {
  Kernel kernel;
  kernel.name = "multiplier";
  kernel.scratch_bytes = 64;
  kernel.run = [size, off](const KernelCall& call) {
    const float* lhs = static_cast<const float*>(call.tensors[0]);
    const float* rhs = static_cast<const float*>(call.tensors[1]);
    float* out = static_cast<float*>(call.tensors[2]);
    for (size_t i = 0; i < size; ++i)
      for (size_t j = 0; j < size; ++j) {
        float sum = i + j == 0 ? off : 0;
        for (size_t k = 0; k < size; ++k) sum += lhs[i * size + k] * rhs[k * size + j];
        out[i * size + j] = sum;
      }
  };
  return kernel;
}

TEST(Trials, EveryKernelIsMeasuredInEveryRound) {
  const std::vector<Kernel> kernels = {Multiplier(4, 0), Multiplier(4, 0), Multiplier(4, 0)};
  TrialOptions options;
  options.rounds = 3;
  const absl::StatusOr<Trials> trials = RunTrials(Cube(4), kernels, options);
  ASSERT_TRUE(trials.ok()) << trials.status();
  EXPECT_THAT(trials->ghz, SizeIs(::testing::AllOf(::testing::Ge(3u), ::testing::Le(9u))));
  EXPECT_THAT(trials->peak, SizeIs(trials->ghz.size()));
  EXPECT_THAT(trials->peak, Each(Gt(0)));
  EXPECT_THAT(trials->ghz, Each(Gt(0)));
  ASSERT_THAT(trials->of, SizeIs(3));
  for (const Trial& trial : trials->of) {
    EXPECT_TRUE(trial.correct);
    EXPECT_GE(trial.seconds.size(), 2u);
    EXPECT_EQ(trial.seconds.size(), trial.cycles.size());
    EXPECT_GT(trial.MedianSeconds(), 0);
    EXPECT_GE(trial.Spread(), 0);
  }
}

TEST(Trials, AWrongResultIsFoundOut) {
  const absl::StatusOr<Trials> trials =
      RunTrials(Cube(4), {Multiplier(4, 0), Multiplier(4, 1)}, TrialOptions());
  ASSERT_TRUE(trials.ok()) << trials.status();
  EXPECT_TRUE(trials->of[0].correct);
  EXPECT_FALSE(trials->of[1].correct);
}

TEST(Trials, StoppedTrialsReturnWhatThereIs) {
  int asked = 0;
  TrialOptions options;
  options.stop = [&asked] { return ++asked > 3; };  // two checks, one sample
  const absl::StatusOr<Trials> trials = RunTrials(Cube(4), {Multiplier(4, 0), Multiplier(4, 0)}, options);
  ASSERT_TRUE(trials.ok()) << trials.status();
  ASSERT_THAT(trials->of, SizeIs(2));
  EXPECT_GE(trials->of[0].seconds.size(), 1u);
  EXPECT_TRUE(trials->of[1].seconds.empty());
}

TEST(Trials, AKernelThatCrashesIsAnError) {
  Kernel kernel = Multiplier(4, 0);
  kernel.run = [](const KernelCall&) { raise(SIGSEGV); };
  EXPECT_EQ(RunTrials(Cube(4), {kernel}, TrialOptions()).status().code(), absl::StatusCode::kAborted);
}

TEST(Trials, NothingToTryIsNoError) {
  const absl::StatusOr<Trials> trials = RunTrials(Cube(4), {}, TrialOptions());
  ASSERT_TRUE(trials.ok());
  EXPECT_TRUE(trials->of.empty());
}

}  // namespace
}  // namespace kirsch
