// SPDX-License-Identifier: Apache-2.0
// A header didn't say how it was made, nor whose it is, and its functions could not be named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kOptions[] = " --target haswell --no-db --no-verify";

class HeaderText : public CliTest {
 protected:
  std::string Header(const std::string& what) const {
    const Outcome outcome = Run(Cat("synth ", what, kOptions));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }
};

TEST_F(HeaderText, TheFunctionIsCalledAsOneLikes) {
  const std::string header = Header("'matmul f32 4x5x6' --name gemm");
  EXPECT_THAT(header, HasSubstr("static inline int gemm_supported(void)"));
  EXPECT_THAT(header, HasSubstr("#ifdef GEMM_SELF_TEST"));
  EXPECT_THAT(Header("'matmul f32 4x5x6' --name gemm --prefix my_"), HasSubstr("my_gemm_supported"));
  for (const char* name : {"int", "2a", "a-b", "memcpy", "tanhf", "'a\nb'"})
    ExpectRefused(Cat("synth 'matmul f32 4x5x6' --name ", name), "--name: expected ");
  ASSERT_TRUE(WriteFile(Path("k.kirsch"), "a = matmul f32 1x2x3\nb = matmul f32 1x2x4\n").ok());
  ExpectRefused(Cat("synth -f ", Path("k.kirsch"), " --name c"),
                "--name: expected a single kernel, got the 2 of ");
  EXPECT_THAT(Header(Cat("-f ", Path("k.kirsch"), " --kernel b --name c")),
              HasSubstr("int c_supported(void)"));
}

TEST_F(HeaderText, OperandsOfTheEpilogueAreCalledAfterTheirStep) {
  EXPECT_THAT(
      Header("'matmul f32 4x5x6 epilogue=mul:n,add:m,relu'"),
      HasSubstr("const float* __restrict scale, const float* __restrict bias, float* __restrict out"));
  const std::string header = Header("'matmul f32 4x5x6 epilogue=add:n,add:mn,add:scalar'");
  EXPECT_THAT(header, HasSubstr("bias1, const float* __restrict residual, const float* __restrict bias2,"));
  EXPECT_THAT(header,
              HasSubstr("// residual: for add, an element for each of out's, lying as they do, f32\n"));
  EXPECT_THAT(Header("'conv2d f32 1x3x5x5 filters=4 kernel=3x3 pad=1 epilogue=add:m,max:0,min:6'"),
              HasSubstr("bias: f32[4,1,1]"));
}

TEST_F(HeaderText, SaysWhoseItIs) {
  const std::string header = Header("'matmul f32 4x5x6'");
  EXPECT_THAT(header,
              StartsWith("// SPDX-License-Identifier: 0BSD\n// This file is yours: no licence of Kirsch's "));
}

// What the header says makes it again, and neither paths nor dates are in it.
TEST_F(HeaderText, HasTheCommandThatMakesItAgain) {
  ASSERT_TRUE(WriteFile(Path("k.kirsch"), "b = matmul f32 1x2x4 epilogue=add:n\n").ok());
  const std::string requests[] = {
      "'matmul f32 4x5..6x7 rhs=col' --threads 2 --cold=rhs --uniform --name f",
      "'conv2d f32 1x3x9x9 filters=4 kernel=3x3' --allow-winograd --header-mode macros",
      "'matmul f32 4x5x6' --emit c --cold --prefix p_", Cat("-f ", Path("k.kirsch"), " --namespace a::b")};
  for (const std::string& request : requests) {
    const std::string header = Header(request);
    const std::string mark = "// Made by: kirsch ";
    const size_t start = header.find(mark);
    ASSERT_NE(start, std::string::npos) << header.substr(0, 1000);
    const std::string command =
        header.substr(start + mark.size(), header.find('\n', start) - start - mark.size());
    EXPECT_THAT(command, Not(HasSubstr(directory_.string())));
    const std::string in_folder = Cat("cd ", directory_.string(), " && ", KIRSCH_BINARY, " ", command,
                                      " --no-db --no-verify > again 2> err");
    ASSERT_EQ(std::system(in_folder.c_str()), 0) << command;
    EXPECT_EQ(*ReadFile(Path("again")), header) << command;
  }
}

TEST_F(HeaderText, OtherArchitecturesAreRefused) {
  for (const char* mode : {"attributes", "macros", "bare"}) {
    ASSERT_TRUE(WriteFile(Path("k.h"), Header(Cat("'matmul f32 4x5x6' --header-mode ", mode))).ok());
    const std::string elsewhere =
        Cat("cc -x c -fsyntax-only -U__x86_64__ ", Path("k.h"), " 2> ", Path("err"));
    EXPECT_NE(std::system(elsewhere.c_str()), 0) << mode;
    EXPECT_THAT(*ReadFile(Path("err")), HasSubstr("this code is for x86-64 only")) << mode;
  }
}

}  // namespace
}  // namespace kirsch::testing
