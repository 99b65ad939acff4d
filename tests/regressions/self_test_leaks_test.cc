// SPDX-License-Identifier: Apache-2.0
// Self-tests that the address sanitizer did not pass: those of graphs never freed their memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/testing/header_corpus.h"

namespace kirsch::testing {
namespace {

// One of each form that self-tests have, for any CPU with AVX2.
const std::vector<HeaderText> kHeaders = {
    {"haswell", "softmax f32 5x9"},
    {"haswell", kMlp, "--threads 2"},
    {"haswell", kTokens},
    {"haswell", "attention f32 heads=2 tokens=1..5 dim=16", "--threads 2 --uniform"},
    {"haswell", "matmul f32 9x13x21"},
    {"haswell", "matmul f32 1..6x64x48 rhs=col const-rhs", "--threads 2"},
    {"haswell", "matmul f32 16x64x256 column-blocks=64 const-rhs"},
    {"haswell", "matmul f32 5..9x64x40 epilogue=add:n,gelu,add:mn", "--uniform --threads 2"},
    {"haswell", "matmul f32*q4_0->f32 3x64x17 rhs=col lhs-as=q8_0 const-rhs"},
    {"haswell", "matmul u8*s8->u8 12x64x40 epilogue=add:n,f32,mul:n,add:3"},
    {"haswell", kTwoKernels, "--dispatch"},
};

using SelfTestLeaksTest = HeaderCorpusTest;

TEST_F(SelfTestLeaksTest, NothingIsLeftAllocated) {
  const std::string batch = WriteBatch(kHeaders);
  if (!HaveCommand("gcc")) GTEST_SKIP() << "gcc is not installed";
  if (!RunQuietly(
          Cat("gcc -std=c99 -fsanitize=address,undefined -fno-sanitize-recover=all ", batch, " -o batch")))
    return;
  RunQuietly("ASAN_OPTIONS=detect_leaks=1 ./batch > out || test $? = 2");
}

}  // namespace
}  // namespace kirsch::testing
