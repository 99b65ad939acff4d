// SPDX-License-Identifier: Apache-2.0
// Headers of every kind that the command makes, and a C file that has many of them, so that a compiler reads
// <immintrin.h> once.
#ifndef KIRSCH_TESTS_TESTING_HEADER_CORPUS_H_
#define KIRSCH_TESTS_TESTING_HEADER_CORPUS_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"
#include "tests/testing/commands.h"

namespace kirsch::testing {

// A shorthand, or, of several lines, a file of kernels.
struct HeaderText {
  const char *target, *text, *options = "";
};

// Graphs and kernels in a file, for any target.
inline constexpr char kMlp[] =
    "kernel mlp(x: f32[8,32], w: f32[32,40], b: f32[40], v: const f32[40,24]) -> f32[8,24]:\n"
    "  h = gelu(add(matmul(x, w), b))\n"
    "  return matmul(h, v)\n";
inline constexpr char kTokens[] =
    "kernel ffn[tokens = 1..4|8](x: f32[tokens,64], w1: f32[64,96], b: f32[96], w2: const f32[96,64])"
    " -> f32[tokens,64]:\n"
    "  h = gelu(add(matmul(x, w1), b))\n"
    "  return softmax(matmul(h, w2))\n";
inline constexpr char kElementwise[] =
    "kernel elementwise(x: f16[10,20], y: bf16[10,20]) -> f16[10,20]:\n"
    "  z = cast(y, f32)\n"
    "  return cast(add(silu(cast(x, f32)), mul(z, tanh(z))), f16)\n";
inline constexpr char kIntegers[] =
    "kernel integers(x: s8[10,20]) -> s32[10,20]:\n"
    "  y = cast(x, s32)\n"
    "  return add(y, y)\n";
inline constexpr char kTwoKernels[] =
    "square = matmul f32 20x20x20\n"
    "decode = matmul f32 1..6x64x48 rhs=col\n";

class HeaderCorpusTest : public CliTest {
 protected:
  // The path of a C file with a header, and its self-test, for each text. Its main runs them all.
  std::string WriteBatch(const std::vector<HeaderText>& texts) const {
    std::string batch, calls;
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::string name = Cat("k", i, "_"), header = WriteHeader(texts[i], name);
      Append(&batch, "#define ", SelfTestMacroIn(header), "\n#define main ", name, "main\n#include \"", name,
             ".h\"\n#undef main\n");
      Append(&calls, "  worst |= ", name, "main();\n");
    }
    const std::string path = Path("batch.c");
    std::ofstream(path) << batch << "int main(void) {\n  int worst = 0;\n" << calls << "  return worst;\n}\n";
    return path;
  }

  // The header's text.
  std::string WriteHeader(const HeaderText& text, const std::string& prefix) const {
    std::string what = Cat("'", text.text, "'");
    if (what.find('\n') != what.npos) {
      const std::string file = Path(Cat(prefix, ".kirsch"));
      std::ofstream(file) << text.text;
      what = Cat("-f ", file);
    }
    const std::string path = Path(Cat(prefix, ".h"));
    const Outcome outcome = Run(Cat("synth ", what, " ", text.options, " --target ", text.target,
                                    " --prefix ", prefix, " --no-db --no-verify -o ", path));
    EXPECT_EQ(outcome.code, 0) << text.text << "\n" << outcome.err;
    return outcome.code == 0 ? *ReadFile(path) : "";
  }

  // Expects that the command succeeds in the directory of this test; else what it printed is shown.
  bool RunQuietly(const std::string& command) const {
    const std::string log = Path("log");
    const bool succeeds =
        std::system(Cat("cd ", Path(""), " && ", command, " > ", log, " 2>&1").c_str()) == 0;
    EXPECT_TRUE(succeeds) << command << "\n" << ReadFile(log)->substr(0, 4000);
    return succeeds;
  }

 private:
  static std::string SelfTestMacroIn(const std::string& header) {
    std::smatch found;
    std::regex_search(header, found, std::regex("#ifdef (\\w+_SELF_TEST)"));
    return found.empty() ? "NO_SELF_TEST" : found[1].str();
  }
};

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_HEADER_CORPUS_H_
