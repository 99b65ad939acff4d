// SPDX-License-Identifier: Apache-2.0
// Plans were to be shared by sizes of a list; between these are sizes of which there is no kernel.
#include <gmock/gmock.h>

#include "spec/text/cat.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using ListSizes = testing::CliTest;

TEST_F(ListSizes, MayBeThoseThatAreMultiples) {
  for (const char* kernel :
       {"kernel f[k = 32..320 step 32](x: f32[4,k], w: q8_0[8,k]): return matmul(x, transpose(w))",
        "kernel f[h = 8..80 step 8](q: f32[h,4,16], k: f32[8,6,16]): return matmul(q, transpose(k))"}) {
    const auto outcome = Run(Cat("synth '", kernel, "' --target haswell --no-db -o ", Path("a.h")));
    EXPECT_EQ(outcome.code, 0) << kernel << ": " << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("10 members")) << kernel;
  }
}

}  // namespace
}  // namespace kirsch
