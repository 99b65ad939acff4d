// Narrow floats as vectors of f32: all bit patterns, by the code that LLVM makes and by that of C compilers,
// against spec/element.h bit for bit.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "codegen/c/c_printer.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/element.h"
#include "spec/element_array.h"
#include "spec/text/cat.h"
#include "tests/testing/codegen_testing.h"

namespace kirsch::testing {
namespace {

std::vector<Dtype> NarrowFloats() {
  std::vector<Dtype> dtypes;
  for (const DtypeInfo& info : kDtypes)
    if (IsFloating(info.dtype) && info.dtype != Dtype::kF32 && !IsOfBlocks(info.dtype)) dtypes.push_back(info.dtype);
  return dtypes;
}

Target TargetWith(bool avx512) {
  Target target = TestTarget(avx512);
  target.features.push_back("f16c");
  if (avx512) target.features.push_back("avx512bw");
  return target;
}

// out[i] = lhs[i], for all bit patterns: whole vectors, or vectors of `lanes` - 1 elements.
LoopProgram ProgramOf(Dtype dtype, int lanes, bool part, const Target& target) {
  const int count = part ? lanes - 1 : lanes;
  const std::string name = Cat("widen_", std::string(Info(dtype).name), "_", lanes, "_", part ? 1 : 0);
  ProcedureBuilder builder(name);
  const VarId from = builder.PointerParameter("lhs", dtype, false);
  builder.PointerParameter("rhs", dtype, false);
  const VarId to = builder.PointerParameter("out", Dtype::kF32, true);
  builder.PointerParameter("scratch", Dtype::kF32, true);
  builder.IndexParameter(kThread);
  builder.IndexParameter(kThreads);
  const VarId vector = builder.Vector("v", Dtype::kF32, lanes);
  builder.Loop(Constant(2 * int64_t{SignBit(dtype)} / lanes), [&](VarId trip) {
    builder.Do(Load{vector, {from, Plus(Constant(0), trip, lanes)}, count});
    builder.Do(Store{vector, {to, Plus(Constant(0), trip, lanes)}, lanes});
  });
  // The last pattern again, in all lanes.
  builder.Do(Broadcast{vector, At(from, 2 * int64_t{SignBit(dtype)} - 1), 1});
  builder.Do(Store{vector, At(to, 2 * int64_t{SignBit(dtype)}), lanes});
  LoopProgram program;
  program.name = name;
  program.tensors = {{"lhs", dtype}, {"rhs", dtype}, {"out", Dtype::kF32, true}};
  program.procedures.push_back(std::move(builder).Build());
  program.features = target.features;
  program.masks = target.HasFeature("avx512f");
  return program;
}

using Kernel = void (*)(const void*, const void*, void*, void*, size_t, size_t);

// Signalling NaNs may become quiet.
bool IsSame(float got, float expected) {
  if (std::isnan(expected)) return std::isnan(got) && std::signbit(got) == std::signbit(expected);
  return std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(expected);
}

void Check(Kernel kernel, Dtype dtype, int lanes, bool part) {
  const size_t patterns = 2 * size_t{SignBit(dtype)};
  std::vector<char> from(patterns * static_cast<size_t>(Bytes(dtype)));
  for (size_t i = 0; i < patterns; ++i)
    std::memcpy(&from[i * static_cast<size_t>(Bytes(dtype))], &i, static_cast<size_t>(Bytes(dtype)));
  std::vector<float> to(patterns + static_cast<size_t>(lanes), -1);
  kernel(from.data(), nullptr, to.data(), nullptr, 0, 1);
  for (size_t i = 0; i < to.size(); ++i) {
    const bool read = !part || i >= patterns || (i + 1) % static_cast<size_t>(lanes) != 0;
    const auto expected = static_cast<float>(
        read ? LoadElement(dtype, from.data(), static_cast<int64_t>(std::min(i, patterns - 1))) : 0);
    ASSERT_TRUE(IsSame(to[i], expected))
        << Info(dtype).name << " " << i << ", lanes " << lanes << ": " << to[i] << ", not " << expected;
  }
}

template <typename Body>
void ForEachCase(const Body& body) {
  for (Dtype dtype : NarrowFloats())
    for (int lanes : {4, 8, 16})
      for (bool part : {false, true}) body(dtype, lanes, part);
}

class WideningTest : public ::testing::TestWithParam<bool> {
 protected:
  const Target target_ = TargetWith(GetParam());
};
INSTANTIATE_TEST_SUITE_P(All, WideningTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

// LLVM parts vectors of 16 in two where it has to, so that what it makes for AVX-512 runs on any host.
TEST_P(WideningTest, JitAgreesOnEveryBitPattern) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  ForEachCase([&](Dtype dtype, int lanes, bool part) {
    if (part && lanes == 16 && !GetParam()) return;
    const auto kernel = JitCompile(ProgramOf(dtype, lanes, part, target_), target_);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    Check(reinterpret_cast<Kernel>((*kernel)->function()), dtype, lanes, part);
  });
}

// Where the host cannot run it, compilers take it at least.
TEST_P(WideningTest, CompilersAgreeOnEveryBitPattern) {
  std::string pattern = (std::filesystem::temp_directory_path() / "kirsch-widen-XXXXXX").string();
  const std::string directory = mkdtemp(pattern.data());
  std::vector<LoopProgram> programs;
  ForEachCase([&](Dtype dtype, int lanes, bool part) {
    if (lanes < 16 || GetParam()) programs.push_back(ProgramOf(dtype, lanes, part, target_));
  });
  std::vector<CKernel> kernels;
  for (const LoopProgram& program : programs) kernels.push_back({&program, false});
  CStyle style;
  style.private_prefix = "static ";
  style.fence = "__asm__ volatile(\"\" ::: \"memory\");";
  style.attributes = false;
  style.helper_name = "helper";
  std::ofstream(directory + "/widen.c")
      << "#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n"
      << PrintC(kernels, style);
  int compilers = 0;
  for (const std::string compiler : {"gcc", "clang-19"}) {
    if (std::system(Cat("command -v ", compiler, " > /dev/null 2>&1").c_str()) != 0) continue;
    ++compilers;
    const std::string library = Cat(directory, "/", compiler, ".so");
    const std::string command =
        Cat(compiler, " -std=c99 -O1 -shared -fPIC -Wall -Wextra -Werror -Wno-unused-parameter -m",
            absl::StrJoin(target_.features, " -m"), " ", directory, "/widen.c -o ", library);
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    if (!HostRuns(target_)) continue;
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    size_t next = 0;
    ForEachCase([&](Dtype dtype, int lanes, bool part) {
      if (lanes == 16 && !GetParam()) return;
      void* const symbol = dlsym(handle, programs[next++].name.c_str());
      ASSERT_NE(symbol, nullptr);
      Check(reinterpret_cast<Kernel>(symbol), dtype, lanes, part);
    });
    dlclose(handle);
  }
  std::filesystem::remove_all(directory);
  if (compilers == 0) GTEST_SKIP() << "no C compiler";
}

}  // namespace
}  // namespace kirsch::testing
