// SPDX-License-Identifier: Apache-2.0
// Headers of kernels that take an operand packed, compiled and used as users do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_replace.h"
#include "codegen/header/header_function.h"
#include "codegen/header/self_test.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "tests/testing/header_testing.h"
#include "tests/testing/targets.h"

namespace kirsch::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Copies straight, transposing, widening and in groups; with gaps; of lhs and rhs; of transposed requests.
const char* const kSpecs[] = {
    "matmul f32 17x33x61 const-rhs",
    "matmul f32 17x33x61 rhs=col ldb=70 const-rhs accumulate",
    "matmul f32 17x33x61 lhs=col const-lhs",
    "matmul bf16*bf16->f32 17x33x61 out=col ldb=70 const-rhs",
    "matmul u8*s8->s32 17x33x61 rhs=col const-rhs",
    "matmul s8*s8->s32 5x33x6 lda=50 const-lhs",
    "matmul f32 3:17x33x61 const-rhs",
    "matmul u8*s8->s32 4:9x33x30 rhs=col out=col const-lhs",
    "matmul bf16 2:5x33x6 ldb=9 const-rhs",
};

class PackedHeaderTest : public HeaderTest {
 protected:
  struct Made {
    LoopProgram program;
    std::string header;
  };

  Made Make(const std::string& text, int threads = 1, HeaderMode mode = HeaderMode::kAttributes) const {
    const ParsedSpec parsed = *ParseSpec(text);
    Spec root = PlaceOperands(parsed.spec, Residency::kWarm, target_);
    root.threads = static_cast<uint8_t>(threads);
    HashMemo memo;
    const LoopProgram program = Lower(Search(root, CostModel(target_), memo, {}).impl, target_, "kernel",
                                      {.tensors = parsed.parameters});
    HeaderOptions options = Options(parsed.spec);
    options.swapped = parsed.swapped;
    options.mode = mode;
    return {program, PrintHeader(program, target_, options)};
  }

  // The exit code of the self-test.
  int SelfTest(const std::string& header, const std::string& compiler, const std::string& flags = "") const {
    if (!Compile(compiler, Cat("-O1 -DKERNEL_SELF_TEST ", flags), Write("kernel.h", header), Path("test")))
      return -1;
    return WEXITSTATUS(std::system(Cat(Path("test"), " > /dev/null 2>&1").c_str()));
  }

  const std::string gcc_ = Cat("gcc ", kC);
};

INSTANTIATE_TEST_SUITE_P(Isa, PackedHeaderTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

TEST_P(PackedHeaderTest, SelfTestsPassWithEveryCompiler) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  // GCC 12 warns inside its own header where C++ code widens bf16.
  for (const std::string& compiler : Compilers())
    for (const char* text : {kSpecs[0], kSpecs[3]})
      EXPECT_EQ(SelfTest(Make(text).header, compiler, "-Wno-uninitialized"), 0) << text;
  const Made macros = Make(kSpecs[0], 1, HeaderMode::kMacros);
  EXPECT_EQ(SelfTest(macros.header, gcc_, Isa()), 0);
}

TEST_P(PackedHeaderTest, SelfTestsRunUnderSanitizersAndCanFail) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const std::string sanitizers = "-fsanitize=address,undefined -fno-sanitize-recover=all";
  for (const char* text : kSpecs) {
    const Made made = Make(text);
    ASSERT_TRUE(made.program.packing.has_value()) << text;
    EXPECT_EQ(SelfTest(made.header, gcc_, sanitizers), 0) << text;
    const std::string bytes = Cat("return ", made.program.packing->bytes, ";");
    const std::string fewer = Cat("return ", made.program.packing->bytes - 192, ";");
    ASSERT_THAT(made.header, HasSubstr(bytes));
    EXPECT_NE(SelfTest(absl::StrReplaceAll(made.header, {{bytes, fewer}}), gcc_, sanitizers), 0) << text;
  }
  const Made made = Make(kSpecs[0]);
  const std::string call = "  kernel_pack(rhs, packed);\n";
  ASSERT_THAT(made.header, HasSubstr(call));
  EXPECT_EQ(SelfTest(absl::StrReplaceAll(made.header, {{call, ""}}), gcc_, "-Wno-maybe-uninitialized"), 1);
}

TEST_P(PackedHeaderTest, EveryThreadTakesThePackedOperand) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const Made made = Make("matmul f32 256x300x256 const-rhs", 2);
  EXPECT_GT(made.program.tasks, 1);
  EXPECT_EQ(SelfTest(made.header, gcc_), 0);
  const Made batch = Make("matmul f32 5:100x100x256 const-rhs", 2);
  EXPECT_GT(batch.program.tasks, 1);
  EXPECT_EQ(SelfTest(batch.header, gcc_), 0);
}

// The operand itself is no more than a memory after it was packed.
TEST_P(PackedHeaderTest, IsUsedAsTheCommentSays) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const std::string user = R"(#include <stdlib.h>
#include <string.h>
#include "kernel.h"
int main(void) {
  static float lhs[17 * 33], rhs[33 * 61], out[17 * 61];
  void* packed = aligned_alloc(64, kernel_packed_bytes());
  for (int i = 0; i < 33 * 61; ++i) rhs[i] = (float)(i % 61);
  kernel_pack(rhs, packed);
  memset(rhs, 0xff, sizeof(rhs));
  for (int call = 1; call <= 2; ++call) {
    for (int i = 0; i < 17 * 33; ++i) lhs[i] = (float)call;
    kernel(lhs, packed, out);
    for (int i = 0; i < 17 * 61; ++i)
      if (out[i] != (float)(33 * call * (i % 61))) return 1;
  }
  free(packed);
  return 0;
}
)";
  for (HeaderMode mode : {HeaderMode::kAttributes, HeaderMode::kBare}) {
    const std::string header = Make(kSpecs[0], 1, mode).header;
    Write("kernel.h",
          mode == HeaderMode::kBare ? Cat("#include <immintrin.h>\n#include <stddef.h>\n", header) : header);
    for (const std::string& compiler : Compilers()) {
      ASSERT_TRUE(
          Compile(compiler, Cat("-O1 -D_ISOC11_SOURCE ", Isa()), Write("user.c", user), Path("user")));
      EXPECT_TRUE(Run(Path("user"))) << compiler;
    }
  }
}

TEST_P(PackedHeaderTest, ObjectsHaveBothFunctions) {
  const LoopProgram program = Make(kSpecs[0]).program;
  for (Abi abi : {Abi::kSystemV, Abi::kWin64})
    EXPECT_THAT(*EmitAssembly(program, target_, {abi}),
                AllOf(HasSubstr(".globl\tkernel\n"), HasSubstr(".globl\tkernel_pack\n")))
        << static_cast<int>(abi);
  const Spec plain = MakeSpec({17, 33, 61});
  EXPECT_THAT(*EmitAssembly(Lower(PackedImpl(plain), target_, "kernel"), target_),
              Not(HasSubstr("kernel_pack")));
}

TEST_P(PackedHeaderTest, TheCommentSaysWhenPackingPays) {
  const Spec spec = ParseSpec(kSpecs[0])->spec;
  const LoopProgram program = Make(kSpecs[0]).program;
  const auto comment = [&](double cycles, const PackingCost& cost) {
    HeaderOptions options = Options(spec);
    options.cycles = cycles;
    options.packing = cost;
    return PrintHeader(program, target_, options);
  };
  EXPECT_THAT(
      comment(900, {450, 1000}),
      HasSubstr(
          "// packing    450 cycles once, predicted; saves 100 of 1000 in every call: pays from 5 calls "
          "on\n"));
  EXPECT_THAT(comment(900, {100, 1000}), HasSubstr("saves 100 of 1000 in every call: pays from 1 call on\n"));
  EXPECT_THAT(comment(1000, {100, 1000}), HasSubstr("predicted; saves none in a call"));
  EXPECT_THAT(comment(1000, {}), Not(HasSubstr("predicted;")));
}

// Each variant packs in its own way, and what it packs is what it takes.
TEST_P(PackedHeaderTest, TheVariantThatRunsPacks) {
  const Target wide = Avx512DotTarget(), narrow = Avx2Target();
  if (!HostRuns(wide)) GTEST_SKIP() << "this host lacks " << MissingOnHost(wide.features);
  const SpecFamily family = *ParseFamily("matmul u8*s8->s32 1x99x70 const-rhs");
  HeaderFunction function = FunctionOf("one", family);
  for (const Target& target : {narrow, wide}) {
    HashMemo memo;
    const ProgramTree program =
        Search(PlaceOperands(function.members[0].spec, Residency::kWarm, target), CostModel(target), memo, {})
            .impl;
    function.variants.push_back({target,
                                 LowerMembers(Cat("one_", MakeIdentifier(target.name)), family, {&program},
                                              target, {.scratch = true}),
                                 0, 0, ""});
  }
  function.variants = BestFirst(std::move(function.variants));
  ASSERT_EQ(function.variants.size(), 2u);
  const int64_t wide_bytes = function.variants[0].programs[0].packing->bytes,
                narrow_bytes = function.variants[1].programs[0].packing->bytes;
  ASSERT_NE(wide_bytes, narrow_bytes);
  HeaderFile file;
  file.name = "kernel";
  file.functions = {function};
  const std::string header = PrintHeaderFile(file);
  EXPECT_THAT(header, HasSubstr("not for another machine"));
  EXPECT_EQ(SelfTest(header, gcc_), 0);
  const std::string call = Cat(function.variants[1].programs[0].name, "_pack(rhs, packed);");
  ASSERT_THAT(header, HasSubstr(call));
  EXPECT_EQ(SelfTest(absl::StrReplaceAll(header, {{call, ";"}}), gcc_, "-Wno-unused"), 1);

  const std::string user =
      "#include <stdio.h>\n#include \"kernel.h\"\nint main(void) {\n"
      "  one_choice = 1;\n  printf(\"%zu \", one_packed_bytes());\n"
      "  one_choice = 2;\n  printf(\"%zu\", one_packed_bytes());\n  return 0;\n}\n";
  Write("kernel.h", header);
  ASSERT_TRUE(Compile(gcc_, "-O1", Write("user.c", user), Path("user")));
  EXPECT_EQ(Output(Path("user")), Cat(wide_bytes, " ", narrow_bytes));
}

}  // namespace
}  // namespace kirsch::testing
