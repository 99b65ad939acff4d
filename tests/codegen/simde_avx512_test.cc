// SPDX-License-Identifier: Apache-2.0
// AVX-512 headers where there may be no AVX-512: emulated by SIMDe (testing/simde/immintrin.h), their
// self-tests pass on any CPU. What other tests skip for want of AVX-512 is seen here at least as far as
// headers go.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/testing/header_corpus.h"

namespace kirsch::testing {
namespace {

const std::vector<HeaderText> kFloats = {
    {"skylake-avx512", "matmul f32 9x13x21"},
    {"znver4", "matmul f32 9x70x21 lhs=col rhs=col"},
    {"znver4", "matmul f32 33x40x70 out=col accumulate"},
    {"znver4", "matmul f32 3:20x30x40 fixed-order", "--threads 2"},
    {"znver4", "matmul f32 1..20x64x96 const-rhs mixture=1:0.7,20:0.3"},
    {"znver4", "matmul f32 5..9x33x50 epilogue=add:n,gelu,add:mn"},
    {"znver4", "matmul f32 16x64x256 column-blocks=64 const-rhs"},
    {"znver4", "matmul f32*f16->f32 1x5x1..3 rhs=col"},
    {"sapphirerapids", "matmul f16*f16->f32 9x22x40"},
    {"znver4", "matmul bf16*bf16->f32 9x22x40"},
    {"znver4", "matmul bf16 9x22x40 accumulate"},
    {"znver4", "matmul f32*f8_e4m3->f32 5x33x40"},
    {"znver4", "matmul f32*f8_e5m2->f32 5x33x40"},
    {"znver4", "conv2d f32 1x1x3x5 filters=4 kernel=1x1 pad=1 layout=nhwc"},
    {"znver4", "conv2d f32 1x3x17x23 filters=5 kernel=2x2 stride=5"},
    {"znver4", "conv2d f32 1x8x9x9 filters=8 kernel=3x3 pad=1 groups=8 layout=nhwc"},
};

const std::vector<HeaderText> kIntegersAndBlocks = {
    {"skylake-avx512", "matmul u8*s8->s32 9x22x40"},
    {"znver4", "matmul u8*s8->s32 9x22x40"},
    {"znver4", "matmul s8*s8->s32 9x22x40 rhs=col"},
    {"znver4", "matmul u8*s8->u8 12x64x40 epilogue=add:n,f32,mul:n,add:3"},
    {"znver4", "matmul u8*s8->s16 12x64x40"},
    {"znver4", "matmul s32 7x9x11"},
    {"skylake-avx512", "matmul f32*q8_0->f32 3x64x17 rhs=col lhs-as=q8_0"},
    {"znver4", "matmul f32*q4_0->f32 3x64x17 rhs=col"},
    {"znver4", "matmul f32*q4_k->f32 1x256x18 rhs=col lhs-as=q8_0"},
    {"znver4", "matmul bf16*q6_k->f32 2x256x18 rhs=col const-rhs"},
    {"znver4", "matmul f32*mxfp4->f32 2x64x18 rhs=col lhs-as=bf16 const-rhs"},
    {"znver4", "matmul f32*sfp8->f32 2x64x18 rhs=col"},
};

const std::vector<HeaderText> kGraphs = {
    {"skylake-avx512", "softmax f32 5x9"},
    {"znver4", "layernorm f32 7x37"},
    {"znver4", "rmsnorm f32 7x37"},
    {"znver4", "reduce sum f32 17x33 axis=0"},
    {"znver4", "reduce max f32 17x33 axis=1"},
    {"znver4", "transpose f32 19x45"},
    {"znver4", "attention f32 heads=2 tokens=12 dim=16"},
    {"znver4", "attention f32 heads=2 tokens=1..16 dim=16", "--threads 2"},
    {"znver4", kMlp, "--threads 2"},
    {"znver4", kTokens},
    {"znver4", kElementwise},
    {"znver4", kIntegers},
    {"znver4", kTwoKernels, "--dispatch"},
    {"znver4", "conv2d f32 1x8x12x12 filters=8 kernel=3x3 pad=1 layout=nhwc", "--allow-winograd"},
};

class SimdeAvx512Test : public HeaderCorpusTest {
 protected:
  void ExpectSelfTestsPass(const std::vector<HeaderText>& texts) const {
    if (!std::filesystem::exists("/usr/include/simde/x86/avx512.h"))
      GTEST_SKIP() << "libsimde-dev is not installed";
    if (!HaveCommand("clang-19")) GTEST_SKIP() << "clang-19 is not installed";
    const std::string batch = WriteBatch(texts);
    if (RunQuietly(Cat("clang-19 -std=c99 -O1 -w -I", KIRSCH_SIMDE_DIRECTORY, " ", batch, " -lm -o batch")))
      RunQuietly("./batch");
  }
};

TEST_F(SimdeAvx512Test, Floats) { ExpectSelfTestsPass(kFloats); }
TEST_F(SimdeAvx512Test, IntegersAndBlocks) { ExpectSelfTestsPass(kIntegersAndBlocks); }
TEST_F(SimdeAvx512Test, Graphs) { ExpectSelfTestsPass(kGraphs); }

}  // namespace
}  // namespace kirsch::testing
