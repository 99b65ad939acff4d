// SPDX-License-Identifier: Apache-2.0
// What scripts get wrong and machines lack: names of any bytes, outputs with nowhere to go, full disks, CPUs
// that there are not, no memory. One line each time, an exit code, nothing half done. KIRSCH_BINARY is the
// path of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "spec/language/printer.h"
#include "spec/matmul_types.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::Outcome;
using ::testing::StartsWith;

using HostileCliTest = testing::CliTest;

// Nothing but the compiler knows which CPUs there are.
TEST_F(HostileCliTest, ACpuThatLlvmLacksIsRefused) {
  ASSERT_TRUE(WriteFile(Path("t.json"), "{\"ghz\": 3,\n \"cpu\": \"znver99\"}").ok());
  for (const char* command :
       {"synth 'matmul f32 4x4x4' --no-verify", "explain 'softmax f32 3x4'", "target show"})
    ExpectRefused(Cat(command, " ", command[0] == 't' ? "" : "--target ", Path("t.json")),
                  Path("t.json") + ":2:9: expected a CPU that LLVM knows, got 'znver99'");
}

// Fewer than any CPU with AVX has; the search has no program for some types then.
TEST_F(HostileCliTest, TheFewestRegistersSufficeForEveryType) {
  ASSERT_TRUE(WriteFile(Path("few.json"), "{\"vectors\": [{\"bytes\": 32, \"registers\": 8}]}").ok());
  ASSERT_TRUE(WriteFile(Path("fewer.json"), "{\"vectors\": [{\"bytes\": 32, \"registers\": 7}]}").ok());
  ExpectRefused("target show " + Path("fewer.json"),
                "1:41: expected a whole number from 8 to 32 for registers");
  for (const MatmulTypes& types : kMatmulTypes) {
    const std::string command =
        Cat("synth 'matmul ", PrintTypes(types), " 5x30x40 const-rhs' --no-verify --emit schedule --target ");
    if (types.lhs == Dtype::kF16Sums)
      ExpectRefused(command + Path("few.json"),
                    "target: expected one with avx512fp16, avx512bw, avx512vl for sums of f16, got unnamed");
    else
      EXPECT_EQ(Run(command + Path("few.json")).code, 0) << PrintTypes(types);
  }
}

TEST_F(HostileCliTest, SumsOfF16AreRefusedWhereThereIsNoInstruction) {
  for (const char* target : {"haswell", "skylake-avx512", "znver4"})
    for (const char* spec : {"matmul f16*f16+f16->f16 8x8x8", "matmul f16*f16+f16->f16 1..8x8x8",
                             "conv2d f16*f16+f16->f16 1x8x9x9 filters=8 kernel=3x3 layout=nhwc"})
      ExpectRefused(
          Cat("synth '", spec, "' --no-verify --target ", target),
          Cat("target: expected one with avx512fp16, avx512bw, avx512vl for sums of f16, got ", target));
  for (const char* command :
       {"explain 'matmul f16*f16+f16->f16 8x8x8'", "fidelity 'matmul f16*f16+f16->f16 8x8x8'",
        "db precompute 'matmul f16*f16+f16->f16 1..8x8x8' --db t.db"})
    ExpectRefused(Cat(command, " --target haswell"), "for sums of f16, got haswell");
  EXPECT_EQ(
      Run("synth 'matmul f16*f16+f16->f16 8x8x8' --no-verify --emit schedule --target sapphirerapids").code,
      0);
}

// In the header such a parameter would stand for the function.
TEST_F(HostileCliTest, AParameterMayNotHideWhatItsFunctionCalls) {
  const std::pair<const char*, const char*> refused[] = {{"f_m2", "haswell"},
                                                         {"f_haswell_m2", "haswell,znver4"},
                                                         {"f_haswell", "haswell,znver4"},
                                                         {"f_choose", "haswell,znver4"}};
  for (const auto& [name, targets] : refused) {
    ASSERT_TRUE(WriteFile(Path("f.kirsch"), Cat("\nkernel f[m = 1..3](x: f32[m,4], ", name,
                                                ": f32[m,4]):\n  return add(x, ", name, ")\n"))
                    .ok());
    ExpectRefused(
        Cat("synth -f ", Path("f.kirsch"), " --target ", targets),
        Cat("f.kirsch:2:33: expected another name than '", name, "', as the code of 'f' has a function"));
  }
  ASSERT_TRUE(WriteFile(Path("f.kirsch"), "kernel f[m = 1..3](f: f32[m,4]):\n  return relu(f)\n").ok());
  EXPECT_EQ(Run(Cat("synth -f ", Path("f.kirsch"), " --target haswell -o ", Path("f.h"))).code, 0);
}

// A path need not be UTF-8, JSON must.
TEST_F(HostileCliTest, NamesOfAnyBytesAreReportedAndPrintable) {
  const std::string odd = Path("\xff\x01.h");
  const Outcome outcome = Run(Cat("synth 'matmul f32 4x4x4' --no-verify -o '", odd, "' --json -"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(nlohmann::json::accept(outcome.out)) << outcome.out;
  EXPECT_TRUE(fs::exists(odd));
  ExpectRefused(Cat("synth -f '", odd, "'"), "\\xff\\x01.h:1:1: expected ");
  const Outcome warned =
      Run(Cat("synth 'matmul f32 4x4x4' --no-verify --db '", odd, "/none.db' -o /dev/null"));
  EXPECT_EQ(warned.code, 0);
  EXPECT_THAT(warned.err, StartsWith("kirsch: warning: '"));
  EXPECT_THAT(warned.err, HasSubstr("\\xff\\x01.h"));
}

// No place for the compiler's files says nothing about the kernel.
TEST_F(HostileCliTest, WithoutTemporaryFilesTheHeaderIsNotRun) {
  for (const char* spec : {"matmul f32 4x4x4", "softmax f32 3x4", "matmul f32 1..2x4x4"}) {
    const Outcome outcome = testing::RunKirsch(
        "TMPDIR=/proc", Cat("synth '", spec, "' --target haswell -o ", Path("k.h")), directory_.string());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("header not run")) << spec;
    EXPECT_TRUE(fs::exists(Path("k.h")));
  }
}

// What takes long is not begun if its result has nowhere to go.
TEST_F(HostileCliTest, OutputsAreLookedAtFirst) {
  for (const char* command : {"synth 'matmul f32 4x4x4' --json", "verify 'matmul f32 4x4x4' --json",
                              "bench 'matmul f32 4x4x4' --json", "bench 'matmul f32 4x4x4' --svg",
                              "db precompute 'matmul f32 4x4x4' --json", "db stats --json"}) {
    ExpectRefused(Cat(command, " ", Path("no/file")), "no/file': No such file or directory");
    EXPECT_FALSE(fs::exists(Path("no")));
  }
  const std::string same = Cat(Path("a"), " --json ", Path("./a"));
  ExpectRefused("synth 'matmul f32 4x4x4' -o " + same, "expected a file for each output, got '");
  ExpectRefused("bench 'matmul f32 4x4x4' --svg " + same, "expected a file for each output, got '");
  EXPECT_FALSE(fs::exists(Path("a")));
  EXPECT_EQ(Run("synth 'matmul f32 4x4x4' --no-verify -o /dev/null --json /dev/null").code, 0);
}

TEST_F(HostileCliTest, WhatDoesNotFitIsAnErrorThatLeavesNothing) {
  for (const char* arguments : {"--help", "synth --help", "--version", "target list"}) {
    const int status = std::system(Cat(KIRSCH_BINARY, " ", arguments, " >/dev/full 2>/dev/null").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << arguments;
  }
  // No file may have more than a block; the output of the command itself goes elsewhere.
  const std::string limited =
      Cat("'ulimit -f 1; exec ", KIRSCH_BINARY, " synth \"matmul f32 4x4x4\" --no-db ", "--no-verify -o ",
          Path("k.h"), "' 2>&1 | grep -q \"k.h': File too large\"");
  EXPECT_EQ(std::system(Cat("sh -c ", limited).c_str()), 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 0);
}

// Where the operands don't fit into memory nothing can run.
TEST_F(HostileCliTest, WhatNothingHasRunIsWrittenAndSaidToBeUnverified) {
#ifdef KIRSCH_SANITIZED
  GTEST_SKIP() << "sanitizers want more memory than the limit";
#endif
  const std::string limited = Cat("ulimit -v 4000000 && ", KIRSCH_BINARY);
  const auto run = [&](const std::string& arguments) {
    const std::string out = Path("out");
    const int status = std::system(Cat("(", limited, " ", arguments, ") >", out, " 2>&1").c_str());
    return Outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, *ReadFile(out), ""};
  };
  const std::string spec = " 'matmul f32 65536x65536x1' --no-db ";
  const Outcome written = run(Cat("synth", spec, "-o ", Path("k.h"), " --json ", Path("k.json")));
  EXPECT_EQ(written.code, 3) << written.out;
  EXPECT_THAT(written.out, HasSubstr("unverified (no memory for "));
  EXPECT_THAT(written.out, HasSubstr("interpreter not run, jit not run, header not run"));
  EXPECT_THAT(*ReadFile(Path("k.h")), HasSubstr("void matmul_f32_65536x65536x1("));
  const nlohmann::json json = nlohmann::json::parse(*ReadFile(Path("k.json")), nullptr, false);
  EXPECT_EQ(json["verify"]["verdict"], "unverified");
  EXPECT_EQ(json["verify"]["ok"], false);
  const Outcome verified = run(Cat("verify", spec));
  EXPECT_EQ(verified.code, 3) << verified.out;
  EXPECT_THAT(verified.out, HasSubstr("unverified: nothing has run\n"));  // then where host is from
}

}  // namespace
}  // namespace kirsch
