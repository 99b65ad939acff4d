// SPDX-License-Identifier: Apache-2.0
// Narrow floats as vectors of f32, and floats of 8 bits that are decoded byte by byte as such of bf16, too:
// all bit patterns, by the code that LLVM makes and by that of C compilers, against spec/element.h bit for
// bit.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "codegen/c/c_printer.h"
#include "codegen/kernels/floats8_decoder.h"
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
    if (IsFloating(info.dtype) && IsNarrow(info.dtype) && !IsOfBlocks(info.dtype))
      dtypes.push_back(info.dtype);
  return dtypes;
}

Target TargetWith(bool avx512) {
  Target target = TestTarget(avx512);
  target.features.push_back("f16c");
  if (avx512) target.features.insert(target.features.end(), {"avx512bw", "avx512vbmi"});
  return target;
}

// A program whose entry's body `write(builder, lhs, out)` writes.
template <typename Write>
LoopProgram WriteProgram(const std::string& name, Dtype from, Dtype to, const Target& target,
                         const Write& write) {
  ProcedureBuilder builder(name);
  const VarId lhs = builder.PointerParameter("lhs", from, false);
  builder.PointerParameter("rhs", from, false);
  const VarId out = builder.PointerParameter("out", to, true);
  builder.PointerParameter("scratch", Dtype::kF32, true);
  builder.IndexParameter(kThread);
  builder.IndexParameter(kThreads);
  write(builder, lhs, out);
  LoopProgram program;
  program.name = name;
  program.tensors = {{"lhs", from}, {"rhs", from}, {"out", to, true}};
  program.procedures.push_back(std::move(builder).Build());
  program.features = target.features;
  program.masks = target.HasFeature("avx512f");
  return program;
}

// out[i] = lhs[i], for all bit patterns: whole vectors, or vectors of `lanes` - 1 elements.
LoopProgram WideningProgram(Dtype dtype, int lanes, bool part, const Target& target) {
  const int count = part ? lanes - 1 : lanes;
  const std::string name = Cat("widen_", std::string(Info(dtype).name), "_", lanes, "_", part ? 1 : 0);
  return WriteProgram(name, dtype, Dtype::kF32, target, [&](ProcedureBuilder& builder, VarId from, VarId to) {
    const VarId vector = builder.Vector("v", Dtype::kF32, lanes);
    builder.Loop(Constant(2 * int64_t{SignBit(dtype)} / lanes), [&](VarId trip) {
      builder.Do(Load{vector, {from, Plus(Constant(0), trip, lanes)}, count});
      builder.Do(Store{vector, {to, Plus(Constant(0), trip, lanes)}, lanes});
    });
    // The last pattern again, in all lanes.
    builder.Do(Broadcast{vector, At(from, 2 * int64_t{SignBit(dtype)} - 1), 1});
    builder.Do(Store{vector, At(to, 2 * int64_t{SignBit(dtype)}), lanes});
  });
}

constexpr int kCodes = 256;

// out[i] = lhs[i], for all codes of floats of 8 bits: vectors of so many codes, or of half as many.
LoopProgram DecodingProgram(Dtype number, int bytes, bool part, bool by_tables, const Target& target) {
  const int count = part ? bytes / 2 : bytes, lanes = bytes / Bytes(number);
  const std::string name =
      Cat("decode_", Info(number).name, "_", bytes, part ? "_part" : "", by_tables ? "_by_tables" : "");
  return WriteProgram(name, Dtype::kU8, number, target, [&](ProcedureBuilder& builder, VarId from, VarId to) {
    Floats8Decoder decoder(builder, number, bytes, by_tables);
    const VarId vector = builder.Vector("v", number, lanes);
    builder.Loop(Constant(kCodes / count), [&](VarId trip) {
      decoder.Begin({from, Plus(Constant(0), trip, count)}, count);
      for (int code = 0; code < count; code += lanes) {
        decoder.Read(vector, code);
        builder.Do(Store{vector, {to, Plus(Constant(code), trip, count)}, lanes});
      }
    });
  });
}

using Kernel = void (*)(const void*, const void*, void*, void*, size_t, size_t);

// Signalling NaNs may become quiet.
bool IsSame(float got, float expected) {
  if (std::isnan(expected)) return std::isnan(got) && std::signbit(got) == std::signbit(expected);
  return std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(expected);
}

void CheckWidening(Kernel kernel, Dtype dtype, int lanes, bool part) {
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

void CheckDecoding(Kernel kernel, Dtype number, const std::string& name) {
  std::vector<uint8_t> codes(kCodes);
  std::iota(codes.begin(), codes.end(), uint8_t{0});
  std::vector<float> to(kCodes, -1);  // or half of it
  kernel(codes.data(), nullptr, to.data(), nullptr, 0, 1);
  for (int code = 0; code < kCodes; ++code) {
    const auto got = static_cast<float>(LoadElement(number, to.data(), code));
    const auto expected = static_cast<float>(LoadElement(Dtype::kSfp8, codes.data(), code));
    ASSERT_TRUE(IsSame(got, expected)) << name << " " << code << ": " << got << ", not " << expected;
  }
}

struct Case {
  LoopProgram program;
  std::function<void(Kernel)> check;
};

// LLVM parts vectors of 16 in two where it has to, so that what it makes for AVX-512 runs on any host.
std::vector<Case> CasesOf(const Target& target, bool avx512, bool for_c) {
  std::vector<Case> cases;
  for (Dtype dtype : NarrowFloats())
    for (int lanes : {4, 8, 16})
      for (bool part : {false, true})
        if (avx512 || lanes < 16 || (!for_c && !part))
          cases.push_back({WideningProgram(dtype, lanes, part, target),
                           [=](Kernel kernel) { CheckWidening(kernel, dtype, lanes, part); }});
  for (Dtype number : {Dtype::kF32, Dtype::kBf16})
    for (int bytes : {16, 32, 64})
      for (bool part : {false, true})
        for (bool by_tables : {false, true}) {
          if (!avx512 && (bytes > 32 || part)) continue;
          if (by_tables && bytes < 64) continue;
          LoopProgram program = DecodingProgram(number, bytes, part, by_tables, target);
          const std::string name = program.name;
          cases.push_back({std::move(program), [=](Kernel kernel) { CheckDecoding(kernel, number, name); }});
        }
  return cases;
}

class WideningTest : public ::testing::TestWithParam<bool> {
 protected:
  const Target target_ = TargetWith(GetParam());
};
INSTANTIATE_TEST_SUITE_P(All, WideningTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

TEST_P(WideningTest, JitAgreesOnEveryBitPattern) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  for (const Case& one : CasesOf(target_, GetParam(), /*for_c=*/false)) {
    const auto kernel = JitCompile(one.program, target_);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    one.check(reinterpret_cast<Kernel>((*kernel)->function()));
  }
}

// Where the host cannot run it, compilers take it at least.
TEST_P(WideningTest, CompilersAgreeOnEveryBitPattern) {
  std::string pattern = (std::filesystem::temp_directory_path() / "kirsch-widen-XXXXXX").string();
  const std::string directory = mkdtemp(pattern.data());
  const std::vector<Case> cases = CasesOf(target_, GetParam(), /*for_c=*/true);
  std::vector<CKernel> kernels;
  for (const Case& one : cases) kernels.push_back({&one.program, false});
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
    for (const Case& one : cases) {
      void* const symbol = dlsym(handle, one.program.name.c_str());
      ASSERT_NE(symbol, nullptr);
      one.check(reinterpret_cast<Kernel>(symbol));
    }
    dlclose(handle);
  }
  std::filesystem::remove_all(directory);
  if (compilers == 0) GTEST_SKIP() << "no C compiler";
}

}  // namespace
}  // namespace kirsch::testing
