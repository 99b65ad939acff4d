// SPDX-License-Identifier: Apache-2.0
// Self-tests of headers whose weights are of blocks: they pass for every type, and find wrong elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <utility>

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

  HeaderFunction Kernel(const std::string& name, const std::string& text) const {
    const absl::StatusOr<PlanResult> result = PlanOf(GraphOf(Cat("kernel ", name, text)), target_, 1);
    EXPECT_TRUE(result.ok()) << result.status();
    HeaderFunction function = HeaderOf(result->plan, target_).functions.front();
    function.name = name;
    function.variants.front().programs = {Lower(result->plan, target_, name)};
    function.samples = {MakeSamples(result->plan.graph, {})};
    return function;
  }

  // Families, constants, batches, gaps, epilogues; whatever may be rounded.
  static constexpr size_t kMatmuls = 5;
  HeaderFunction MatmulOf(const DtypeInfo& type, size_t number) const {
    const std::string rounded = HasIntegerCodes(type.dtype) ? "q8_0" : "bf16";
    const std::array<std::pair<std::string_view, std::string>, kMatmuls> all = {
        {{"some_rows", "1..3x512x9 rhs=col"},
         {"with_gaps", "2:3x256x5 rhs=col lda=300 ldb=512 ldc=7 accumulate"},
         {"by_bf16", "6x256x40 rhs=col lhs-as=bf16 epilogue=add:n,relu"},
         {"one_row", Cat("1x512x7 rhs=col lhs-as=", rounded)},
         {"constant", Cat("17x256x33 rhs=col const-rhs lhs-as=", rounded)}}};
    return Matmul(Cat(type.name, "_", all[number].first),
                  Cat("matmul f32*", type.name, "->f32 ", all[number].second));
  }
  // The same, and a graph.
  std::vector<HeaderFunction> FunctionsOf(const DtypeInfo& type) const {
    std::vector<HeaderFunction> functions;
    for (size_t number = 0; number < kMatmuls; ++number) functions.push_back(MatmulOf(type, number));
    const std::string w = Cat(type.name, "[40,256]"), rounded = HasIntegerCodes(type.dtype) ? "q8_0" : "bf16";
    functions.push_back(
        Kernel(Cat(type.name, "_kernel"), Cat("(x: f32[3,256], w: ", w, ", g: const ", w,
                                              "):\n return mul(silu(matmul(x, transpose(w), lhs_as=", rounded,
                                              ")), matmul(x, transpose(g)))")));
    return functions;
  }

  // What the self-test prints, and whether it passes.
  std::pair<std::string, bool> SelfTest(const std::string& header, const std::string& compiler) const {
    return RunSelfTest(header, "BLOCKS_SELF_TEST", compiler);
  }
};

INSTANTIATE_TEST_SUITE_P(Isa, BlockHeaderTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

// Compilers share out the types: none of them knows types of blocks from each other.
TEST_P(BlockHeaderTest, SelfTestsPass) {
  const std::vector<std::string> compilers = Compilers();
  const std::vector<DtypeInfo> types = BlockTypes();
  for (size_t i = 0; i < compilers.size(); ++i) {
    HeaderFile file{.name = "blocks", .version = "0.0"};
    for (size_t type = (i + (GetParam() ? 1 : 0)) % compilers.size(); type < types.size();
         type += compilers.size())
      for (HeaderFunction& function : FunctionsOf(types[type])) file.functions.push_back(std::move(function));
    if (file.functions.empty()) continue;
    const auto [text, passes] = SelfTest(PrintHeaderFile(file), compilers[i]);
    EXPECT_TRUE(passes) << text;
    for (const HeaderFunction& function : file.functions)
      EXPECT_THAT(text, HasSubstr(Cat(function.name, ": ok\n")));
  }
}

// The first element of each type's sample is expected to be another one. Each type is tried in one function,
// each function of two types or more. A graph's has expectations of its own.
TEST_P(BlockHeaderTest, SelfTestsRejectAnotherElement) {
  HeaderFile file{.name = "blocks", .version = "0.0"};
  for (const DtypeInfo& type : BlockTypes())
    file.functions.push_back(MatmulOf(type, file.functions.size() % kMatmuls));
  std::string header = PrintHeaderFile(file);
  for (const DtypeInfo& type : BlockTypes()) {
    const size_t table = header.find(Cat("blocks_elements_", type.name, "["));
    ASSERT_NE(table, std::string::npos) << type.name;
    const size_t begin = header.find("    {", table) + 5, end = header.find(',', begin);
    header.replace(begin, end - begin, Cat(std::atoi(header.substr(begin, end - begin).c_str()) + 1));
  }
  const auto [text, passes] = SelfTest(header, Compilers().front());
  EXPECT_FALSE(passes);
  for (const HeaderFunction& function : file.functions)
    EXPECT_THAT(text, HasSubstr(Cat(function.name, ": WRONG\n")));
}

}  // namespace
}  // namespace kirsch::testing
