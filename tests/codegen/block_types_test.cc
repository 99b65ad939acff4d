// SPDX-License-Identifier: Apache-2.0
// Matmuls with weights of blocks: the programs that are chosen and such that are drawn from all there are,
// against the reference, by every engine. KIRSCH_BLOCK_SPECS=500 for more of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "codegen/llvm/host_cpu.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "rewrites/graph/canonical_graph.h"
#include "search/solver/search.h"
#include "search/table/plan_recall.h"
#include "spec/language/contraction_graph.h"
#include "spec/language/kernel_file.h"
#include "spec/language/parser.h"
#include "spec/text/cat.h"
#include "tests/testing/kernel_header.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

int SpecsOfEachType() {
  const char* const wanted = std::getenv("KIRSCH_BLOCK_SPECS");
  return wanted == nullptr ? 5 : std::atoi(wanted);
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
  if (below(4) == 0 && !batch) Append(&text, below(3) == 0 ? " const-lhs" : " const-rhs");
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

  bool HasProductsOfBytes() const {
    return type().code_run != 0 && (target().HasFeature("avx512vnni") || target().HasFeature("avxvnni"));
  }
  // The panels that copies made ahead may be in, and keep the blocks (of a type, no more than one); null:
  // none.
  const DtypeInfo* KeptPanels() const {
    const auto keeps = [&](const DtypeInfo& panels) { return KeepsBlocks(panels.dtype, type().dtype); };
    const auto kept = std::find_if(kDtypes.begin(), kDtypes.end(), keeps);
    return HasProductsOfBytes() && kept != kDtypes.end() ? &*kept : nullptr;
  }

  void ExpectRight(const Impl& impl, const std::string& text, bool header) const {
    VerifyOptions options;
    options.header = header;
    const VerifyReport report = VerifyKernel(impl, target(), options);
    ASSERT_TRUE(report.ok) << text << "\n"
                           << testing::Describe(impl).substr(0, 3000) << report.first_mismatch;
  }

  // A matmul that may round lhs to integers, of no more rows and columns than that.
  std::string RoundedMatmul(int i, uint64_t rows, uint64_t columns, std::mt19937_64& random) const {
    return Cat("matmul f32*", type().name, "->f32 ", i % 7 == 0 ? "2:" : "", 1 + random() % rows, "x",
               static_cast<uint64_t>(type().block) * (1 + random() % 3), "x", 1 + random() % columns,
               " rhs=col lhs-as=q8_0", i % 5 == 0 ? " accumulate" : "");
  }

  // Verifies drawn programs that wanted(impl) says, of specs that draw(i, random) says.
  template <typename Wanted, typename Draw>
  void VerifyDrawn(const Wanted& wanted, int most, const Draw& draw) const {
    std::mt19937_64 random(7 + static_cast<int>(type().dtype));
    int found = 0;
    for (int i = 0; i < most && found < SpecsOfEachType() && !HasFailure(); ++i) {
      const std::string text = draw(i, random);
      const absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      const Impl impl = testing::RandomImpl(parsed->spec, target(), &random);
      if (!wanted(impl)) continue;
      ExpectRight(impl, text, ++found % 4 == 0);
    }
    EXPECT_GT(found, 3);
  }
};

// Does a program copy something to a type named like that?
auto Copies(const std::string& type) {
  return [type](const Impl& impl) { return absl::StrContains(testing::Describe(impl), type); };
}

// Does it multiply elements of blocks, as they lie, by groups of steps?
bool GroupsBlocks(const Impl& impl) {
  const bool itself = impl.decision.kind == RewriteKind::kMicrokernel &&
                      IsOfBlocks(impl.spec.operand[MatmulDims::kRhs].dtype) &&
                      impl.spec.out().layout.group > 1;
  return itself || std::any_of(impl.children.begin(), impl.children.end(),
                               [](const Impl::Child& child) { return GroupsBlocks(child.impl); });
}

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

// Products of 8 bits by vectors of half the size.
INSTANTIATE_TEST_SUITE_P(SmallVectors, BlockTypesTest,
                         ::testing::Combine(::testing::Values(testing::Avx2DotTarget()),
                                            ::testing::Values(Info(Dtype::kQ4_0), Info(Dtype::kQ4K),
                                                              Info(Dtype::kQ6K))),
                         [](const auto& info) { return std::string(std::get<1>(info.param).name); });

// Floats of 8 bits are decoded by tables of bytes where there are any, and by arithmetic on bytes elsewhere.
INSTANTIATE_TEST_SUITE_P(ByTables, BlockTypesTest,
                         ::testing::Combine(::testing::Values(testing::Avx512TablesTarget()),
                                            ::testing::Values(Info(Dtype::kSfp8))));

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
    ExpectRight(impl, text, i % 5 == 0);
  }
}

// Programs whose lhs becomes integers, whatever else would be chosen: every width of vectors, one row and
// several, columns by the one and by several, what is left of them, batches.
TEST_P(BlockTypesTest, IntegersThatShareScales) {
  if (type().code_run == 0) GTEST_SKIP() << "no integers";
  VerifyDrawn(Copies(" q8"), 200, [&](int i, std::mt19937_64& random) {
    return Cat(RoundedMatmul(i, 6, 12, random), i % 4 == 0 ? " lda=1024" : "");
  });
}

// Numbers that are bf16's are multiplied as such where they lie, beside rows that have been rounded: one row
// and several, columns of any number of blocks.
TEST_P(BlockTypesTest, WordsOfBf16) {
  if (!Holds(Dtype::kBf16, type().dtype) || !target().HasFeature("avx512bf16")) GTEST_SKIP() << "no words";
  VerifyDrawn(GroupsBlocks, 400, [&](int i, std::mt19937_64& random) {
    return Cat("matmul ", i % 4 == 0 ? "bf16" : "f32", "*", type().name, "->f32 ", i % 7 == 0 ? "2:" : "",
               1 + random() % 6, "x", 32 * (1 + random() % 12), "x", 1 + random() % 12,
               " rhs=col lhs-as=bf16", i % 5 == 0 ? " accumulate" : "", i % 3 == 0 ? " ldb=512" : "");
  });
}

// The same with rhs in panels: tiles of several rows and columns, what is left of both, constants, batches.
TEST_P(BlockTypesTest, PanelsOfIntegers) {
  if (!HasProductsOfBytes()) GTEST_SKIP() << "no products of 8 bits";
  VerifyDrawn(Copies(" p8"), 400, [&](int i, std::mt19937_64& random) {
    return Cat(RoundedMatmul(i, 20, 100, random), i % 7 != 0 && i % 3 == 0 ? " const-rhs" : "",
               i % 4 == 0 ? " epilogue=add:n,gelu" : "");
  });
}

// The same of copies that are made ahead, which keep the factors of parts, and codes of few bits.
TEST_P(BlockTypesTest, PanelsThatKeepBlocks) {
  const DtypeInfo* const kept = KeptPanels();
  if (kept == nullptr) GTEST_SKIP() << "no products of blocks kept in panels";
  VerifyDrawn(Copies(Cat(" ", kept->name)), 400, [&](int i, std::mt19937_64& random) {
    return Cat(RoundedMatmul(i, 20, 100, random), " const-rhs", i % 4 == 0 ? " epilogue=add:n,gelu" : "");
  });
}

// And of those that copies make wider for a tile: of many columns, of what is left of them, of shared ones.
TEST_P(BlockTypesTest, PanelsThatGetWider) {
  const DtypeInfo* const kept = KeptPanels();
  if (kept == nullptr) GTEST_SKIP() << "no products of blocks kept in panels";
  const auto narrow = Copies(Cat(" ", kept->name)), wide = Copies(Cat(" ", Info(InPanels(kept->dtype)).name));
  VerifyDrawn([&](const Impl& impl) { return narrow(impl) && wide(impl); }, 40000,
              [&](int i, std::mt19937_64& random) {
                return Cat(RoundedMatmul(i, 20, 150, random), " const-rhs",
                           i % 4 == 0   ? " epilogue=add:n,gelu"
                           : i % 4 == 1 ? " column-blocks=32"
                                        : "");
              });
}

// A gated feed-forward layer of the language, whose matmuls may round what `option` says.
std::string GatedLayer(std::string_view type, const std::string& option) {
  const std::string w = Cat(type, "[256,256]");
  return Cat("kernel f(x: f32[5,256], w: ", w, ", g: const ", w, ", v: ", w,
             ", b: f32[256]):\n h = mul(silu(matmul(x, transpose(w)", option, ")), matmul(x, transpose(g)",
             option, "))\n return add(matmul(h, transpose(v)", option, "), b)");
}

TEST_P(BlockTypesTest, KernelsOfTheLanguage) {
  for (const char* option : {"", type().code_run == 0 ? ", lhs_as=bf16" : ", lhs_as=q8_0"}) {
    const absl::StatusOr<PlanResult> found =
        testing::PlanOf(testing::GraphOf(GatedLayer(type().name, option)), target(), 1);
    ASSERT_TRUE(found.ok()) << found.status();
    const VerifyReport report = testing::VerifyPlan(found->plan, target());
    EXPECT_TRUE(report.ok) << option << " " << report.first_mismatch;
    EXPECT_EQ(absl::StrContains(PrintPlan(found->plan), " lhs-as="), option[0] != 0)
        << PrintPlan(found->plan);
  }
}

// A kernel of the language that is one matmul is the spec that says the same, its epilogue included.
TEST_P(BlockTypesTest, RoundingOfOneMatmul) {
  for (LhsAs as : {LhsAs::kBf16, LhsAs::kQ8}) {
    if (type().code_run == 0 && as == LhsAs::kQ8) continue;
    const std::string text =
        Cat("kernel f(x: f32[5,512], w: ", type().name, "[64,512], b: f32[64]) -> f32[5,64]:\n",
            "  return relu(add(matmul(x, transpose(w), lhs_as=", NameOf(as), "), b))");
    const Graph graph = testing::GraphOf(text);
    const absl::StatusOr<ParsedSpec> matmul = AsContraction(graph, "test");
    ASSERT_TRUE(matmul.ok()) << matmul.status();
    const std::string spec =
        Cat("matmul f32*", type().name, "->f32 5x512x64 rhs=col lhs-as=", NameOf(as), " epilogue=add:n,relu");
    EXPECT_EQ(matmul->text, ParseSpec(spec)->text);
    EXPECT_EQ(matmul->spec, ParseSpec(spec)->spec);
    EXPECT_EQ(MatmulGraph(*matmul)->nodes.back().lhs_as, LhsAs::kItself);
    const Graph printed = testing::GraphOf(std::string(absl::StripSuffix(PrintGraph(graph), "\n")));
    EXPECT_EQ(*AsContraction(printed, "test"), *matmul);
    EXPECT_EQ(AsContraction(*MatmulGraph(*matmul), "test")->spec, matmul->spec);
  }
}

// What may be rounded is part of what is asked for: of the table, and of what is computed once.
TEST(BlockTypes, RoundingIsNoDetail) {
  const auto kernel = [](const char* first, const char* second) {
    return testing::GraphOf(Cat("kernel f(x: f32[5,64], w: q8_0[64,64]):\n return add(matmul(x, transpose(w)",
                                first, "), matmul(x, transpose(w)", second, "))"));
  };
  const char* const rounded = ", lhs_as=q8_0";
  EXPECT_NE(PlanQuestion(kernel("", ""), {}), PlanQuestion(kernel(rounded, rounded), {}));
  EXPECT_EQ(CanonicalGraph(kernel(rounded, rounded)).nodes.size() + 1,
            CanonicalGraph(kernel("", rounded)).nodes.size());
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
  const auto rounding_error = [&](const char* x, const char* w, const char* option) {
    return kernel_error(Cat("kernel f(x: ", x, "[2,64], w: ", w, "[8,64]):\n return matmul(x, transpose(w), ",
                            option, ")\n"));
  };
  EXPECT_EQ(rounding_error("f32", "q8_0", "lhs_as=f32"), "f:2:40: expected bf16, f16 or q8_0, got 'f32'");
  EXPECT_EQ(rounding_error("f32", "q8_0", "lhs-as=bf16"), "f:2:33: expected an option (lhs_as), got 'lhs'");
  EXPECT_EQ(
      rounding_error("f32", "f32", "lhs_as=bf16"),
      "f:2:9: expected an rhs of bf16 or of blocks beside an lhs that is rounded to bf16, got f32[2,64] "
      "and f32[64,8]");
  EXPECT_EQ(
      rounding_error("f32", "sfp8", "lhs_as=q8_0"),
      "f:2:9: expected an rhs of blocks of integers beside an lhs that is rounded to q8_0, got f32[2,64] "
      "and sfp8[64,8]");
  EXPECT_EQ(rounding_error("bf16", "q8_0", "lhs_as=q8_0"),
            "f:2:9: expected an lhs of f32 to be rounded, got bf16[2,64] and q8_0[64,8]");
  EXPECT_EQ(rounding_error("bf16", "q8_0", "lhs_as=bf16"), "");
  EXPECT_THAT(kernel_error("kernel f(w: q8_0[8,60]):\n return relu(w)\n"),
              ::testing::HasSubstr("a multiple of 32"));
  EXPECT_THAT(error("matmul f32*q8_0->f32 4x64x8 rhs=col lhs-as=f32"),
              ::testing::HasSubstr("expected bf16, f16 or q8_0"));
  EXPECT_THAT(error("matmul f32*q8_0->f32 4x64x8 rhs=col lhs-as=f16"),
              ::testing::HasSubstr("an rhs of f16 beside an lhs that is rounded to f16"));
  EXPECT_THAT(error("matmul f16*f16->f32 4x64x8 rhs=col lhs-as=f16"),
              ::testing::HasSubstr("an lhs of f32 to be rounded to f16"));
  EXPECT_THAT(error("matmul bf16*q8_0->f32 4x64x8 rhs=col lhs-as=q8_0"),
              ::testing::HasSubstr("an lhs of f32"));
  EXPECT_THAT(error("matmul f32*sfp8->f32 4x64x8 rhs=col lhs-as=q8_0"),
              ::testing::HasSubstr("an rhs of blocks of integers"));
  EXPECT_THAT(error("matmul f32*q8->f32 4x64x8 rhs=col"), ::testing::HasSubstr("an element type"));
}

}  // namespace
}  // namespace kirsch
