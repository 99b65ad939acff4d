// SPDX-License-Identifier: Apache-2.0
// The C that is printed for kernels of all element types: GCC and Clang take it, and it gives the oracle's
// bits.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_join.h"
#include "codegen/c/c_printer.h"
#include "spec/text/cat.h"
#include "tests/testing/codegen_types_testing.h"

namespace kirsch::testing {
namespace {

class TypesCTest : public ::testing::TestWithParam<VectorIsa> {
 protected:
  TypesCTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kirsch-types-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~TypesCTest() override { std::filesystem::remove_all(directory_); }

  // Programs of every combination of types; one source for all of them.
  void MakePrograms() {
    for (const MatmulTypes& types : AllTypes()) {
      if (!TargetHas(PlainArithmetic(types.lhs), target_)) continue;
      TypedWalk random(target_, 20250604);
      for (int round = 0; round < 5; ++round) {
        const Matmul matmul = random.NextMatmul();
        specs_.push_back(TypedSpec(types, matmul));
        programs_.push_back(
            Lower(random.Next(specs_.back()), target_, Cat("kernel_", NameOf(types), "_", round)));
      }
    }
    std::vector<CKernel> kernels;
    for (const LoopProgram& program : programs_) kernels.push_back({&program, false});
    CStyle style;
    style.private_prefix = "static __attribute__((noinline)) ";
    style.fence = "__asm__ volatile(\"\" ::: \"memory\");";
    style.attributes = false;
    style.helper_name = "helper";
    std::ofstream(directory_ + "/kernels.c")
        << "#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n"
        << PrintC(kernels, style);
  }

  // What all programs together need, as options of a compiler.
  std::string Isa() const {
    std::vector<std::string> features;
    for (const LoopProgram& program : programs_)
      for (const std::string& feature : program.features)
        if (std::find(features.begin(), features.end(), feature) == features.end())
          features.push_back(feature);
    return "-m" + absl::StrJoin(features, " -m");
  }

  void CompileAndRun(const std::string& compiler) {
    const std::string library = Cat(directory_, "/", compiler.substr(0, 3), ".so");
    const std::string command =
        Cat(compiler, " -O2 -shared -fPIC -Wall -Wextra -Werror -Wno-psabi ", Isa(), " ", directory_,
            "/kernels.c -o ", library, " > ", directory_, "/log 2>&1");
    if (std::system(command.c_str()) != 0) {
      std::ifstream log(directory_ + "/log");
      FAIL() << command << "\n" << std::string(std::istreambuf_iterator<char>(log), {}).substr(0, 3000);
    }
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    for (size_t i = 0; i < programs_.size(); ++i)
      EXPECT_TRUE(Matches(handle, programs_[i], specs_[i])) << compiler << ": " << programs_[i].name;
    dlclose(handle);
  }

  // The function has those parameters only that its program needs.
  static bool Matches(void* library, const LoopProgram& program, const Spec& spec) {
    void* const symbol = dlsym(library, program.name.c_str());
    return symbol != nullptr &&
           MatchesOracle(spec, reinterpret_cast<AnyKernel>(symbol), program.scratch_bytes);
  }

  const Target target_ = TargetOf(GetParam());
  std::vector<Spec> specs_;
  std::vector<LoopProgram> programs_;
  std::string directory_;
};

INSTANTIATE_TEST_SUITE_P(All, TypesCTest, ::testing::ValuesIn(VectorIsas()),
                         [](const auto& info) { return info.param.name; });

TEST_P(TypesCTest, CompilersAgreeWithTheOracle) {
  std::vector<std::string> features = target_.features;
  features.push_back("f16c");
  const std::string missing = MissingOnHost(features);
  if (!missing.empty()) GTEST_SKIP() << "this host lacks " << missing;
  MakePrograms();
  int compilers = 0;
  for (const char* compiler : {"gcc -std=c99", "clang-19 -std=c99"}) {
    const std::string command = std::string(compiler).substr(0, std::string(compiler).find(' '));
    if (std::system(Cat("command -v ", command, " > /dev/null 2>&1").c_str()) != 0) continue;
    ++compilers;
    CompileAndRun(compiler);
  }
  if (compilers == 0) GTEST_SKIP() << "no C compiler";
}

}  // namespace
}  // namespace kirsch::testing
