// SPDX-License-Identifier: Apache-2.0
// An unknown word was refused, but which known one it may have been meant for was not said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "spec/language/kernel_file.h"
#include "spec/language/schedule.h"
#include "spec/target/target_json.h"
#include "spec/target/targets.h"
#include "spec/text/nearest.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ErrorOf(const std::string& text) {
  return std::string(ParseKernelFile(text, "k").status().message());
}

TEST(UnknownWord, DistanceCountsEdits) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("threads", "treads"), 1u);
  EXPECT_EQ(EditDistance("mutmul", "matmul"), 1u);
  EXPECT_EQ(EditDistance("matmlu", "matmul"), 1u);  // neighbours that are swapped
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

TEST(UnknownWord, OnlyNearOnesAreSuggested) {
  const std::vector<std::string> known = {"matmul", "softmax"};
  EXPECT_EQ(DidYouMean("MatMul", known), "; did you mean 'matmul'?");
  EXPECT_EQ(DidYouMean("softmux", known), "; did you mean 'softmax'?");
  EXPECT_EQ(DidYouMean("gemm", known), "");
  EXPECT_EQ(DidYouMean("", known), "");
  EXPECT_EQ(DidYouMean(std::string(1 << 20, 'x'), known), "");
}

TEST(UnknownWord, InSpecs) {
  for (const auto& [text, meant] : std::initializer_list<std::pair<const char*, const char*>>{
           {"mutmul f32 2x2x2", "matmul"},
           {"sotfmax f32 2x2", "softmax"},
           {"matmul f31 2x2x2", "f32"},
           {"matmul f32*bf61->f32 2x2x2", "bf16"},
           {"matmul f32 2x2x2 lsh=col", "lhs"},
           {"matmul f32 2x2x2 acumulate", "accumulate"},
           {"matmul f32 2x2x2 const-rsh", "const-rhs"},
           {"matmul f32 2x2x2 epilogue=gleu", "gelu"},
           {"conv2d f32 1x1x4x4 filter=2 kernel=3x3", "filters"},
           {"reduce summ f32 2x2", "sum"},
           {"kernel f(x: f23[8]):\n return relu(x)", "f32"},
           {"kernel f(x: f32[8]):\n return rleu(x)", "relu"},
           {"kernel f(image: f32[8]):\n return relu(imag)", "image"},
           {"kernel f(x: f32[8,8]):\n return reduce_sum(x, axes=1)", "axis"}})
    EXPECT_THAT(ErrorOf(text), HasSubstr(std::string("; did you mean '") + meant + "'?")) << text;
  EXPECT_THAT(ErrorOf("gemm f32 2x2x2"), Not(HasSubstr("did you mean")));
}

TEST(UnknownWord, InTargetsAndSchedules) {
  const absl::StatusOr<TargetFile> file = ParseTarget(
      R"({"gzh": 3, "vectors": [{"dot_bf16_latncy": 3}], "memory": {"L1": {"way": 8}, "l2": {}}})", "t");
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string keys[] = {"ghz", "dot_bf16_latency", "ways", "L2"};
  ASSERT_EQ(file->warnings.size(), std::size(keys));
  for (size_t i = 0; i < std::size(keys); ++i)
    EXPECT_THAT(file->warnings[i], HasSubstr("is ignored; did you mean '" + keys[i] + "'?"));
  EXPECT_THAT(FindTarget("hasswell", "").status().message(), HasSubstr("; did you mean 'haswell'?"));
  EXPECT_THAT(ParseSchedule("tlie m 8", "s", OpKind::kMatmul).status().message(),
              HasSubstr("; did you mean 'tile'?"));
}

class UnknownWordCli : public testing::CliTest {};

TEST_F(UnknownWordCli, InArguments) {
  ExpectRefused("synth 'matmul f32 4x4x4' --treads 2", "'--treads'; did you mean '--threads'?");
  ExpectRefused("synth 'matmul f32 4x4x4' --treads=2", "did you mean '--threads'?");
  ExpectRefused("synth 'matmul f32 4x4x4' --nodb", "did you mean '--no-db'?");  // of the command above
  ExpectRefused("sinth 'matmul f32 4x4x4'", "'sinth'; did you mean 'synth'?");
  ExpectRefused("target lists", "'lists'; did you mean 'list'?");
  ExpectRefused("synth 'matmul f32 4x4x4' --emit haeder", "'haeder'; did you mean 'header'?");
  ExpectRefused("synth 'matmul f32 4x4x4' --target znver44", "did you mean 'znver4'?");
}

}  // namespace
}  // namespace kirsch
