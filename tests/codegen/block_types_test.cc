// Matmuls with weights of blocks: the programs that are chosen and such that are drawn from all there are,
// against the reference, by every engine. KIRSCH_BLOCK_SPECS=500 for more of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "codegen/llvm/host_cpu.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "search/search.h"
#include "spec/text/cat.h"
#include "spec/text/kernel_file.h"
#include "spec/text/parser.h"
#include "tests/testing/kernel_header.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

int SpecsOfEachType() {
  const char* const wanted = std::getenv("KIRSCH_BLOCK_SPECS");
  return wanted == nullptr ? 10 : std::atoi(wanted);
}

// A spec as a user writes it: few rows or many, any number of columns, one block along K or several.
std::string DrawSpec(const DtypeInfo& blocks, std::mt19937_64* random) {
  const auto below = [&](uint64_t end) { return (*random)() % end; };
  const bool bf16 = below(4) == 0;
  const uint64_t rows = below(3) == 0 ? 1 : 1 + below(40), columns = 1 + below(70);
  const uint64_t k = static_cast<uint64_t>(blocks.block) * (1 + below(blocks.block > 100 ? 3 : 6));
  std::string text = Cat("matmul ", bf16 ? "bf16" : "f32", "*", blocks.name, "->f32 ",
                         below(9) == 0 ? "2:" : "", rows, "x", k, "x", columns, " rhs=col");
  const bool batch = text.find(':') != std::string::npos;
  if (below(4) == 0) Append(&text, " ldb=", k + static_cast<uint64_t>(blocks.block));
  if (below(4) == 0) Append(&text, " lda=", k + 5);
  if (below(4) == 0) Append(&text, " accumulate");
  if (below(6) == 0 && !batch) Append(&text, " const-rhs");
  if (!bf16 && blocks.code_run > 0 && below(3) == 0) {
    Append(&text, " lhs-as=q8_0");
  } else if (below(3) == 0) {
    Append(&text, " lhs-as=bf16");
  } else if (below(6) == 0) {
    Append(&text, " fixed-order");
  }
  if (below(4) == 0) Append(&text, " epilogue=add:n,relu");
  return text;
}

class BlockTypesTest : public ::testing::TestWithParam<std::tuple<Target, DtypeInfo>> {
 protected:
  const Target& target() const { return std::get<0>(GetParam()); }
  const DtypeInfo& type() const { return std::get<1>(GetParam()); }
  void SetUp() override {
    const std::string missing = MissingOnHost(target().features);
    if (!missing.empty()) GTEST_SKIP() << "this host lacks " << missing;
  }
};

std::vector<DtypeInfo> BlockTypes() {
  std::vector<DtypeInfo> types;
  for (const DtypeInfo& info : kDtypes)
    if (info.block > 1 && !info.ours) types.push_back(info);
  return types;
}

INSTANTIATE_TEST_SUITE_P(
    , BlockTypesTest,
    ::testing::Combine(::testing::Values(testing::Avx2Target(), testing::Avx512Target(),
                                         testing::Avx512DotTarget()),
                       ::testing::ValuesIn(BlockTypes())),
    [](const auto& info) {
      const size_t way = info.index / BlockTypes().size();
      return Cat(way == 0 ? "Avx2" : way == 1 ? "Avx512" : "Avx512Dot", "_", std::get<1>(info.param).name);
    });

Impl Best(const Spec& root, const Target& target) {
  const CostModel model(target);
  HashMemo memo;
  return Search(PlaceOperands(root, Residency::kWarm, target), model, memo, {}).impl;
}

TEST_P(BlockTypesTest, ComputesTheReference) {
  std::mt19937_64 random(target().vectors.front().bytes + static_cast<int>(type().dtype));
  for (int i = 0; i < SpecsOfEachType() && !HasFailure(); ++i) {
    const std::string text = DrawSpec(type(), &random);
    const absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    const Impl impl =
        i % 3 == 0 ? Best(parsed->spec, target()) : testing::RandomImpl(parsed->spec, target(), &random);
    VerifyOptions options;
    options.header = i % 5 == 0;
    const VerifyReport report = VerifyKernel(impl, target(), options);
    ASSERT_TRUE(report.ok) << text << "\n"
                           << testing::Describe(impl).substr(0, 3000) << report.first_mismatch;
  }
}

// Programs whose lhs becomes integers, whatever else would be chosen: every width of vectors, one row and
// several, columns by the one and by several, what is left of them, batches.
TEST_P(BlockTypesTest, IntegersThatShareScales) {
  if (type().code_run == 0) GTEST_SKIP() << "no integers";
  std::mt19937_64 random(7 + static_cast<int>(type().dtype));
  int found = 0;
  for (int i = 0; i < 200 && found < SpecsOfEachType() && !HasFailure(); ++i) {
    const std::string text =
        Cat("matmul f32*", type().name, "->f32 ", i % 7 == 0 ? "2:" : "", 1 + random() % 6, "x",
            static_cast<uint64_t>(type().block) * (1 + random() % 3), "x", 1 + random() % 12,
            " rhs=col lhs-as=q8_0", i % 5 == 0 ? " accumulate" : "", i % 4 == 0 ? " lda=1024" : "");
    const absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    const Impl impl = testing::RandomImpl(parsed->spec, target(), &random);
    if (testing::Describe(impl).find(" q8") == std::string::npos) continue;
    ++found;
    VerifyOptions options;
    options.header = found % 4 == 0;
    const VerifyReport report = VerifyKernel(impl, target(), options);
    ASSERT_TRUE(report.ok) << text << "\n"
                           << testing::Describe(impl).substr(0, 3000) << report.first_mismatch;
  }
  EXPECT_GT(found, 3);
}

// The same with rhs in panels: tiles of several rows and columns, what is left of both, constants, batches.
TEST_P(BlockTypesTest, PanelsOfIntegers) {
  if (type().code_run == 0 || !target().HasFeature("avx512vnni")) GTEST_SKIP() << "no products of 8 bits";
  std::mt19937_64 random(11 + static_cast<int>(type().dtype));
  int found = 0;
  for (int i = 0; i < 400 && found < SpecsOfEachType() && !HasFailure(); ++i) {
    const std::string text =
        Cat("matmul f32*", type().name, "->f32 ", i % 7 == 0 ? "2:" : "", 1 + random() % 20, "x",
            static_cast<uint64_t>(type().block) * (1 + random() % 3), "x", 1 + random() % 100,
            " rhs=col lhs-as=q8_0", i % 5 == 0 ? " accumulate" : "",
            i % 7 != 0 && i % 3 == 0 ? " const-rhs" : "",
            i % 4 == 0 ? " epilogue=add:n,gelu" : "");
    const absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    const Impl impl = testing::RandomImpl(parsed->spec, target(), &random);
    if (testing::Describe(impl).find(" p8") == std::string::npos) continue;
    ++found;
    VerifyOptions options;
    options.header = found % 4 == 0;
    const VerifyReport report = VerifyKernel(impl, target(), options);
    ASSERT_TRUE(report.ok) << text << "\n"
                           << testing::Describe(impl).substr(0, 3000) << report.first_mismatch;
  }
  EXPECT_GT(found, 3);
}

// Kernels of the language: a gated feed-forward layer, constants, and what is refused.
TEST_P(BlockTypesTest, KernelsOfTheLanguage) {
  const std::string w = Cat(type().name, "[512,256]"), v = Cat(type().name, "[256,512]");
  const std::string text =
      Cat("kernel f(x: f32[5,256], w: ", w, ", g: const ", w, ", v: ", v,
          ", b: f32[256]):\n h = mul(silu(matmul(x, transpose(w))), matmul(x, transpose(g)))\n"
          " return add(matmul(h, transpose(v)), b)");
  const absl::StatusOr<PlanResult> found = testing::PlanOf(testing::GraphOf(text), target(), 1);
  ASSERT_TRUE(found.ok()) << found.status();
  const VerifyReport report = testing::VerifyPlan(found->plan, target());
  EXPECT_TRUE(report.ok) << report.first_mismatch;
}

// What is refused is refused with its place.
TEST(BlockTypeErrors, SayWhatWasExpected) {
  const auto error = [](const std::string& text) { return std::string(ParseSpec(text).status().message()); };
  EXPECT_THAT(error("matmul f32*q8_0->f32 4x64x8"), ::testing::HasSubstr("expected rhs=col with q8_0"));
  EXPECT_THAT(error("matmul f32*q8_0->f32 4x65x8 rhs=col"),
              ::testing::HasSubstr("expected K that is a multiple of 32, as q8_0 has blocks of so many"));
  EXPECT_THAT(error("matmul f32*q4_k->f32 4x128x8 rhs=col"), ::testing::HasSubstr("a multiple of 256"));
  EXPECT_THAT(error("matmul f32*q8_0->f32 4x64x8 rhs=col ldb=65"),
              ::testing::HasSubstr("expected ldb that is a multiple of 32"));
  EXPECT_THAT(error("matmul f32*q8_0->f32 4x64x8 rhs=col out=col"), ::testing::HasSubstr("expected out=row"));
  EXPECT_THAT(error("matmul q8_0*f32->f32 4x64x8"), ::testing::HasSubstr("types that go together"));
  EXPECT_THAT(error("matmul f32*f32->q8_0 4x64x8"), ::testing::HasSubstr("types that go together"));
  EXPECT_THAT(error("matmul f32 4x64x8 lhs-as=bf16"), ::testing::HasSubstr("an rhs of bf16 or of blocks"));
  EXPECT_THAT(error("matmul bf16*bf16->f32 4x64x8 lhs-as=bf16"), ::testing::HasSubstr("an lhs of f32"));
  const auto kernel_error = [](const std::string& text) {
    return std::string(ParseKernelFile(text, "f").status().message());
  };
  const auto refused = ::testing::HasSubstr("not of blocks");
  EXPECT_THAT(kernel_error("kernel f(w: q8_0[8,64]):\n return relu(w)\n"), refused);
  EXPECT_THAT(kernel_error("kernel f(w: q8_0[8,64]):\n return transpose(w)\n"), refused);
  EXPECT_THAT(kernel_error("kernel f(x: f32[2,8], w: q8_0[8,64]):\n return matmul(x, w)\n"), refused);
  EXPECT_THAT(kernel_error("kernel f(w: q8_0[8,60]):\n return relu(w)\n"),
              ::testing::HasSubstr("a multiple of 32"));
  EXPECT_THAT(error("matmul f32*q8_0->f32 4x64x8 rhs=col lhs-as=f16"),
              ::testing::HasSubstr("expected bf16 or q8_0"));
  EXPECT_THAT(error("matmul bf16*q8_0->f32 4x64x8 rhs=col lhs-as=q8_0"),
              ::testing::HasSubstr("an lhs of f32"));
  EXPECT_THAT(error("matmul f32*sfp8->f32 4x64x8 rhs=col lhs-as=q8_0"),
              ::testing::HasSubstr("an rhs of blocks of integers"));
  EXPECT_THAT(error("matmul f32*q8->f32 4x64x8 rhs=col"), ::testing::HasSubstr("an element type"));
}

}  // namespace
}  // namespace kirsch
