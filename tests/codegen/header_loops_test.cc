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
#include "codegen/llvm/analyser.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/spills.h"
#include "memo/hash_memo.h"
#include "search/search.h"
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
  int others = 0;     // other instructions on vectors, copies among them, and accesses to the stack
  int loads = 0;      // instructions that only load
  double cycles = 0;  // of a trip, by LLVM's analyser; 0 if it can't tell

  double others_each() const { return static_cast<double>(others) / multiply_adds; }
  double cycles_each() const { return cycles / multiply_adds; }
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
std::map<std::string, Work> WorkOf(const std::string& object, const Target& target,
                                   const std::string& prefix) {
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
    work.cycles = AnalysedCycles(loop, target).value_or(0);
    main = work;
  }
  return works;
}

class HeaderLoopsTest : public ::testing::TestWithParam<std::tuple<Way, std::string>> {
 protected:
  HeaderLoopsTest() : target_(TargetOf(std::get<0>(GetParam()))), model_(target_) {}

  std::vector<LoopProgram> Programs(const MatmulTypes& types, const std::vector<Matmul>& shapes = kShapes) {
    std::vector<LoopProgram> programs;
    for (const Matmul& shape : shapes) {
      const Spec spec = PlaceOperands(TypedSpec(types, shape), Residency::kWarm, target_);
      programs.push_back(
          Lower(Search(spec, model_, memo_, {}).impl, target_, Cat("kernel", programs.size())));
    }
    return programs;
  }

  // What the compiler makes of some text at -O2, with these features.
  absl::StatusOr<std::string> Compiled(const std::string& text, const std::vector<std::string>& features) {
    std::vector<std::string> command = {*compiler_, "-std=c99", "-O2", "-c", "kernels.c", "-o", "kernels.o"};
    for (const std::string& feature : features) command.push_back("-m" + feature);
    const auto compilation = Compilation::Start({{"kernels.c", text}}, command);
    if (!compilation.ok()) return compilation.status();
    if (absl::Status compiled = (*compilation)->Wait(); !compiled.ok()) return compiled;
    return ReadFile((*compilation)->Path("kernels.o"));
  }

  // Procedures of the program of that number are called so, and then by their name.
  static std::string Prefix(size_t number) { return Cat("program", number, "_"); }

  absl::StatusOr<std::string> Compiled(const std::vector<LoopProgram>& programs) {
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
    return Compiled(text, features);
  }

  const absl::StatusOr<std::string> compiler_ = FindCompiler(std::get<1>(GetParam()));
  const Target target_;
  const CostModel model_;
  HashMemo memo_;
};

INSTANTIATE_TEST_SUITE_P(All, HeaderLoopsTest,
                         ::testing::Combine(::testing::ValuesIn(Ways()), ::testing::Values("gcc", "clang")),
                         [](const auto& info) {
                           return Cat(std::get<0>(info.param).name, "_", std::get<1>(info.param));
                         });

// The most are three for 12 multiply-adds: with 16 registers GCC keeps an f8's constants on the stack, where
// LLVM has them as operands in memory.
TEST_P(HeaderLoopsTest, HaveNoMoreInstructionsThanTheJits) {
  constexpr double kMost = 0.26;  // more, for each multiply-add
  if (!compiler_.ok()) GTEST_SKIP() << compiler_.status().message();
  if (const auto known = Compiled("int none;\n", target_.features); !known.ok())
    GTEST_SKIP() << std::get<1>(GetParam()) << ": " << known.status().message();
  for (const MatmulTypes& types : AllTypes()) {
    const std::vector<LoopProgram> programs = Programs(types);
    const absl::StatusOr<std::string> object = Compiled(programs);
    ASSERT_TRUE(object.ok()) << object.status();
    double more = 0, cycles = 0;  // the most of any procedure
    for (size_t i = 0; i < programs.size(); ++i) {
      const std::map<std::string, Work> headers = WorkOf(*object, target_, Prefix(i));
      for (const auto& [name, jit] : WorkOf(EmitObject(programs[i], target_).value_or(""), target_, "")) {
        const auto header = headers.find(name);
        ASSERT_NE(header, headers.end()) << NameOf(types) << ": " << name;
        EXPECT_LE(header->second.others_each(), jit.others_each() + kMost)
            << NameOf(types) << ", " << name << ": " << header->second.others << " others for "
            << header->second.multiply_adds << " multiply-adds, the JIT's " << jit.others << " for "
            << jit.multiply_adds;
        more = std::max(more, header->second.others_each() - jit.others_each());
        if (jit.cycles > 0) cycles = std::max(cycles, header->second.cycles_each() / jit.cycles_each());
      }
    }
    RecordProperty(NameOf(types),
                   Cat("at most ", more, " more; cycles by LLVM's analyser ", cycles, " of the JIT's"));
  }
}

// With two rows, a vector of rhs that is an operand in memory of both multiply-adds is loaded twice.
TEST_P(HeaderLoopsTest, LoadRhsOnceForTwoRows) {
  if (!compiler_.ok()) GTEST_SKIP() << compiler_.status().message();
  const std::vector<LoopProgram> programs = Programs({Dtype::kU8, Dtype::kS8, Dtype::kS32}, {{2, 512, 512}});
  const absl::StatusOr<std::string> object = Compiled(programs);
  if (!object.ok()) GTEST_SKIP() << object.status().message();
  const std::map<std::string, Work> headers = WorkOf(*object, target_, Prefix(0));
  for (const auto& [name, jit] : WorkOf(EmitObject(programs[0], target_).value_or(""), target_, "")) {
    const Work& header = headers.at(name);
    EXPECT_GE(header.loads * jit.multiply_adds, jit.loads * header.multiply_adds) << name;
    RecordProperty(name, Cat(header.loads, " loads for ", header.multiply_adds));
  }
}

}  // namespace
}  // namespace kirsch::testing
