// SPDX-License-Identifier: Apache-2.0
// What tests of emitted C share: the compilers, a directory for files, programs with remainders everywhere.
#ifndef KIRSCH_TESTS_TESTING_HEADER_TESTING_H_
#define KIRSCH_TESTS_TESTING_HEADER_TESTING_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lower.h"
#include "spec/text/cat.h"
#include "tests/testing/codegen_testing.h"
#include "tests/testing/commands.h"
#include "tests/testing/kernel_header.h"

namespace kirsch::testing {

inline constexpr const char* kC = "-std=c99 -x c";
inline constexpr const char* kCpp = "-std=c++17 -x c++";

// Compilers that are installed, as "command language-flags".
inline std::vector<std::string> Compilers() {
  std::vector<std::string> compilers;
  for (const char* command : {"gcc", "clang-19"})
    if (HaveCommand(command)) compilers.push_back(Cat(command, " ", kC));
  for (const char* command : {"g++", "clang++-19"})
    if (HaveCommand(command)) compilers.push_back(Cat(command, " ", kCpp));
  return compilers;
}

class HeaderTest : public ::testing::TestWithParam<bool> {
 protected:
  HeaderTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kirsch-header-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~HeaderTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  std::string Isa() const { return GetParam() ? "-mavx2 -mfma -mavx512f -mavx512vl" : "-mavx2 -mfma"; }

  // True if the command succeeds; else its output is the test's.
  bool Run(const std::string& command) const {
    const std::string log = Path("log");
    if (std::system(Cat(command, " > ", log, " 2>&1").c_str()) == 0) return true;
    std::ifstream stream(log);
    ADD_FAILURE() << command << "\n" << std::string(std::istreambuf_iterator<char>(stream), {});
    return false;
  }
  // What the self-test that `macro` asks for prints, and whether it passes.
  std::pair<std::string, bool> RunSelfTest(const std::string& header, const std::string& macro,
                                           const std::string& compiler) const {
    const std::string program = Path("self_test");
    EXPECT_TRUE(Compile(compiler, Cat("-O1 -D", macro), Write("kernel.h", header), program));
    const bool passes = std::system(Cat(program, " > ", Path("out"), " 2>&1").c_str()) == 0;
    std::ifstream stream(Path("out"));
    return {std::string(std::istreambuf_iterator<char>(stream), {}), passes};
  }
  // What the command, which must succeed, prints.
  std::string Output(const std::string& command) const {
    Run(command);
    std::ifstream stream(Path("log"));
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }
  bool Compile(const std::string& compiler, const std::string& flags, const std::string& file,
               const std::string& output) const {
    return Run(Cat(compiler, " -Wall -Wextra -Werror -pedantic ", flags, " ", file, " -o ", output));
  }

  // Packs rhs, tiles m and n; every size has a remainder.
  Impl PackedImpl(const Spec& spec) const {
    const int lanes = target_.vectors.front().bytes / 4;
    const uint32_t panel = 2 * static_cast<uint32_t>(lanes);
    return BuildImpl(spec, target_, [=](const Spec& goal) {
      if (goal.size[MatmulDims::kB] > 1) return Tile(MatmulDims::kB, 1);
      if (goal.out().level == Level::kVrf) return Microkernel();
      if (goal.operand[MatmulDims::kRhs].layout.kind == LayoutKind::kStrided)
        return PackInto(MatmulDims::kRhs, Order::kRow, static_cast<int>(panel));
      if (goal.size[MatmulDims::kN] > panel) return Tile(MatmulDims::kN, panel);
      if (goal.size[MatmulDims::kM] > 4) return Tile(MatmulDims::kM, 4);
      return IntoRegisters(LayoutKind::kVectors, lanes);
    });
  }
  Impl ParallelImpl(const Spec& spec) const {
    Decision parallel = Tile(MatmulDims::kM, (spec.size[MatmulDims::kM] + 1) / 2);
    parallel.kind = RewriteKind::kParallelTile;
    parallel.parts = 2;
    Impl impl{spec, parallel, {}};
    Expansion expansion;
    Expand(spec, parallel, target_, &expansion);
    for (int i = 0; i < expansion.num_children; ++i) {
      const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
      impl.children.push_back({child.trips, PackedImpl(child.spec)});
    }
    return impl;
  }
  Impl DotImpl(const Spec& spec) const {
    return Chain(spec, target_,
                 {IntoRegisters(LayoutKind::kPartialSums, target_.vectors.front().bytes / 4), Microkernel()});
  }

  HeaderOptions Options(const Spec& spec) const {
    HeaderOptions options;
    options.spec = spec;
    options.spec_text = "matmul f32";
    options.schedule = "a schedule\nthat ends in a backslash \\";
    options.version = "0.0";
    return options;
  }

  const Target target_ = TestTarget(GetParam());
  std::string directory_;
};

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_HEADER_TESTING_H_
