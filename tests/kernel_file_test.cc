// Files of kernels: what they hold, and errors at their place in the file.
#include "spec/kernel_file.h"

#include <gtest/gtest.h>

#include <string>

#include "spec/identifier.h"

namespace kirsch {
namespace {

std::string ErrorOf(const std::string& text) {
  return std::string(ParseKernelFile(text, "k.kirsch").status().message());
}

TEST(KernelFile, LinesWithAndWithoutNames) {
  const auto requests = ParseKernelFile(
      "# ours\n"
      "\n"
      "  small = matmul f32 4x5x6   # with a comment\n"
      "matmul f32 1..3x8x8 rhs=col\r\n"
      "tight=matmul f32 4x5x6 lhs=col\n"
      "\tmatmul  f32  7x8x9  accumulate",
      "k.kirsch");
  ASSERT_TRUE(requests.ok()) << requests.status();
  ASSERT_EQ(requests->size(), 4u);
  EXPECT_EQ((*requests)[0].name, "small");
  EXPECT_EQ((*requests)[0].family.text(), "matmul f32 4x5x6");
  EXPECT_EQ((*requests)[1].name, "matmul_f32_1to3x8x8_rhs_col");
  EXPECT_EQ((*requests)[1].family.count(), 3);
  EXPECT_EQ((*requests)[2].name, "tight");
  EXPECT_EQ((*requests)[2].family.text(), "matmul f32 4x5x6 lhs=col");
  EXPECT_EQ((*requests)[3].name, "matmul_f32_7x8x9_accumulate");
}

TEST(KernelFile, ErrorsAreAtTheirPlace) {
  EXPECT_EQ(ErrorOf(""), "k.kirsch:1:1: expected a kernel ([NAME =] SPEC), got nothing");
  EXPECT_EQ(ErrorOf("# nothing\n"), "k.kirsch:1:1: expected a kernel ([NAME =] SPEC), got nothing");
  EXPECT_EQ(ErrorOf("\n a = matmul f32 4x0x4"), "k.kirsch:2:19: expected a size from 1 to 1048576, got '0'");
  EXPECT_EQ(ErrorOf("matmul f32 1x1x1\n\n\tmatmul f32 3..2x4x4 # no"),
            "k.kirsch:3:16: expected the last size of a range from 3 to 1048576, got '2'");
  EXPECT_EQ(ErrorOf("matmul f32 1..2x1x2097152"),
            "k.kirsch:1:19: expected a size from 1 to 1048576, got '2097152'");
  EXPECT_EQ(ErrorOf("a ="),
            "k.kirsch:1:4: expected an operation "
            "(matmul|conv2d|softmax|layernorm|rmsnorm|reduce|transpose|attention), got nothing");
  EXPECT_EQ(
      ErrorOf(" 3a = matmul f32 1x1x1"),
      "k.kirsch:1:2: expected a name (letters, digits, underscores; a letter first, no keyword or macro of "
      "C or C++), got '3a'");
  EXPECT_EQ(
      ErrorOf("= matmul f32 1x1x1"),
      "k.kirsch:1:1: expected a name (letters, digits, underscores; a letter first, no keyword or macro of "
      "C or C++), got nothing");
  EXPECT_EQ(ErrorOf("a b = matmul f32 1x1x1"),
            "k.kirsch:1:1: expected an operation "
            "(matmul|conv2d|softmax|layernorm|rmsnorm|reduce|transpose|attention), got 'a'");
  EXPECT_EQ(ErrorOf("a = matmul f32 1x1x1\n\n a = matmul f32 1x1x2"),
            "k.kirsch:3:2: expected another name, as line 1 has 'a'");
  EXPECT_EQ(ErrorOf("matmul f32 1x1x1\nmatmul f32 01x1x1"),
            "k.kirsch:2:1: expected another name, as line 1 has 'matmul_f32_1x1x1'");
  EXPECT_EQ(ErrorOf("a = matmul f32 1x1x1\na_pack = matmul f32 1x1x2"),
            "k.kirsch:2:1: expected another name, as line 1 has 'a', whose code has 'a_pack'");
  EXPECT_EQ(ErrorOf("a_supported = matmul f32 1x1x1\n a = matmul f32 1x1x2"),
            "k.kirsch:2:2: expected another name, as line 1 has 'a_supported', which its own code has");
}

TEST(Identifier, OfTexts) {
  EXPECT_TRUE(IsIdentifier("a_1"));
  EXPECT_TRUE(IsKernelName("kernel1"));
  for (const char* text : {"main", "wrong", "int", "NULL", "tanhf", "div"})
    EXPECT_FALSE(IsKernelName(text)) << text;
  EXPECT_TRUE(IsIdentifier("tanh"));
  for (const char* text : {"", "1a", "a-b", "a b", "\xc3\xa4", "int", "xor_eq", "alignas", "NULL", "_Bool",
                           "__x86_64__", "M_PI", "_mm_add_ps", "_a", "INT32_C", "linux", "concept"})
    EXPECT_FALSE(IsIdentifier(text)) << text;
  EXPECT_EQ(IdentifierOf("matmul f32 1..2x3x4 rhs=col"), "matmul_f32_1to2x3x4_rhs_col");
}

}  // namespace
}  // namespace kirsch
