// SPDX-License-Identifier: Apache-2.0
// Self-tests of headers whose weights are of blocks: they pass for every type, and find wrong elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/header/header_function.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/language/family.h"
#include "spec/text/cat.h"
#include "tests/testing/header_testing.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/targets.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;

std::vector<DtypeInfo> BlockTypes() {
  std::vector<DtypeInfo> types;
  for (const DtypeInfo& info : kDtypes)
    if (IsOfBlocks(info.dtype) && IsOfCallers(info.dtype)) types.push_back(info);
  return types;
}

class BlockHeaderTest : public HeaderTest {
 protected:
  const Target target_ = GetParam() ? Avx512DotTarget() : Avx2Target();

  void SetUp() override {
    if (const std::string missing = MissingOnHost(target_.features); !missing.empty())
      GTEST_SKIP() << "the host lacks " << missing;
  }

  // The family's programs, as the search chooses them.
  HeaderFunction Matmul(const std::string& name, const std::string& text) const {
    const absl::StatusOr<SpecFamily> family = ParseFamily(text);
    EXPECT_TRUE(family.ok()) << family.status();
    const CostModel model(target_);
    HashMemo memo;
    std::vector<ProgramTree> impls;
    MemberPrograms pointers;
    for (int64_t i = 0; i < family->count(); ++i)
      impls.push_back(
          Search(PlaceOperands(family->member(i).spec, Residency::kWarm, target_), model, memo, {}).impl);
    for (const ProgramTree& impl : impls) pointers.push_back(&impl);
    HeaderFunction function = FunctionOf(name, *family);
    function.variants = {{target_, LowerMembers(name, *family, pointers, target_)}};
    return function;
  }

  HeaderFunction Kernel(const std::string& text) const {
    const absl::StatusOr<PlanResult> result = PlanOf(GraphOf(text), target_, 1);
    EXPECT_TRUE(result.ok()) << result.status();
    HeaderFunction function = HeaderOf(result->plan, target_).functions.front();
    function.samples = {MakeSamples(result->plan.graph, {})};
    return function;
  }

  // Families, constants, batches, gaps, epilogues, graphs; whatever may be rounded.
  HeaderFile FileOf(const DtypeInfo& type) const {
    const std::string matmul = Cat("matmul f32*", type.name, "->f32 "), w = Cat(type.name, "[40,256]");
    const bool integers = HasIntegerCodes(type.dtype);
    const std::string rounded = integers ? "q8_0" : "bf16";
    HeaderFile file{.name = "blocks", .version = "0.0"};
    file.functions = {
        Matmul("some_rows", Cat(matmul, "1..3x512x9 rhs=col")),
        Matmul("with_gaps", Cat(matmul, "2:3x256x5 rhs=col lda=300 ldb=512 ldc=7 accumulate")),
        Matmul("by_bf16", Cat(matmul, "6x256x40 rhs=col lhs-as=bf16 epilogue=add:n,relu")),
        Matmul("one_row", Cat(matmul, "1x512x7 rhs=col lhs-as=", rounded)),
        Matmul("constant", Cat(matmul, "17x256x33 rhs=col const-rhs lhs-as=", rounded)),
        Kernel(Cat("kernel kernel(x: f32[3,256], w: ", w, ", g: const ", w, "):\n return mul(silu(matmul(x, ",
                   "transpose(w), lhs_as=", rounded, ")), matmul(x, transpose(g)))")),
    };
    return file;
  }

  // What the self-test prints, and whether it passes.
  std::pair<std::string, bool> SelfTest(const std::string& header, const std::string& compiler) const {
    return RunSelfTest(header, "BLOCKS_SELF_TEST", compiler);
  }
};

INSTANTIATE_TEST_SUITE_P(Isa, BlockHeaderTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

// Compilers take turns: none of them knows types of blocks from each other.
TEST_P(BlockHeaderTest, SelfTestsPass) {
  const std::vector<std::string> compilers = Compilers();
  size_t number = GetParam() ? 1 : 0;
  for (const DtypeInfo& type : BlockTypes()) {
    const HeaderFile file = FileOf(type);
    const std::string header = PrintHeaderFile(file);
    const auto [text, passes] = SelfTest(header, compilers[number++ % compilers.size()]);
    EXPECT_TRUE(passes) << type.name << "\n" << text;
    for (const HeaderFunction& function : file.functions)
      EXPECT_THAT(text, HasSubstr(Cat(function.name, ": ok\n"))) << type.name;
  }
}

// The first element of a sample is expected to be another one. Each type is tried in one function, each
// function of two types or more.
TEST_P(BlockHeaderTest, SelfTestsRejectAnotherElement) {
  size_t number = 0;
  for (const DtypeInfo& type : BlockTypes()) {
    HeaderFile file = FileOf(type);
    file.functions.pop_back();  // a graph's has expectations of its own
    file.functions = {file.functions[number++ % file.functions.size()]};
    std::string header = PrintHeaderFile(file);
    const size_t table = header.find(Cat("blocks_elements_", type.name, "["));
    const size_t begin = header.find("    {", table) + 5, end = header.find(',', begin);
    header.replace(begin, end - begin, Cat(std::atoi(header.substr(begin, end - begin).c_str()) + 1));
    const auto [text, passes] = SelfTest(header, Compilers().front());
    EXPECT_FALSE(passes);
    for (const HeaderFunction& function : file.functions)
      EXPECT_THAT(text, HasSubstr(Cat(function.name, ": WRONG\n"))) << type.name;
  }
}

}  // namespace
}  // namespace kirsch::testing
