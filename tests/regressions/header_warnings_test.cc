// SPDX-License-Identifier: Apache-2.0
// Headers that compilers warned of, where users ask for more warnings than -Wall.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/testing/header_corpus.h"

namespace kirsch::testing {
namespace {

const std::vector<HeaderText> kHeaders = {
    // Those that were reported: unused parameters and variables.
    {"haswell", "matmul f32*f16->f32 1x5x1..3 rhs=col"},
    {"haswell,znver4", "matmul f32 1..2x16x1..2", "--threads 2"},
    {"haswell", "conv2d f32 1x1x3x5 filters=4 kernel=1x1 pad=1 layout=nhwc"},
    {"haswell", "conv2d f32 1x3x17x23 filters=5 kernel=2x2 stride=5"},
    // Others of every kind.
    {"haswell", "matmul f32 9x13x21"},
    {"haswell", "matmul f32 9x70x21 lhs=col rhs=col"},
    {"znver4", "matmul f32 33x40x70 out=col accumulate"},
    {"haswell", "matmul f32 3:20x30x40 fixed-order", "--threads 2"},
    {"haswell", "matmul f32 16x64x256 column-blocks=64 const-rhs"},
    {"znver4", "matmul f32 1..70x64x96 const-rhs mixture=1:0.7,70:0.3"},
    {"haswell", "matmul f32 5..40x64x96 epilogue=add:n,gelu,add:mn"},
    {"znver4", "matmul f32 8x64x64", "--uniform --threads 2"},
    {"haswell", "matmul f32 1x9x1..5", "--uniform --threads 3"},
    {"haswell", "matmul f32*q4_0->f32 3x64x17 rhs=col"},
    {"znver4", "matmul f32*q4_k->f32 1x256x18 rhs=col lhs-as=q8_0"},
    {"haswell", "matmul bf16*q6_k->f32 2x256x18 rhs=col const-rhs"},
    {"znver4", "matmul f32*mxfp4->f32 2x64x18 rhs=col lhs-as=bf16 const-rhs"},
    {"haswell", "matmul f32*sfp8->f32 2x64x18 rhs=col"},
    {"znver4", "matmul bf16*bf16->f32 9x22x40"},
    {"haswell", "matmul bf16 9x22x40 accumulate"},
    {"sapphirerapids", "matmul f16*f16->f32 9x22x40"},
    {"sierraforest", "matmul u8*s8->s32 9x22x40"},
    {"znver4", "matmul u8*s8->u8 12x64x40 epilogue=add:n,f32,mul:n,add:3"},
    {"haswell", "matmul u8*s8->s16 12x64x40"},
    {"haswell", "matmul s32 7x9x11"},
    {"znver4", "matmul f32*f8_e4m3->f32 5x33x40"},
    {"haswell", "matmul f32*f8_e5m2->f32 5x33x40"},
    {"znver4", "conv2d f32 1x8x12x12 filters=8 kernel=3x3 pad=1 layout=nhwc", "--allow-winograd"},
    {"znver4", "conv2d f32 1x8x9x9 filters=8 kernel=3x3 pad=1 groups=8 layout=nhwc"},
    {"haswell", "softmax f32 5x9"},
    {"haswell", "attention f32 heads=2 tokens=12 dim=16"},
    {"znver4", "attention f32 heads=2 tokens=1..16 dim=16", "--threads 2"},
    {"haswell", "layernorm f32 7x37"},
    {"znver4", "rmsnorm f32 7x37"},
    {"haswell", "reduce sum f32 17x33 axis=0"},
    {"znver4", "reduce max f32 17x33 axis=1"},
    {"haswell", "transpose f32 19x45"},
    {"haswell,znver4", kMlp, "--threads 2"},
    {"haswell", kTokens},
    {"haswell", "kernel fn[t = 1..9](x: f32[t,48], w: f32[48,48]):\n return add(x, matmul(x, w))"},
    {"haswell", "conv2d f32 1x8x9x9 filters=8 kernel=3x3 pad=1 groups=2 layout=nhwc"},
    {"znver4", "conv2d f32 1x32x9x9 filters=32 kernel=3x3 pad=1 groups=4 layout=nhwc"},
    {"haswell", kElementwise},
    {"znver4", kIntegers},
    {"haswell,znver4", kTwoKernels, "--dispatch"},
};

// What docs/headers.md promises.
constexpr char kWarnings[] =
    "-Wall -Wextra -Wpedantic -Wcast-align -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wundef "
    "-Werror";

using HeaderWarningsTest = HeaderCorpusTest;

TEST_F(HeaderWarningsTest, ThereAreNone) {
  const std::string batch = WriteBatch(kHeaders);
  if (!HaveCommand("gcc") && !HaveCommand("clang-19")) GTEST_SKIP() << "no compiler";
  if (HaveCommand("gcc")) {
    RunQuietly(Cat("gcc -std=c99 -O1 ", kWarnings, " -c ", batch, " -o batch.o"));
    RunQuietly(Cat("gcc -std=c99 -fsyntax-only -Wcast-align=strict ", kWarnings, " ", batch));
    RunQuietly(Cat("gcc -std=c++17 -x c++ -fsyntax-only ", kWarnings, " ", batch));
  }
  if (HaveCommand("clang-19")) {
    RunQuietly(Cat("clang-19 -std=c99 -fsyntax-only ", kWarnings, " ", batch));
    RunQuietly(Cat("clang-19 -std=c++17 -x c++ -fsyntax-only ", kWarnings, " ", batch));
  }
}

}  // namespace
}  // namespace kirsch::testing
