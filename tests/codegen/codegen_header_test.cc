// SPDX-License-Identifier: Apache-2.0
// Headers and C files, compiled as users do: their self-tests pass, and their results equal the JIT's.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "absl/strings/str_replace.h"
#include "codegen/llvm/spills.h"
#include "spec/text/cat.h"
#include "tests/testing/header_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

INSTANTIATE_TEST_SUITE_P(Isa, HeaderTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

TEST_P(HeaderTest, SelfTestPassesWithEveryCompiler) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  Spec parallel = MakeSpec({9, 23, 71, 1, Order::kCol, Order::kRow, 3, true});
  parallel.threads = 2;
  const Spec batch = MakeSpec({9, 18, 71, 3, Order::kRow, Order::kCol, 3});
  const Spec dot = MakeSpec({3, 77, 3, 1, Order::kRow, Order::kCol, 0, true});
  const Spec overwriting_dot = MakeSpec({1, 77, 2, 1, Order::kRow, Order::kCol});
  const std::vector<std::pair<Spec, Impl>> cases = {{parallel, ParallelImpl(parallel)},
                                                    {batch, PackedImpl(batch)},
                                                    {dot, DotImpl(dot)},
                                                    {overwriting_dot, DotImpl(overwriting_dot)}};
  for (const auto& [spec, impl] : cases) {
    // What differs for a swapped request is the same for all programs.
    for (bool swapped : {false, true}) {
      if (swapped && spec.threads == 1) continue;
      const std::vector<Parameter> parameters = {
          {"lhs", swapped ? 1 : 0}, {"rhs", swapped ? 0 : 1}, {"out", 2}};
      const LoopProgram program = Lower(impl, target_, "kernel", {.tensors = parameters});
      HeaderOptions options = Options(spec);
      options.swapped = swapped;
      const std::string header = Write("kernel.h", PrintHeader(program, target_, options));
      for (const std::string& compiler : Compilers()) {
        ASSERT_TRUE(Compile(compiler, "-O2 -DKERNEL_SELF_TEST", header, Path("self_test")));
        ASSERT_TRUE(Run(Path("self_test")));
      }
    }
  }
}

// The self-test can fail.
TEST_P(HeaderTest, SelfTestRejectsAWrongKernel) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const Spec spec = MakeSpec({5, 8, 40});
  std::string text = PrintHeader(Lower(PackedImpl(spec), target_, "kernel"), target_, Options(spec));
  const std::string right = Cat("_fmadd_ps(a, b0, c0_0_0)");
  ASSERT_THAT(text, HasSubstr(right));
  text = absl::StrReplaceAll(text, {{right, "_fmadd_ps(a, b0, a)"}});
  const std::string header = Write("kernel.h", text);
  ASSERT_TRUE(Compile(Cat("gcc ", kC), "-O2 -DKERNEL_SELF_TEST", header, Path("self_test")));
  EXPECT_NE(std::system(Cat(Path("self_test"), " > /dev/null").c_str()), 0);
}

TEST_P(HeaderTest, EveryModeCompilesUnused) {
  const Spec spec = MakeSpec({9, 23, 71, 1, Order::kRow, Order::kRow, 3});
  const LoopProgram program = Lower(PackedImpl(spec), target_, "kernel");
  for (const std::string& compiler : Compilers()) {
    for (HeaderMode mode : {HeaderMode::kAttributes, HeaderMode::kMacros}) {
      HeaderOptions options = Options(spec);
      options.mode = mode;
      Write("kernel.h", PrintHeader(program, target_, options));
      const std::string user = Write("user.c", "#include \"kernel.h\"\n#include \"kernel.h\"\nint unused;\n");
      EXPECT_TRUE(Compile(compiler, "-c", user, Path("user.o")));
      EXPECT_TRUE(Compile(compiler, "-c " + Isa(), user, Path("user.o")));
    }
    HeaderOptions bare = Options(spec);
    bare.mode = HeaderMode::kBare;
    const std::string text = PrintHeader(program, target_, bare);
    // Nothing but what refuses other architectures and -ffast-math.
    for (const char* directive : {"#include", "#define", "#pragma", "#ifdef", "#ifndef"})
      EXPECT_THAT(text, Not(HasSubstr(directive)));
    Write("kernel.h", text);
    const std::string cpp = absl::StrReplaceAll(
        "#include <immintrin.h>\n#include <stddef.h>\n$OPEN\n#include \"kernel.h\"\n$CLOSE\nint unused;\n",
        {{"$OPEN", compiler.find("c++") == std::string::npos ? "" : "namespace N_AVX {"},
         {"$CLOSE", compiler.find("c++") == std::string::npos ? "" : "}"}});
    EXPECT_TRUE(Compile(compiler, "-c " + Isa(), Write("user.c", cpp), Path("user.o")));
  }
}

// A C file as a shared library against the naive loop, gaps and all.
TEST_P(HeaderTest, CFileEqualsTheNaiveLoop) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  int number = 0;
  for (const Matmul& matmul : {Matmul{1, 1, 1}, Matmul{5, 7, 33, 1, Order::kRow, Order::kRow, 2},
                               Matmul{11, 20, 70, 1, Order::kCol, Order::kCol, 1, true}, Matmul{8, 64, 64},
                               Matmul{3, 19, 47, 2, Order::kCol, Order::kRow, 0, true}}) {
    const Spec spec = MakeSpec(matmul);
    const LoopProgram program = Lower(PackedImpl(spec), target_, Cat("kernel", ++number));
    HeaderOptions options = Options(spec);
    options.external = true;
    const std::string file = Write("kernel.c", PrintHeader(program, target_, options));
    for (const char* compiler : {"gcc", "clang-19"}) {
      if (!HaveCommand(compiler)) continue;
      const std::string library = Path(Cat(compiler, number, ".so"));
      ASSERT_TRUE(Compile(Cat(compiler, " ", kC), "-O2 -shared -fPIC", file, library));
      void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
      ASSERT_NE(handle, nullptr) << dlerror();
      // Every one of these packs, so it takes scratch; and none has tasks.
      ASSERT_GT(program.scratch_bytes, 0);
      ASSERT_EQ(program.tasks, 1);
      static void (*function)(const void*, const void*, void*, void*);
      function = reinterpret_cast<decltype(function)>(dlsym(handle, program.name.c_str()));
      ASSERT_NE(function, nullptr);
      const KernelFunction adapter = [](const void* lhs, const void* rhs, void* out, void* scratch, size_t,
                                        size_t) { function(lhs, rhs, out, scratch); };
      EXPECT_TRUE(MatchesNaive(spec, adapter, program.scratch_bytes)) << library;
      dlclose(handle);
    }
  }
}

// C compilers keep the register tile.
TEST_P(HeaderTest, CompilersDoNotSpill) {
  const uint32_t lanes = static_cast<uint32_t>(target_.vectors.front().bytes) / 4;
  const std::vector<std::pair<uint32_t, uint32_t>> tiles =
      GetParam() ? std::vector<std::pair<uint32_t, uint32_t>>{{14, 2}, {9, 3}, {14, 1}, {5, 5}, {1, 4}}
                 : std::vector<std::pair<uint32_t, uint32_t>>{{6, 2}, {4, 3}, {5, 1}, {2, 3}, {1, 4}};
  for (const auto& [m, vectors] : tiles) {
    const Spec spec = MakeSpec({m, 300, vectors * lanes, 1, Order::kRow, Order::kRow, 7});
    const Impl impl =
        Chain(spec, target_, {IntoRegisters(LayoutKind::kVectors, static_cast<int>(lanes)), Microkernel()});
    HeaderOptions options = Options(spec);
    options.external = true;
    const std::string file = Write("kernel.c", PrintHeader(Lower(impl, target_, "kernel"), target_, options));
    for (const char* compiler : {"gcc -O2", "gcc -O3", "clang-19 -O2"}) {
      ASSERT_TRUE(Compile(Cat(compiler, " ", kC), "-c", file, Path("kernel.o")));
      std::ifstream stream(Path("kernel.o"), std::ios::binary);
      const std::string object(std::istreambuf_iterator<char>(stream), {});
      const absl::StatusOr<std::vector<LoopCode>> loops = InnermostLoops(object);
      ASSERT_TRUE(loops.ok()) << loops.status();
      ASSERT_FALSE(loops->empty());
      for (const LoopCode& loop : *loops) {
        EXPECT_EQ(loop.vector_spills, 0) << compiler << " " << loop.function;
        EXPECT_LE(loop.pointers, 2) << compiler << " " << loop.function;
      }
    }
  }
}

}  // namespace
}  // namespace kirsch::testing
