// SPDX-License-Identifier: Apache-2.0
// Self-tests in the headers of graphs' kernels.
#include "codegen/samples/graph_samples.h"
#include "spec/text/cat.h"
#include "tests/testing/header_testing.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

class GraphHeaderTest : public HeaderTest {
 protected:
  const Target planned_ = GetParam() ? Avx512Target() : Avx2Target();

  void SetUp() override {
    if (const std::string missing = MissingOnHost(planned_.features); !missing.empty())
      GTEST_SKIP() << "the host lacks " << missing;
  }

  HeaderFile HeaderWithSamples(const std::string& text, int threads = 1) const {
    const auto result = PlanOf(GraphOf(text), planned_, threads);
    EXPECT_TRUE(result.ok()) << result.status();
    HeaderFile file = HeaderOf(result->plan, planned_);
    file.functions.front().samples = {MakeSamples(result->plan.graph, {})};
    return file;
  }

  // What the self-test prints, and whether it passes.
  std::pair<std::string, bool> SelfTest(const HeaderFile& file, const std::string& compiler) const {
    return RunSelfTest(PrintHeaderFile(file), "KERNEL_SELF_TEST", compiler);
  }
};

INSTANTIATE_TEST_SUITE_P(Isa, GraphHeaderTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

constexpr char kMlp[] =
    "kernel mlp(x: f32[70,40], w1: f32[40,90], w2: f32[90,30]):\n"
    " return matmul(gelu(matmul(x, w1)), w2)";

// Members of a family that share what they read have the samples that each has alone.
TEST(GraphSamples, DoNotDependOnWhatIsKept) {
  KeptElements kept;
  for (const int rows : {5, 2, 9}) {
    const Graph graph = GraphOf(Cat("kernel a(x: f32[", rows, ",40], k: f16[12,40], w: f32[12,9]):\n",
                                    " return matmul(matmul(x, transpose(cast(k, f32))), w)"));
    const GraphSamples alone = MakeSamples(graph, {}, SampleCount::kThree),
                       shared = MakeSamples(graph, {}, SampleCount::kThree, kept);
    ASSERT_EQ(alone.samples.size(), shared.samples.size());
    EXPECT_EQ(alone.samples.size(), 3u);
    for (size_t i = 0; i < alone.samples.size(); ++i) {
      EXPECT_EQ(alone.samples[i].element, shared.samples[i].element);
      EXPECT_EQ(alone.samples[i].value, shared.samples[i].value);
      EXPECT_EQ(alone.samples[i].error, shared.samples[i].error);
    }
  }
}

TEST_P(GraphHeaderTest, SelfTestsPassWithEveryCompiler) {
  const std::vector<HeaderFile> files = {
      HeaderWithSamples("softmax bf16 5x70"),
      HeaderWithSamples("conv2d f32 1x20x9x9 filters=20 kernel=3x3 pad=1 groups=20 layout=nhwc"),
      HeaderWithSamples("kernel a(x: f16[6,33], y: f32[33]):\n return cast(mul(x, y), f16)"),
      HeaderWithSamples("kernel a(x: u8[6,33], y: s8[33,9]):\n return matmul(x, y)"),
      HeaderWithSamples("kernel a(b: f32[9], w: const s8[33,9], x: u8[6,33], s: const f32[9]):\n"
                        " return add(mul(cast(matmul(x, w), f32), s), b)"),
      HeaderWithSamples("kernel a(x: const f32[6,33]):\n return softmax(x)"),
      HeaderWithSamples(kMlp),
      HeaderWithSamples(kMlp, 2),
  };
  for (const std::string& compiler : Compilers())
    for (const HeaderFile& file : files) {
      ASSERT_GE(file.functions.front().samples.front().samples.size(), 4u);
      const auto [text, passes] = SelfTest(file, compiler);
      EXPECT_TRUE(passes) << compiler << "\n" << file.functions.front().text << text;
      EXPECT_EQ(text, "kernel: ok\n");
    }
}

// Each sample counts.
TEST_P(GraphHeaderTest, SelfTestsRejectAnotherResult) {
  HeaderFile file = HeaderWithSamples("softmax f32 3x50");
  for (GraphSample& sample : file.functions.front().samples.front().samples) {
    const GraphSample right = sample;
    sample.value += 3 * sample.error;
    const auto [text, passes] = SelfTest(file, Compilers().front());
    EXPECT_FALSE(passes);
    EXPECT_NE(text.find("kernel: WRONG\n"), std::string::npos) << text;
    sample = right;
  }
}

TEST_P(GraphHeaderTest, WithoutSamplesThereIsNone) {
  HeaderFile file = HeaderWithSamples("softmax f32 3x50");
  EXPECT_NE(PrintHeaderFile(file).find("KERNEL_SELF_TEST"), std::string::npos);
  file.functions.front().samples = {};
  EXPECT_EQ(PrintHeaderFile(file).find("SELF_TEST"), std::string::npos);
}

}  // namespace
}  // namespace kirsch::testing
