// SPDX-License-Identifier: Apache-2.0
// A newline behind a shorthand, given as a text and not as a file, became part of the family's text, and so
// of the question to the table; and of the kernel's name, which ended in "_". (Found by
// tests/fuzz/kernels_fuzz.cc.)
#include <gtest/gtest.h>

#include <string>

#include "spec/language/kernel_file.h"

namespace kirsch {
namespace {

TEST(LineEnd, IsNotPartOfAText) {
  for (const std::string text :
       {"layernorm f32 4|8", "softmax f32 1..4x8", "matmul f32 1..4x8x8", "softmax f32 4x8"}) {
    const auto line = ParseKernelLine(text, "f"), ended = ParseKernelLine(text + "\n", "f");
    ASSERT_TRUE(line.ok()) << line.status();
    ASSERT_TRUE(ended.ok()) << ended.status();
    EXPECT_EQ(ended->text(), line->text());
  }
}

}  // namespace
}  // namespace kirsch
