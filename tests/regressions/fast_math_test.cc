// SPDX-License-Identifier: Apache-2.0
// Headers that were compiled with -ffast-math, which took their exponentials apart, said nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"

namespace kirsch::testing {
namespace {

class FastMath : public CliTest {
 protected:
  // What the compiler says of the header; empty: it takes it.
  std::string Compiled(const std::string& compiler, const std::string& flags) const {
    const int status = std::system(
        Cat(compiler, " -x c ", flags, " -c ", Path("k.h"), " -o ", Path("k.o"), " 2>", Path("log")).c_str());
    return status == 0 ? "" : *ReadFile(Path("log"));
  }
};

TEST_F(FastMath, IsRefused) {
  const std::string k = Path("k.h");
  for (const char* mode : {"attributes", "macros"}) {
    ASSERT_EQ(Run(Cat("synth 'softmax f32 5x9' --no-db --no-verify --target haswell --header-mode ", mode,
                      " -o ", k))
                  .code,
              0);
    for (const char* compiler : {"gcc", "clang-19"}) {
      if (std::system(Cat("command -v ", compiler, " > /dev/null").c_str()) != 0) continue;
      EXPECT_EQ(Compiled(compiler, "-O2 -mavx2 -mfma -Wall -Wextra -Werror -Wno-unused-function"), "")
          << compiler;
      for (const char* flags : {"-O2 -ffast-math", "-Ofast", "-O2 -ffinite-math-only"})
        EXPECT_THAT(Compiled(compiler, Cat("-mavx2 -mfma ", flags)),
                    ::testing::HasSubstr("without -ffast-math"))
            << compiler << " " << flags << " " << mode;
    }
  }
  EXPECT_THAT(*ReadFile(k), ::testing::HasSubstr("-O0"));
}

}  // namespace
}  // namespace kirsch::testing
