// SPDX-License-Identifier: Apache-2.0
// Headers of several functions and of several targets, compiled as users do: every variant that this CPU can
// run is checked, the first of them is chosen, and the self-test that says so can fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_replace.h"
#include "codegen/c/c_printer.h"
#include "codegen/header/header_function.h"
#include "codegen/header/self_test.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "tests/testing/header_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Target Named(const std::string& name, bool avx512, const std::vector<std::string>& more = {}) {
  Target target = TestTarget(avx512);
  target.name = name;
  target.features.insert(target.features.end(), more.begin(), more.end());
  return target;
}

HeaderFunction Function(const std::string& name, const std::string& text,
                        const std::vector<Target>& targets) {
  const SpecFamily family = *ParseFamily(text);
  HeaderFunction function = FunctionOf(name, family);
  for (const Target& target : targets) {
    const CostModel model(target);
    HashMemo memo;
    std::vector<ProgramTree> impls;
    for (const HeaderMember& member : function.members)
      impls.push_back(Search(PlaceOperands(member.spec, Residency::kWarm, target), model, memo, {}).impl);
    MemberPrograms pointers;
    for (const ProgramTree& impl : impls) pointers.push_back(&impl);
    const std::string entry = targets.size() > 1 ? Cat(name, "_", MakeIdentifier(target.name)) : name;
    function.variants.push_back({target, LowerMembers(entry, family, pointers, target), 0, 0, ""});
  }
  function.variants = BestFirst(std::move(function.variants));
  return function;
}

// One of each: a size, a family, a transposed request that packs.
HeaderFile ThreeFunctions(const std::vector<Target>& targets) {
  HeaderFile file;
  file.name = "ops";
  file.version = "0.0";
  file.functions = {Function("one", "matmul f32 17x9x35", targets),
                    Function("few", "matmul f32 1..2x20x33..34 accumulate", targets),
                    Function("two", "matmul f32 21x40x50 lhs=col out=col", targets)};
  return file;
}

TEST(OldCompilers, AreToldWhatTheyLack) {
  HeaderFile file;
  file.name = "ops";
  file.version = "0.0";
  file.functions = {
      Function("one", "matmul s8*s8->s32 4x64x8", {Named("new", false, {"avxvnni", "avxvnniint8"})})};
  EXPECT_THAT(PrintHeaderFile(file),
              AllOf(HasSubstr("_dpbssd_epi32("), HasSubstr("__builtin_cpu_supports(\"avxvnniint8\")"),
                    HasSubstr("avxvnniint8 needs GCC 13 or Clang 16, or a later one")));
  file.functions = {Function("one", "matmul u8*s8->s32 4x64x8", {Named("new", false, {"avxvnni"})})};
  EXPECT_THAT(PrintHeaderFile(file), Not(HasSubstr("needs GCC")));
}

class LibraryHeaderTest : public HeaderTest {
 protected:
  // The exit code of the self-test and what it prints.
  std::pair<int, std::string> SelfTestOf(const std::string& text, const std::string& compiler,
                                         const std::string& flags = "") const {
    const std::string all_flags = Cat("-O1 -D", SelfTestMacro("ops"), " ", flags);
    if (!Compile(compiler, all_flags, Write("ops.h", text), Path("self_test"))) return {-1, ""};
    const int status = std::system(Cat(Path("self_test"), " > ", Path("out")).c_str());
    std::ifstream stream(Path("out"));
    return {WEXITSTATUS(status), std::string(std::istreambuf_iterator<char>(stream), {})};
  }

  const std::string gcc_ = Cat("gcc ", kC);
};

INSTANTIATE_TEST_SUITE_P(Host, LibraryHeaderTest, ::testing::Values(true), [](const auto&) { return "All"; });

std::vector<std::string> NamesOf(const std::vector<HeaderVariant>& variants) {
  std::vector<std::string> names;
  for (const HeaderVariant& variant : variants) names.push_back(variant.target.name);
  return names;
}

HeaderVariant Variant(const Target& target, const std::vector<std::string>& features) {
  LoopProgram program;
  program.features = features;
  return {target, {program}, 0, 0, ""};
}

TEST(BestFirst, ByWidthThenFeaturesThenAsGiven) {
  const HeaderVariant old = Variant(Named("old", false), {"avx2", "fma"}),
                      vnni = Variant(Named("vnni", false), {"avx2", "fma", "avxvnni"}),
                      wide = Variant(Named("wide", true), {"avx512f"}),
                      wide2 = Variant(Named("wide2", true), {"avx512f"}),
                      bf16 = Variant(Named("bf16", true), {"avx512f", "avx512bf16"});
  EXPECT_THAT(NamesOf(BestFirst({old, vnni, wide, bf16})), ElementsAre("bf16", "wide", "vnni", "old"));
  EXPECT_THAT(NamesOf(BestFirst({wide, wide2, old})), ElementsAre("wide", "old"));
  EXPECT_THAT(NamesOf(BestFirst({wide2, wide})), ElementsAre("wide2"));
  // Wherever the old one would run, the first has run already.
  const HeaderVariant narrow = Variant(Named("narrow", true), {"avx2"});
  EXPECT_THAT(NamesOf(BestFirst({old, narrow})), ElementsAre("narrow"));
}

// Functions are compared within bounds: a wrong number in one is seen, and so are wrong operands.
TEST_P(LibraryHeaderTest, SelfTestsOfFunctionsCanFail) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  HeaderFile file;
  file.name = "ops";
  file.version = "0.0";
  const std::vector<Target> targets = {target_};
  file.functions = {
      Function("half", "matmul f32 7x5x19 epilogue=mul:0.3,gelu,add:n", targets),
      Function("curve", "matmul f32 1..2x5x19 epilogue=mul:0.3,gelu_tanh,silu,leaky_relu:m", targets),
      Function("all", "matmul u8*s8->f32 7x5x19 epilogue=f32,mul:0.1,exp,tanh,erf,sigmoid", targets),
      Function("later", "matmul f32 7x5x19 epilogue=elu:0.3,mul:0.3,softplus,sub:n,hardswish", targets),
      Function("narrow", "matmul u8*s8->s8 7x5x19 epilogue=f32,mul:0.3,gelu,mul:20", targets),
      Function("brief", "matmul bf16 7x5x19 epilogue=silu", targets)};
  const std::string text = PrintHeaderFile(file);
  for (const std::string& compiler : Compilers()) EXPECT_EQ(SelfTestOf(text, compiler).first, 0) << compiler;
  // Two coefficients of gelu, those of gelu_tanh, one of exp and one of erf.
  for (const auto& [number, wrong] :
       {std::pair("(int)0x3f997a0e", "(int)0x3f9b7a0e"), std::pair("(int)0x3e3ac30d", "(int)0x3e5ac30d"),
        std::pair("(int)0x3fcc422a", "(int)0x3fce422a"), std::pair("(int)0x3d922279", "(int)0x3da22279"),
        std::pair("(int)0x3e2aaa46", "(int)0x3e0aaa46"), std::pair("(int)0x3de716b2", "(int)0x3dc716b2")}) {
    ASSERT_THAT(text, HasSubstr(number));
    const auto [code, out] = SelfTestOf(absl::StrReplaceAll(text, {{number, wrong}}), gcc_);
    EXPECT_EQ(code, 1) << number;
    EXPECT_THAT(out, HasSubstr("WRONG")) << number;
  }
}

TEST_P(LibraryHeaderTest, EveryVariantIsRightWithEveryCompiler) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const std::string text = PrintHeaderFile(ThreeFunctions({Named("old", false), Named("new-1", true)}));
  for (const std::string& compiler : Compilers()) {
    const auto [code, out] = SelfTestOf(text, compiler);
    EXPECT_EQ(code, 0) << compiler;
    EXPECT_EQ(out,
              "one for new-1: ok\none for old: ok\nfew for new-1: ok\nfew for old: ok\n"
              "two for new-1: ok\ntwo for old: ok\n");
  }
}

TEST_P(LibraryHeaderTest, TheSelfTestRejectsAWrongVariant) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const std::string text = PrintHeaderFile(ThreeFunctions({Named("old", false), Named("new-1", true)}));
  // The one chosen, one that is not, and a size of a family.
  for (const char* call :
       {"one_new_1(lhs, rhs, out);", "one_old(lhs, rhs, out);", "few_old_m2_n33(lhs, rhs, out);"}) {
    ASSERT_THAT(text, HasSubstr(call));
    EXPECT_EQ(SelfTestOf(absl::StrReplaceAll(text, {{call, "(void)0;"}}), gcc_, "-Wno-unused").first, 1)
        << call;
  }
}

TEST_P(LibraryHeaderTest, TheBestThatTheCpuRunsIsChosen) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  HeaderFile file = ThreeFunctions({Named("old", false), Named("new", true)});
  file.functions.resize(1);
  const std::string text = PrintHeaderFile(file);
  const std::string user =
      Cat("#include \"ops.h\"\n#include <stdio.h>\n"
          "int main(void) {\n"
          "  const int supported = one_supported();\n"
          "  printf(\"%d %d %d\", supported, one_choose(), one_choice);\n"
          "  return 0;\n}\n");
  const std::string avx512 = "__builtin_cpu_supports(\"avx512f\")", fma = "__builtin_cpu_supports(\"fma\")";
  const std::pair<std::string, std::string> cases[] = {
      {text, "1 1 1"},
      {absl::StrReplaceAll(text, {{avx512, "0"}}), "1 2 2"},
      {absl::StrReplaceAll(text, {{avx512, "0"}, {fma, "0"}}), "0 3 3"},
  };
  for (const auto& [header, expected] : cases) {
    Write("ops.h", header);
    ASSERT_TRUE(Compile(gcc_, "-O1", Write("user.c", user), Path("user")));
    EXPECT_EQ(Output(Path("user")), expected);
  }
  const auto [code, out] = SelfTestOf(cases[1].first, gcc_);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(out, "one for new: this CPU lacks avx2 or fma or avx512f or avx512vl\none for old: ok\n");
  EXPECT_EQ(SelfTestOf(cases[2].first, gcc_).first, 2);
}

TEST_P(LibraryHeaderTest, FunctionsShareProcedures) {
  HeaderFile file;
  file.name = "ops";
  file.functions = {Function("a", "matmul f32 14x16x32", {target_}),
                    Function("b", "matmul f32 28x16x32", {target_})};
  const std::string text = PrintHeaderFile(file);
  const std::string helper =
      Cat("void ops_", file.functions[0].variants[0].programs[0].procedures[1].name, "(");
  ASSERT_THAT(text, HasSubstr(helper));
  EXPECT_EQ(text.find(helper), text.rfind(helper));
  // The same code for other instructions is another function.
  std::vector<LoopProgram> programs(2, file.functions[0].variants[0].programs[0]);
  programs[1].name = "other";
  programs[1].features.push_back("avx512bw");
  const CKernel both[] = {{&programs[0]}, {&programs[1]}};
  EXPECT_THAT(PrintC(both, {"static ", "static ", "ops", {}, "", true}),
              AllOf(HasSubstr(helper), HasSubstr(absl::StrReplaceAll(helper, {{"(", "_2("}}))));
}

TEST_P(LibraryHeaderTest, NamespacesKeepNamesApart) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  HeaderFile file = ThreeFunctions({target_});
  file.functions.resize(1);
  file.name_space = "lib::first";
  Write("first.h", PrintHeaderFile(file));
  file.name_space = "lib::second";
  const std::string second = PrintHeaderFile(file);
  Write("second.h", second);
  const std::string user =
      "#include \"first.h\"\n#include \"second.h\"\n#include \"first.h\"\n"
      "void (*f)(const float*, const float*, float*) = lib::first::one;\n"
      "void (*g)(const float*, const float*, float*) = lib::second::one;\n"
      "#ifdef KIRSCH_TARGET\n#error it leaks\n#endif\n"
      "int main() { return lib::first::one_supported() && f != g ? 0 : 1; }\n";
  for (const std::string& compiler : Compilers()) {
    EXPECT_EQ(SelfTestOf(second, compiler).first, 0);
    if (compiler.find("c++") == std::string::npos) continue;
    EXPECT_TRUE(Compile(compiler, "-O1", Write("user.cc", user), Path("user")));
    EXPECT_TRUE(Run(Path("user")));
  }
}

TEST_P(LibraryHeaderTest, CFilesHaveExternalFunctions) {
  HeaderFile file = ThreeFunctions({Named("old", false), Named("new", true)});
  file.external = true;
  Write("ops.c", PrintHeaderFile(file));
  const std::string user =
      "int one_supported(void);\nvoid one(const float*, const float*, float*);\n"
      "int main(void) { return one && one_supported() >= 0 ? 0 : 1; }\n";
  ASSERT_TRUE(Compile(gcc_, "-c", Path("ops.c"), Path("ops.o")));
  ASSERT_TRUE(Compile("gcc -std=c99 -Wno-address", Path("ops.o"), Write("user.c", user), Path("user")));
  EXPECT_TRUE(Run(Path("user")));
}

}  // namespace
}  // namespace kirsch::testing
