// SPDX-License-Identifier: Apache-2.0
// Summaries left out what their numbers mean: time, share of the peak, units, what is assumed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "spec/target/target_json.h"
#include "spec/text/cat.h"
#include "tests/testing/cli_testing.h"
#include "tools/prediction.h"

namespace kirsch {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class SummaryLine : public testing::CliTest {
 protected:
  std::string SummaryOf(const std::string& spec, const std::string& options = "--no-verify") const {
    return Run(Cat("synth '", spec, "' --target znver4 --no-db -o /dev/null ", options)).err;
  }
};

Target TargetAt(double ghz) {
  Target target = DefaultTarget();
  target.name = "host";
  target.ghz = ghz;
  return target;
}

TEST_F(SummaryLine, HasTimeAndShareOfThePeak) {
  EXPECT_THAT(
      SummaryOf("matmul f32 64x64x64"),
      ContainsRegex("on znver4: [0-9]+ cycles, [0-9.]+ us at 3.63 GHz, [0-9.]+ GFLOP/s predicted, [0-9]+ % "
                    "of the modelled peak; optimal, bound [0-9]+; [0-9]+ specs in "));
  EXPECT_THAT(
      SummaryOf("attention f32 heads=1 tokens=16 dim=16"),
      ContainsRegex(" [nu]s at 3.63 GHz, [0-9.]+ GFLOP/s predicted, [0-9]+ % of the modelled peak; "));
  EXPECT_THAT(SummaryOf("softmax f32 4x64"),
              AllOf(HasSubstr(" GFLOP/s predicted; "), Not(HasSubstr("peak"))));
}

TEST_F(SummaryLine, OperationsOfIntegersAreNoFlop) {
  EXPECT_THAT(SummaryOf("matmul u8*s8->s32 16x64x64"), HasSubstr(" GOP/s predicted, "));
  EXPECT_THAT(SummaryOf("matmul u8*s8->f32 16x64x64 epilogue=f32"), HasSubstr(" GOP/s predicted, "));
  EXPECT_THAT(SummaryOf("matmul s32 1..4x8x8"), HasSubstr(" GOP/s, from - to "));
}

TEST_F(SummaryLine, SaysWhatWeightsTakePacked) {
  EXPECT_THAT(SummaryOf("matmul f32 4x128x96 const-rhs"),
              ContainsRegex("; weights of 48 KiB are packed into [0-9]+ KiB\n"));
  EXPECT_THAT(SummaryOf("matmul f32 4x128x96"), Not(HasSubstr("weights")));
  EXPECT_THAT(SummaryOf("matmul f32 1..4x128x96 const-rhs"),
              HasSubstr("; weights of 48 KiB are packed into "));
}

TEST_F(SummaryLine, ColumnsOfAFamilyHaveTitles) {
  EXPECT_THAT(SummaryOf("matmul f32 1..9x64x64"),
              AllOf(HasSubstr("; predicted at 3.63 GHz\n"),
                    ContainsRegex("m +kernels +GFLOP/s, from - to +mean loss +most loss +decision\n")));
}

TEST_F(SummaryLine, ErrorsAreSharesOfTheirBounds) {
  for (const char* spec : {"matmul f32 8x8x8", "softmax f32 3x9"}) {
    EXPECT_THAT(SummaryOf(spec, ""), ContainsRegex("; largest error [0-9.e-]+ of the bound\n")) << spec;
    EXPECT_THAT(Run(Cat("verify '", spec, "' --no-db")).out,
                ContainsRegex("ok: largest error [0-9.e-]+ of the bound\n"))
        << spec;
  }
}

TEST_F(SummaryLine, SaysOnceADayThatItIsNotCalibrated) {
  const std::string command = "synth 'matmul f32 8x8x8' --no-db --no-verify -o /dev/null";
  const auto run = [&](const std::string& cache) {
    return testing::RunKirsch(Cat("KIRSCH_CONFIG=none XDG_CACHE_HOME=", cache), command, directory_.string());
  };
  const testing::Outcome first = run(Path("cache")), second = run(Path("cache")), lost = run("/proc/none");
  EXPECT_THAT(first.err, AllOf(HasSubstr("% of the modelled peak, not calibrated; "),
                               HasSubstr("not calibrated: kirsch target calibrate\n")));
  EXPECT_THAT(second.err, AllOf(HasSubstr(" GFLOP/s predicted"), Not(HasSubstr("calibrate"))));
  EXPECT_THAT(lost.err, HasSubstr("not calibrated: kirsch target calibrate\n"));  // where it can't be kept
  EXPECT_EQ(lost.code, 0);
  EXPECT_EQ(std::count(lost.err.begin(), lost.err.end(), '\n'), 2) << lost.err;
}

TEST(PredictionTextTest, SaysWhatClockItAssumes) {
  const Prediction prediction{1e6, 28e6, false, 32};
  EXPECT_EQ(PredictionText(prediction, TargetAt(4), 4),
            "1000000 cycles, 250 us at 4 GHz, 112.0 GFLOP/s predicted, 88 % of the modelled peak");
  EXPECT_EQ(PredictionText(prediction, TargetAt(4), 0), PredictionText(prediction, TargetAt(4), 3.9));
  EXPECT_EQ(PredictionText(prediction, TargetAt(4), 3.2),
            "1000000 cycles, 250 us at 4 GHz (this machine's clock is 3.2 GHz), 112.0 GFLOP/s predicted, "
            "88 % of the modelled peak, above the 102.4 that this machine's clock allows");
}

}  // namespace
}  // namespace kirsch
