// SPDX-License-Identifier: Apache-2.0
// Kernels of as many parameters as the language takes, compiled and called.
#include <gmock/gmock.h>

#include "spec/graph/graph.h"
#include "spec/text/cat.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using ManyParameters = testing::CliTest;

// The sum of so many parameters.
std::string SumOf(size_t parameters, const std::string& name, const std::string& type) {
  std::string text = Cat("kernel ", name, "("), sum = "p0";
  for (size_t i = 0; i < parameters; ++i) {
    Append(&text, i > 0 ? ", " : "", "p", i, ": ", type);
    if (i > 0) sum = Cat("add(", sum, ", p", i, ")");
  }
  return Cat(text, "): return ", sum);
}

TEST_F(ManyParameters, AreTaken) {
  for (const std::string& kernel : {SumOf(kMaxParameters, "f", "f32[5]"), SumOf(100, "f", "const f32[5]"),
                                    SumOf(100, "f[m = 1..12]", "f32[m,5]")}) {
    const auto outcome = Run(Cat("synth '", kernel, "' --target host --no-db -o ", Path("a.h")));
    EXPECT_EQ(outcome.code, 0) << kernel << ": " << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("verified: ")) << kernel;
  }
}

}  // namespace
}  // namespace kirsch
