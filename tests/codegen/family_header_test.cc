// SPDX-License-Identifier: Apache-2.0
// Headers of families, compiled as users do: every member is right through the dispatcher, sizes outside are
// refused, and the self-test that says so can fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "codegen/c/c_printer.h"
#include "codegen/header/header_function.h"
#include "codegen/verify/verify.h"
#include "memo/hash_memo.h"
#include "search/families/spec_regions.h"
#include "search/solver/search.h"
#include "spec/program/impl_program.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "tests/testing/header_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

class FamilyHeaderTest : public HeaderTest {
 protected:
  SpecFamily Family(const std::string& text) const { return *ParseFamily(text); }

  // What the search chooses.
  std::vector<LoopProgram> Searched(const SpecFamily& family) const {
    const CostModel model(target_);
    HashMemo memo;
    return Lowered(family, [&](const Spec& spec) {
      return Search(PlaceOperands(spec, Residency::kWarm, target_), model, memo, {}).impl;
    });
  }
  // All pack; those with an even M have two tasks, the others one.
  std::vector<LoopProgram> Mixed(const SpecFamily& family) const {
    return Lowered(family, [&](Spec spec) {
      if (spec.size[MatmulDims::kM] % 2 == 1) return PackedImpl(spec);
      spec.threads = 2;
      return ParallelImpl(spec);
    });
  }
  template <typename Make>
  std::vector<LoopProgram> Lowered(const SpecFamily& family, Make make) const {
    std::vector<ProgramTree> impls;
    for (int64_t i = 0; i < family.count(); ++i) impls.push_back(make(family.member(i).spec));
    MemberPrograms pointers;
    for (const ProgramTree& impl : impls) pointers.push_back(&impl);
    return LowerMembers(MakeIdentifier(family.text()), family, pointers, target_);
  }

  // Along the last row size first: the programs that members with the same other sizes share.
  std::vector<SharedProgram> Shared(const SpecFamily& family, int threads, size_t dim,
                                    std::vector<ProgramTree>* programs) const {
    const CostModel model(target_);
    HashMemo memo;
    std::vector<Spec> roots;
    std::vector<int64_t> members;
    const std::vector<VaryingSize> sizes = family.varying_sizes();
    const int64_t step = sizes.size() > 1 ? static_cast<int64_t>(sizes.back().values.size()) : 1;
    for (int64_t begin = 0; begin < step; ++begin)
      for (int64_t i = begin; i < family.count(); i += step) {
        roots.push_back(PlaceOperands(family.member(i).spec, Residency::kWarm, target_));
        roots.back().threads = static_cast<uint8_t>(threads);
        members.push_back(i);
      }
    const auto solve = [&](size_t i, Cost cutoff) -> absl::StatusOr<SolvedSize> {
      SearchOptions options;
      options.cutoff = cutoff;
      const SearchResult result = Search(roots[i], model, memo, options);
      return SolvedSize{result.impl, result.cost, result.bound};
    };
    const absl::StatusOr<SizeFamily> found = FindSpecRegions(roots, {dim}, model, solve);
    std::vector<SharedProgram> shared;
    programs->reserve(found->regions.size());
    for (const SpecRegion& region : found->regions) {
      programs->emplace_back(region.program);
      SharedProgram& added = shared.emplace_back();
      added.program = &programs->back();
      for (size_t i : region.members) added.members.push_back(members[i]);
      added.sizes.assign(SymbolicDims(region.program).size(), SizeSum(0));
    }
    return shared;
  }

  HeaderFunction Function(const SpecFamily& family, const std::vector<LoopProgram>& kernels) const {
    HeaderFunction function = FunctionOf(MakeIdentifier(family.text()), family);
    function.variants = {{target_, kernels, 0, 0, "regions that end in \\"}};
    return function;
  }

  std::string Print(const SpecFamily& family, const std::vector<LoopProgram>& kernels,
                    HeaderMode mode = HeaderMode::kAttributes, bool external = false) const {
    HeaderFunction function = Function(family, kernels);
    return PrintHeaderFile({function.name, mode, external, "", "0.0", {function}});
  }

  // Many families in one file, so that compilers run once.
  static std::string PrintAll(std::vector<HeaderFunction> functions) {
    return PrintHeaderFile({"families", HeaderMode::kAttributes, false, "", "0.0", std::move(functions)});
  }

  // Compiles the self-test of a header of that name and runs it.
  bool Passes(const std::string& name, const std::string& text, const std::string& compiler) const {
    const std::string macro = Cat("-D", absl::AsciiStrToUpper(name), "_SELF_TEST");
    if (!Compile(compiler, Cat("-O1 ", macro), Write("family.h", text), Path("self_test"))) return false;
    return std::system(Cat(Path("self_test"), " > ", Path("out")).c_str()) == 0;
  }
  bool Passes(const SpecFamily& family, const std::string& text, const std::string& compiler) const {
    return Passes(MakeIdentifier(family.text()), text, compiler);
  }
};

INSTANTIATE_TEST_SUITE_P(Isa, FamilyHeaderTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

TEST_P(FamilyHeaderTest, EveryMemberIsRightWithEveryCompiler) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  std::vector<HeaderFunction> functions;
  for (const char* text :
       {"matmul f32 1..17x9x20", "matmul f32 1..3:1..4x7x5 out=col",
        "matmul f32 2..3x5x1..34 rhs=col accumulate", "matmul f32 1..5x1..6x1..3 lhs=col lda=8 ldc=9"})
    functions.push_back(Function(Family(text), Searched(Family(text))));
  // A kernel of one task run by each of three threads would add three times.
  const SpecFamily mixed = Family("matmul f32 2..9x23x70..71 accumulate");
  functions.push_back(Function(mixed, Mixed(mixed)));
  const std::string header = PrintAll(std::move(functions));
  const std::vector<std::string> compilers = Compilers();
  const size_t first = GetParam() ? 1 : 0;
  for (size_t each : {first, 3 - first})  // a C and a C++ compiler, of GCC and Clang
    EXPECT_TRUE(Passes("families", header, compilers[each % compilers.size()]));
}

// Members that differ in their rows share programs: every number of rows, whatever remains of tiles, by the
// header and, between guard pages, by interpreter and JIT. Headers of every other family are compiled for
// AVX2, the others for AVX-512.
TEST_P(FamilyHeaderTest, SharedProgramsAreRightForEverySize) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  constexpr size_t kM = MatmulDims::kM, kN = MatmulDims::kN, kK = MatmulDims::kK;
  const std::tuple<const char*, int, size_t> families[] = {
      {"matmul f32 1..60x32x40", 1, kM},
      {"matmul bf16*bf16->f32 1..45x35x33", 1, kM},
      {"matmul f32 2..50x20x36 rhs=col accumulate", 1, kM},
      {"matmul f32 20x31x1..48 rhs=col out=col epilogue=add:n,relu", 1, kM},
      {"matmul f32 1..40x12x30..31 lhs=col lda=64 ldc=40", 1, kM},
      {"matmul u8*s8->s32 5..44x40x33 column-blocks=16", 1, kM},
      {"matmul f32 1..40x33x70", 2, kM},
      {"matmul f32 20x32x2..90", 1, kN},
      {"matmul f32 40x32x2..70 ldb=80 epilogue=add:n,gelu", 1, kN},
      {"matmul s32 33x35x2..80 accumulate", 1, kN},
      {"matmul u8*s8->s32 12x40x2..50 rhs=col ldc=50", 1, kN},
      {"matmul f32 2..70x33x40 out=col", 1, kN},
      {"matmul f32 20x2..90x48", 1, kK},
      {"matmul f32 9x2..80x21 rhs=col epilogue=add:n,relu", 1, kK},
      {"matmul f32 12x2..60x40 lhs=col out=col ldb=70", 1, kK},
      {"matmul bf16*bf16->f32 20x2..75x33 accumulate", 1, kK},
      {"matmul u8*s8->s32 12x3..70x40", 1, kK},
      {"matmul f32 40x2..50x70", 2, kK}};
  std::vector<HeaderFunction> compiled;
  bool is_compiled = GetParam();
  for (const auto& [text, threads, dim] : families) {
    is_compiled = !is_compiled;
    const SpecFamily family = Family(text);
    HeaderFunction function = FunctionOf(MakeIdentifier(text), family);
    HeaderVariant variant{target_, {}, 0, 0, ""};
    std::vector<ProgramTree> programs;
    std::vector<SharedProgram> shared = Shared(family, threads, dim, &programs);
    ASSERT_LT(shared.size(), static_cast<size_t>(family.count())) << text;
    LowerShared(function.name, family, shared, {}, &variant);
    function.variants = {variant};
    if (is_compiled) compiled.push_back(std::move(function));
    for (const SharedProgram& one : shared) {
      std::vector<Spec> roots;
      for (int64_t member : one.members) roots.push_back(family.member(member).spec);
      VerifyOptions options;
      options.header = false;
      for (const VerifyReport& report :
           VerifySizes(std::get<Impl>(*one.program), roots, target_, "rows", options))
        EXPECT_TRUE(report.ok) << text << ": " << report.first_mismatch;
    }
  }
  EXPECT_TRUE(Passes("families", PrintAll(std::move(compiled)), Cat("gcc ", kC)));
}

// As the self-test finds out.
TEST_P(FamilyHeaderTest, MembersMayDifferInTasks) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const SpecFamily family = Family("matmul f32 2..9x23x70..71 accumulate");
  const std::string header = Print(family, Mixed(family));
  EXPECT_THAT(header, HasSubstr("if (thread == 0) "));
  const std::string wrong = absl::StrReplaceAll(header, {{"if (thread == 0) ", ""}});
  EXPECT_FALSE(Passes(family, wrong, Cat("gcc ", kC)));
}

TEST_P(FamilyHeaderTest, ScratchIsTheMostOfAnyMember) {
  const SpecFamily family = Family("matmul f32 3x8..40x40");
  const std::vector<LoopProgram> kernels = Mixed(family);
  int64_t most = 0;
  for (const LoopProgram& kernel : kernels) most = std::max(most, kernel.scratch_bytes);
  ASSERT_GT(most, kernels.front().scratch_bytes);
  const std::string header = Print(family, kernels);
  EXPECT_THAT(header, HasSubstr(Cat("_scratch_bytes(void) {\n  return ", most, ";")));
  EXPECT_EQ(Count(header, "_scratch_bytes(void)"), 1);
}

TEST_P(FamilyHeaderTest, TheSelfTestCanFail) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const SpecFamily family = Family("matmul f32 2..4x5x6..7");
  const std::string header = Print(family, Searched(family)), gcc = Cat("gcc ", kC);
  ASSERT_TRUE(Passes(family, header, gcc));
  const std::string call = "_m3_n7(lhs, rhs, out);";
  ASSERT_THAT(header, HasSubstr(call));
  const std::pair<std::string, std::string> mistakes[] = {
      {call, "_m3_n6(lhs, rhs, out);"},  // the wrong kernel
      {"case 3:", "case 9:"},            // a member refused
      {"case 4:", "case 5: case 4:"},    // sizes outside taken (without a look at the operands)
  };
  for (const auto& [right, wrong] : mistakes)
    EXPECT_FALSE(Passes(family, absl::StrReplaceAll(header, {{right, wrong}}), gcc)) << wrong;
}

TEST_P(FamilyHeaderTest, EveryModeCompilesUnused) {
  const SpecFamily first = Family("matmul f32 8..9x23x33..34"), second = Family("matmul f32 8..9x23x35");
  const SpecFamily third = Family("matmul f32 8..9x23x36");
  Write("attributes.h", Print(first, Mixed(first)));
  Write("macros.h", Print(second, Mixed(second), HeaderMode::kMacros));
  const std::string bare = Print(third, Mixed(third), HeaderMode::kBare);
  // Nothing but what refuses other architectures and -ffast-math.
  for (const char* directive : {"#include", "#define", "#pragma", "#ifdef", "#ifndef"})
    EXPECT_THAT(bare, Not(HasSubstr(directive)));
  Write("bare.h", bare);
  const std::string each = "#include \"attributes.h\"\n#include \"macros.h\"\n";
  const std::string user = Write("user.c", Cat(each, each, "int unused;\n"));
  const std::string external = Write("family.c", Print(first, Mixed(first), HeaderMode::kAttributes, true));
  for (const std::string& compiler : Compilers()) {
    const bool cpp = compiler.find("++") != std::string::npos;
    const std::string with_bare =
        Write("bare.c", Cat("#include <immintrin.h>\n#include <stddef.h>\n", cpp ? "namespace N_AVX {\n" : "",
                            "#include \"bare.h\"\n", cpp ? "}\n" : "", each, "int unused;\n"));
    EXPECT_TRUE(Compile(compiler, "-c", user, Path("user.o")));
    EXPECT_TRUE(Compile(compiler, "-c " + Isa(), with_bare, Path("user.o")));
    EXPECT_TRUE(Compile(compiler, "-c", external, Path("family.o")));
  }
}

TEST_P(FamilyHeaderTest, EqualProceduresArePrintedOnce) {
  const SpecFamily family = Family("matmul f32 28..30x16x64");
  const std::vector<LoopProgram> kernels = Searched(family);
  const std::string header = Print(family, kernels);
  size_t procedures = 0;
  for (const LoopProgram& kernel : kernels) {
    procedures += kernel.procedures.size();
    for (size_t i = 1; i < kernel.procedures.size(); ++i)
      EXPECT_EQ(
          Count(header, Cat("void matmul_f32_28to30x16x64_", kernel.procedures[i].name, "(const float* ")),
          1);
  }
  EXPECT_LT(static_cast<size_t>(Count(header, "static KIRSCH_NOINLINE")), procedures);
}

TEST_P(FamilyHeaderTest, ProceduresOfOneNameMayDiffer) {
  const SpecFamily family = Family("matmul f32 1..2x8x8");
  std::vector<LoopProgram> kernels = Searched(family);
  ASSERT_GE(kernels[0].procedures.size(), 2u);
  kernels[1] = kernels[0];
  kernels[1].name = "other";
  Procedure& changed = kernels[1].procedures[1];
  changed.body.push_back(changed.body.back());
  const CKernel both[] = {{&kernels[0]}, {&kernels[1]}};
  const std::string text = PrintC(both, {"static ", "static ", "shared", {}, "", false});
  const std::string name = Cat("shared_", changed.name);
  EXPECT_EQ(Count(text, Cat("void ", name, "(")), 1);
  EXPECT_EQ(Count(text, Cat("void ", name, "_2(")), 1);
  EXPECT_THAT(text.substr(text.find("void other(")), HasSubstr(Cat(name, "_2(")));
  // Kernels of users may be called so.
  const std::string beside = PrintC(both, {"static ", "static ", "shared", {Cat(name, "_2")}, "", false});
  EXPECT_EQ(Count(beside, Cat("void ", name, "_2(")), 0);
  EXPECT_THAT(beside.substr(beside.find("void other(")), HasSubstr(Cat(name, "_3(")));
}

}  // namespace
}  // namespace kirsch::testing
