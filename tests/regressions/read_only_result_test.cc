// SPDX-License-Identifier: Apache-2.0
// A parameter of f8 that was returned, turned or as it was, ended the process: no kernel writes such a type.
#include <gtest/gtest.h>

#include "spec/language/kernel_file.h"

namespace kirsch {
namespace {

TEST(ReadOnlyResult, IsRefused) {
  for (const char* text : {"kernel d(p: f8_e4m3[4,2,5] strides=[5,20,1]) -> f8_e4m3[4,5,2] "
                           "strides=[20,4,1]:\n return transpose(p)",
                           "kernel d(p: f8_e5m2[4,5]):\n y = transpose(p)\n return y, y",
                           "kernel d(p: f8_e4m3[4,5]):\n return p"}) {
    const auto read = ParseKernelFile(text, "k");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.status().message().find("which is only read"), std::string::npos) << read.status();
  }
}

}  // namespace
}  // namespace kirsch
