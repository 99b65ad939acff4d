// SPDX-License-Identifier: Apache-2.0
// The machine code that C compilers make of headers: what the search chooses for every combination of types
// and every instruction set is compiled as users do, for CPUs that the host need not be, and its hot loops
// are held against the JIT's. Sums that a compiler copies or spills are the one way in which a header has
// been slower.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "absl/strings/str_join.h"
#include "codegen/c/c_printer.h"
#include "codegen/c/compilation.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/spills.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/codegen_types_testing.h"

namespace kirsch::testing {
namespace {

// Small, large enough for panels and remainders, few rows.
const std::vector<Matmul> kShapes = {{24, 24, 24}, {100, 256, 192}, {4, 256, 512}};

// Of a procedure's innermost loop with the most multiply-adds. (Others do what is left over; a compiler may
// know how much.)
struct Work {
  int multiply_adds = 0;
  int others = 0;  // other instructions on vectors, copies among them, and accesses to the stack
  int loads = 0;   // instructions that only load

  double others_each() const { return static_cast<double>(others) / multiply_adds; }
};

// "vaddps", or "{evex} vaddps".
bool Begins(const std::string& mnemonic, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) {
    return mnemonic.starts_with(word) || mnemonic.find(Cat(" ", word)) != std::string::npos;
  });
}

bool Multiplies(const std::string& mnemonic) {
  return Begins(mnemonic, {"vfmadd", "vdpbf16ps", "vpdp", "vpmaddwd", "vpmulld"});
}

// What another compiler may have as an operand in memory.
bool LoadsOnly(const std::string& mnemonic) {
  return Begins(mnemonic, {"vmovup", "vmovdqu", "vbroadcast", "vpbroadcast"});
}

// By the names of the functions, without `prefix`.
std::map<std::string, Work> WorkOf(const std::string& object, const std::string& prefix) {
  const absl::StatusOr<std::vector<LoopCode>> loops = InnermostLoops(object);
  EXPECT_TRUE(loops.ok()) << loops.status();
  std::map<std::string, Work> works;
  if (!loops.ok()) return works;
  for (const LoopCode& loop : *loops) {
    Work work;
    for (const auto& [mnemonic, count] : loop.mnemonics) {
      if (Multiplies(mnemonic))
        work.multiply_adds += count;
      else if (LoadsOnly(mnemonic))
        work.loads += count;
      else if (Begins(mnemonic, {"v"}))
        work.others += count;
    }
    if (work.multiply_adds == 0 || !loop.function.starts_with(prefix)) continue;
    // GCC calls a version of its own NAME.constprop.0.
    Work& main = works[loop.function.substr(prefix.size(), loop.function.find('.') - prefix.size())];
    if (work.multiply_adds <= main.multiply_adds) continue;
    work.others += loop.vector_spills;
    main = work;
  }
  return works;
}

// The C compilers that know all features of a target, by name.
using Compilers = std::map<std::string, std::string>;

// What a compiler makes of some text at -O2, with these features.
absl::StatusOr<std::string> Compiled(const std::string& compiler, const std::string& text,
                                     const std::vector<std::string>& features) {
  std::vector<std::string> command = {compiler, "-std=c99", "-O2", "-c", "kernels.c", "-o", "kernels.o"};
  for (const std::string& feature : features) command.push_back("-m" + feature);
  const auto compilation = Compilation::Start({{"kernels.c", text}}, command);
  if (!compilation.ok()) return compilation.status();
  if (absl::Status compiled = (*compilation)->Wait(); !compiled.ok()) return compiled;
  return ReadFile((*compilation)->Path("kernels.o"));
}

// Programs are searched for once for both compilers, which takes longer than to compile them.
class HeaderLoopsTest : public ::testing::TestWithParam<VectorIsa> {
 protected:
  HeaderLoopsTest() : target_(TargetOf(GetParam())), model_(target_) {
    for (const char* name : {"gcc", "clang"}) {
      const absl::StatusOr<std::string> path = FindCompiler(name);
      const absl::Status known =
          path.ok() ? Compiled(*path, "int none;\n", target_.features).status() : path.status();
      if (known.ok())
        compilers_[name] = *path;
      else
        RecordProperty(Cat(name, "_skipped"), std::string(known.message()));
    }
  }

  std::vector<LoopProgram> Programs(const MatmulTypes& types, const std::vector<Matmul>& shapes = kShapes) {
    std::vector<LoopProgram> programs;
    for (const Matmul& shape : shapes) {
      const Spec spec = PlaceOperands(TypedSpec(types, shape), Residency::kWarm, target_);
      programs.push_back(
          Lower(Search(spec, model_, memo_, {}).impl, target_, Cat("kernel", programs.size())));
    }
    return programs;
  }

  std::map<std::string, Work> JitOf(const LoopProgram& program) {
    return WorkOf(EmitObject(program, target_).value_or(""), "");
  }

  // Procedures of the program of that number are called so, and then by their name.
  static std::string Prefix(size_t number) { return Cat("program", number, "_"); }

  absl::StatusOr<std::string> HeadersOf(const std::string& compiler,
                                        const std::vector<LoopProgram>& programs) {
    std::string text = "#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n";
    std::vector<std::string> features;
    for (size_t i = 0; i < programs.size(); ++i) {
      CStyle style;
      style.private_prefix = "static __attribute__((noinline)) ";
      style.fence = "__asm__ volatile(\"\" ::: \"memory\");";
      style.attributes = false;
      style.helper_name = Prefix(i).substr(0, Prefix(i).size() - 1);
      const std::vector<CKernel> kernels = {{&programs[i]}};
      Append(&text, PrintC(kernels, style));
      features.insert(features.end(), programs[i].features.begin(), programs[i].features.end());
    }
    return Compiled(compiler, text, features);
  }

  Compilers compilers_;
  const Target target_;
  const CostModel model_;
  HashMemo memo_;
};

INSTANTIATE_TEST_SUITE_P(All, HeaderLoopsTest, ::testing::ValuesIn(VectorIsas()),
                         [](const auto& info) { return std::string(info.param.name); });

// Expects that no loop of the header has more than `most` instructions for each multiply-add beyond the
// JIT's. Returns how many more it has at most.
double ExpectNoMore(const std::map<std::string, Work>& jits, const std::map<std::string, Work>& headers,
                    double most, const std::string& what) {
  double more = 0;
  for (const auto& [name, jit] : jits) {
    const auto header = headers.find(name);
    EXPECT_NE(header, headers.end()) << what << ": " << name;
    if (header == headers.end()) continue;
    EXPECT_LE(header->second.others_each(), jit.others_each() + most)
        << what << ", " << name << ": " << header->second.others << " others for "
        << header->second.multiply_adds << " multiply-adds, the JIT's " << jit.others << " for "
        << jit.multiply_adds;
    more = std::max(more, header->second.others_each() - jit.others_each());
  }
  return more;
}

// The most are three for 12 multiply-adds: with 16 registers GCC keeps an f8's constants on the stack, where
// LLVM has them as operands in memory. Where 24 sums, rhs and such constants take all 32 registers, Clang 19
// copies sums from one to the next: 36 copies for 24.
TEST_P(HeaderLoopsTest, HaveNoMoreInstructionsThanTheJits) {
  constexpr double kMost = 0.26, kMostOfCrowded = 1.55;  // more, for each multiply-add
  if (compilers_.empty()) GTEST_SKIP() << "no compiler knows this target's features";
  for (const MatmulTypes& types : AllTypes()) {
    if (!TargetHas(PlainArithmetic(types.lhs), target_)) continue;
    const std::vector<LoopProgram> programs = Programs(types);
    std::vector<std::map<std::string, Work>> jits;
    for (const LoopProgram& program : programs) jits.push_back(JitOf(program));
    for (const auto& [compiler, path] : compilers_) {
      const std::string what = Cat(compiler, ", ", NameOf(types));
      const absl::StatusOr<std::string> object = HeadersOf(path, programs);
      ASSERT_TRUE(object.ok()) << what << ": " << object.status();
      const bool crowded = compiler == "clang" && GetParam().avx512 && types.rhs == Dtype::kF8E4M3;
      const double most = crowded ? kMostOfCrowded : kMost;
      double more = 0;
      for (size_t i = 0; i < programs.size(); ++i)
        more = std::max(more, ExpectNoMore(jits[i], WorkOf(*object, Prefix(i)), most, what));
      RecordProperty(Cat(NameOf(types), "_", compiler), Cat("at most ", more, " more"));
    }
  }
}

// With two rows, a vector of rhs that is an operand in memory of both multiply-adds is loaded twice.
TEST_P(HeaderLoopsTest, LoadRhsOnceForTwoRows) {
  if (compilers_.empty()) GTEST_SKIP() << "no compiler knows this target's features";
  const std::vector<LoopProgram> programs = Programs({Dtype::kU8, Dtype::kS8, Dtype::kS32}, {{2, 512, 512}});
  const std::map<std::string, Work> jits = JitOf(programs[0]);
  for (const auto& [compiler, path] : compilers_) {
    const absl::StatusOr<std::string> object = HeadersOf(path, programs);
    ASSERT_TRUE(object.ok()) << compiler << ": " << object.status();
    const std::map<std::string, Work> headers = WorkOf(*object, Prefix(0));
    for (const auto& [name, jit] : jits) {
      const Work& header = headers.at(name);
      EXPECT_GE(header.loads * jit.multiply_adds, jit.loads * header.multiply_adds)
          << compiler << ", " << name;
    }
  }
}

}  // namespace
}  // namespace kirsch::testing
