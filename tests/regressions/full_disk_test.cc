// SPDX-License-Identifier: Apache-2.0
// A table could not be made as the disk was full: the command called what was left of it no table of
// Kirsch's, and ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;

using FullDisk = testing::CliTest;

// A limit on the size of files is as good as a full disk, and needs no rights. What is printed goes to a
// pipe.
TEST_F(FullDisk, ATableThatCanNotBeMadeIsDoneWithout) {
  for (const int blocks : {0, 1, 8, 16}) {
    const std::string table = Path(Cat("new", blocks, ".db"));
    const std::string limited =
        Cat("sh -c 'ulimit -f ", blocks, "; exec ", KIRSCH_BINARY,
            " synth \"matmul f32 4x4x4\" --target haswell --no-verify --db ", table, "'");
    ASSERT_EQ(std::system(Cat("(", limited, " 2>&1; echo code $?) | cat >", Path("out")).c_str()), 0);
    const std::string out = *ReadFile(Path("out"));
    EXPECT_THAT(out, HasSubstr(Cat("kirsch: warning: '", table, "': "))) << blocks;
    EXPECT_THAT(out, HasSubstr(": it can't be written; nothing is kept\n")) << blocks;
    EXPECT_THAT(out, HasSubstr("void matmul_f32_4x4x4(")) << blocks;
    EXPECT_THAT(out, HasSubstr("code 0\n")) << blocks;
  }
}

}  // namespace
}  // namespace kirsch
