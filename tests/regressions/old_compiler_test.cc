// SPDX-License-Identifier: Apache-2.0
// Compilers that users have refused headers that the newest ones take: Clang 13 to 16 did not know all names
// of features in __builtin_cpu_supports.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/testing/header_corpus.h"

namespace kirsch::testing {
namespace {

// Each feature of a CPU, and each kind of header.
const std::vector<HeaderText> kHeaders = {
    {"haswell", "matmul f32*f16->f32 1x5x1..3 rhs=col"},
    {"haswell", "matmul bf16*q6_k->f32 2x256x18 rhs=col const-rhs"},
    {"haswell", kElementwise},
    {"sierraforest", "matmul u8*s8->s32 9x22x40"},
    {"skylake-avx512", "conv2d f32 1x8x12x12 filters=8 kernel=3x3 pad=1 layout=nhwc", "--allow-winograd"},
    {"znver4", "matmul f32*q4_k->f32 1x256x18 rhs=col lhs-as=q8_0"},
    {"znver4", "matmul bf16*bf16->f32 9x22x40"},
    {"znver5", "matmul u8*s8->u8 12x64x40 epilogue=add:n,f32,mul:n,add:3"},
    {"sapphirerapids", "matmul f16*f16->f32 9x22x40"},
    {"haswell,znver4", kTwoKernels, "--dispatch"},
};

using OldCompilerTest = HeaderCorpusTest;

TEST_F(OldCompilerTest, HeadersCompileAndRun) {
  const std::string batch = WriteBatch(kHeaders);
  int compilers = 0;
  for (const char* compiler : {"clang-14", "clang-16", "clang-19", "gcc-11", "gcc-12"}) {
    if (!HaveCommand(compiler)) continue;
    ++compilers;
    if (RunQuietly(Cat(compiler, " -std=c99 -O0 -Werror ", batch, " -o batch")))
      RunQuietly("./batch || test $? = 2");  // 2: not all kernels are for this CPU
  }
  if (compilers == 0) GTEST_SKIP() << "none of the compilers is installed";
}

// Older ones are refused, as they have no such vectors.
TEST_F(OldCompilerTest, HeadersOfSumsOfF16CompileAndRun) {
  const std::string batch = WriteBatch(
      {{"sapphirerapids", "matmul f16*f16+f16->f16 7x33x65 rhs=col accumulate epilogue=max:mn,sub:n"},
       {"sapphirerapids", "matmul f16*f16+f16->f16 30x40x50 epilogue=mul:n,add:-0.3,relu"}});
  int compilers = 0;
  for (const char* compiler : {"clang-16", "clang-19", "gcc-12"}) {
    if (!HaveCommand(compiler)) continue;
    ++compilers;
    if (RunQuietly(Cat(compiler, " -std=c99 -O1 -Werror ", batch, " -o batch")))
      RunQuietly("./batch || test $? = 2");
  }
  if (compilers == 0) GTEST_SKIP() << "none of the compilers is installed";
}

TEST_F(OldCompilerTest, TheFirstThatKnowsAnInstructionTakesIt) {
  const std::string batch = WriteBatch({{"sierraforest", "matmul s8*s8->s32 9x22x40 rhs=col"}});
  if (!HaveCommand("clang-16")) GTEST_SKIP() << "clang-16 is not installed";
  RunQuietly(Cat("clang-16 -std=c99 -O1 -Werror -c ", batch, " -o batch.o"));
}

}  // namespace
}  // namespace kirsch::testing
