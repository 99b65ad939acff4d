// The machine code that C compilers make of headers: what the search chooses for every combination of types
// and every instruction set is compiled as users do, for CPUs that the host need not be, and its hot loops
// are held against the JIT's. Sums that a compiler copies or spills are the one way in which a header has
// been slower.
#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "codegen/c/c_printer.h"
#include "codegen/c/compilation.h"
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

// Of the innermost loops with multiply-adds.
struct Work {
  int multiply_adds = 0, excess = 0;  // copies of vectors, and their accesses to the stack

  double excess_each() const { return static_cast<double>(excess) / std::max(1, multiply_adds); }
};

bool Multiplies(const std::string& mnemonic) {
  for (const char* prefix : {"vfmadd", "vdpbf16ps", "vpdp", "vpmaddwd", "vpmulld"})
    if (mnemonic.starts_with(prefix) || mnemonic.find(Cat(" ", prefix)) != std::string::npos) return true;
  return false;
}

Work WorkOf(const std::string& object) {
  const absl::StatusOr<std::vector<LoopCode>> loops = InnermostLoops(object);
  EXPECT_TRUE(loops.ok()) << loops.status();
  Work work;
  if (!loops.ok()) return work;
  for (const LoopCode& loop : *loops) {
    int multiply_adds = 0;
    for (const auto& [mnemonic, count] : loop.mnemonics) multiply_adds += Multiplies(mnemonic) ? count : 0;
    if (multiply_adds > 0) work.excess += loop.vector_spills + loop.register_moves;
    work.multiply_adds += multiply_adds;
  }
  return work;
}

class HeaderLoopsTest : public ::testing::TestWithParam<std::tuple<Way, std::string>> {
 protected:
  HeaderLoopsTest() : target_(TargetOf(std::get<0>(GetParam()))), model_(target_) {}

  std::vector<LoopProgram> Programs(const MatmulTypes& types) {
    std::vector<LoopProgram> programs;
    for (const Matmul& shape : kShapes) {
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

  absl::StatusOr<std::string> Compiled(const std::vector<LoopProgram>& programs) {
    std::vector<CKernel> kernels;
    std::vector<std::string> features;
    for (const LoopProgram& program : programs) {
      kernels.push_back({&program});
      features.insert(features.end(), program.features.begin(), program.features.end());
    }
    CStyle style;
    style.private_prefix = "static __attribute__((noinline)) ";
    style.fence = "__asm__ volatile(\"\" ::: \"memory\");";
    style.attributes = false;
    style.helper_name = "helper";
    return Compiled(
        Cat("#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n", PrintC(kernels, style)),
        features);
  }

  Work JitWork(const std::vector<LoopProgram>& programs) const {
    Work all;
    for (const LoopProgram& program : programs) {
      const Work work = WorkOf(EmitObject(program, target_).value_or(""));
      all.multiply_adds += work.multiply_adds;
      all.excess += work.excess;
    }
    return all;
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

// GCC 12 copies a sum or two where a trip adds to it twice; that is less than a tenth of an instruction for
// each multiply-add, and conversions of 8-bit floats are two tenths.
TEST_P(HeaderLoopsTest, SumsStayWhereTheyAre) {
  constexpr double kMost = 0.25;
  if (!compiler_.ok()) GTEST_SKIP() << compiler_.status().message();
  if (const auto known = Compiled("int none;\n", target_.features); !known.ok())
    GTEST_SKIP() << std::get<1>(GetParam()) << ": " << known.status().message();
  for (const MatmulTypes& types : AllTypes()) {
    const std::vector<LoopProgram> programs = Programs(types);
    const absl::StatusOr<std::string> object = Compiled(programs);
    ASSERT_TRUE(object.ok()) << object.status();
    const Work header = WorkOf(*object), jit = JitWork(programs);
    EXPECT_GT(header.multiply_adds, 0) << NameOf(types);
    EXPECT_LE(header.excess_each(), jit.excess_each() + kMost)
        << NameOf(types) << ": " << header.excess << " of " << header.multiply_adds << ", the JIT's "
        << jit.excess << " of " << jit.multiply_adds;
    RecordProperty(NameOf(types), Cat(header.excess, "/", header.multiply_adds));
  }
}

}  // namespace
}  // namespace kirsch::testing
