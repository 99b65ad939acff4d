// SPDX-License-Identifier: Apache-2.0
// Sums of f16, by AVX512-FP16: programs as interpreted, compiled and printed, beside a chain of multiply-adds
// that the compiler rounds. What needs the instruction is skipped where the host lacks it.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/host_cpu.h"
#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "codegen/verify/known_contraction.h"
#include "codegen/verify/verify_data.h"
#include "codegen/verify/verify_ladder.h"
#include "codegen/verify/verify_run.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/search.h"
#include "spec/element_array.h"
#include "spec/language/parser.h"
#include "spec/meaning/interpreter.h"
#include "spec/microkernel.h"
#include "spec/program/impl_program.h"
#include "spec/target/targets.h"
#include "tests/testing/kernel_header.h"
#include "tests/testing/oracle.h"
#include "tests/testing/plain_kernel.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"

namespace kirsch {
namespace {

using testing::CompiledKernel;
using testing::Describe;
using testing::MatmulShape;

constexpr MatmulTypes kTypes = {Dtype::kF16Sums, Dtype::kF16Sums, Dtype::kF16Sums};

// Without its unit for tiles, which other hosts lack.
const Target& SapphireRapids() {
  static const Target& target = *[] {
    auto* const without = new Target(FindTarget("sapphirerapids", "")->target);
    without->matrix.reset();
    std::erase_if(without->features, [](const std::string& name) { return name.starts_with("amx"); });
    return without;
  }();
  return target;
}

bool HostSumsF16() { return MissingOnHost(SapphireRapids().features).empty(); }

// Sides that leave a rest in vectors and panels, and those that do not.
std::vector<Spec> SmallSpecs() {
  std::vector<Spec> specs;
  for (uint32_t m = 1; m <= 4; ++m)
    for (uint32_t k = 1; k <= 4; ++k)
      for (uint32_t n : {1u, 2u, 5u, 17u, 33u})
        for (unsigned mix = 0; mix < 8; ++mix) {
          MatmulShape shape{.m = m, .k = k, .n = n, .accumulate = (mix & 4) != 0, .types = kTypes};
          shape.lhs = (mix & 1) != 0 ? Order::kCol : Order::kRow;
          shape.rhs = (mix & 2) != 0 ? Order::kCol : Order::kRow;
          shape.b = 1 + (m + k + n) % 3 / 2;
          shape.out_gap = n % 2;
          specs.push_back(testing::MatmulSpec(shape));
        }
  return specs;
}

// One chain of multiply-adds, each rounded once: a double holds what a product and a sum are, or the product
// is too small to count.
void ExpectChains(const Spec& root, const ConstOperands& in, const void* out) {
  const AxisArray lhs = RootStrides(root, MatmulDims::kLhs), rhs = RootStrides(root, MatmulDims::kRhs),
                  strides = RootStrides(root, MatmulDims::kOut);
  const auto at = [&](int operand, int64_t place) {
    return static_cast<const _Float16*>(in[static_cast<size_t>(operand)])[place];
  };
  for (int64_t b = 0; b < root.size[MatmulDims::kB]; ++b)
    for (int64_t i = 0; i < root.size[MatmulDims::kM]; ++i)
      for (int64_t j = 0; j < root.size[MatmulDims::kN]; ++j) {
        const int64_t place = b * strides[0] + i * strides[1] + j * strides[2];
        _Float16 sum = root.accumulate ? at(MatmulDims::kOut, place) : static_cast<_Float16>(0);
        for (int64_t p = 0; p < root.size[MatmulDims::kK]; ++p)
          sum = static_cast<_Float16>(
              std::fma(static_cast<double>(at(MatmulDims::kLhs, b * lhs[0] + i * lhs[1] + p * lhs[2])),
                       static_cast<double>(at(MatmulDims::kRhs, b * rhs[0] + p * rhs[1] + j * rhs[2])),
                       static_cast<double>(sum)));
        ASSERT_EQ(static_cast<double>(static_cast<const _Float16*>(out)[place]), static_cast<double>(sum))
            << Describe(root) << " " << i << "," << j;
      }
}

// Of a program in a fixed order, on numbers whose sums are rounded.
void ExpectInterpretedChains(const Impl& impl) {
  const Program program = WriteProgram(impl, SapphireRapids());
  const VerifyTrial trial{.kind = InputKind::kSpread, .seed = 3};
  const ContractionProblem problem(impl.spec);
  const auto before = Operands::Create(problem, trial), after = Operands::Create(problem, trial);
  ASSERT_TRUE(before.ok() && after.ok());
  std::vector<void*> callers(program.buffers.size());
  const std::vector<void*> pointers = after->pointers();
  std::copy(pointers.begin(), pointers.end(), callers.begin());
  const absl::Status status = Interpret(program, callers);
  ASSERT_TRUE(status.ok()) << status;
  ExpectChains(impl.spec, OperandsOf(before->pointers()), after->at(MatmulDims::kOut).data());
}

void ExpectCompiledChains(const Impl& impl) {
  const LoopProgram program = Lower(impl, SapphireRapids(), "kernel");
  const VerifyTrial trial{
      .kind = InputKind::kSpread, .seed = 3, .n_threads = program.tasks == 1 ? size_t{1} : 3};
  const ContractionProblem problem(impl.spec);
  const auto before = Operands::Create(problem, trial), after = Operands::Create(problem, trial);
  ASSERT_TRUE(before.ok() && after.ok());
  const auto jit = JitCompile(program, SapphireRapids());
  ASSERT_TRUE(jit.ok()) << jit.status();
  const absl::Status run = RunGuarded(problem, CompiledKernel(**jit, program), trial, *after);
  ASSERT_TRUE(run.ok()) << run;
  ExpectChains(impl.spec, OperandsOf(before->pointers()), after->at(MatmulDims::kOut).data());
}

Impl Best(const Spec& root) {
  const CostModel model(SapphireRapids());
  HashMemo memo;
  return Search(PlaceOperands(root, Residency::kWarm, SapphireRapids()), model, memo, {}).impl;
}

// Whatever follows any first decision of a small spec.
TEST(F16Sums, EveryDecisionOfSmallSpecsIsSound) {
  std::mt19937_64 random(1);
  std::vector<Decision> decisions;
  for (const Spec& spec : SmallSpecs()) {
    EnumerateDecisions(spec, SapphireRapids(), &decisions);
    ASSERT_FALSE(decisions.empty()) << Describe(spec);
    for (const Decision& decision : decisions) {
      const Impl impl = testing::RandomImplFrom(spec, decision, SapphireRapids(), &random);
      ASSERT_TRUE(testing::InterpretedEqualsReference(impl, SapphireRapids())) << Describe(spec) << "\n"
                                                                               << Describe(impl);
    }
  }
}

TEST(F16Sums, RandomProgramsOfLargerSpecsAreSound) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 150; ++round) {
    Spec spec = testing::RandomMatmulSpec(
        {.max_side = 150, .max_flops = 2e6, .types = kTypes, .constants = true, .constant_batches = true},
        &random);
    spec.threads = round % 3 == 0 ? 4 : 1;
    if (round % 2 == 0) spec = testing::WithRandomEpilogue(spec, &random);
    const Impl impl = testing::RandomImpl(spec, SapphireRapids(), &random);
    if (spec.op_info().epilogue.empty()) {
      ASSERT_TRUE(testing::InterpretedEqualsReference(impl, SapphireRapids())) << Describe(impl);
    }
    if (round % 5 != 0 || !HostSumsF16()) continue;
    VerifyOptions options;
    options.header = false;
    const VerifyReport report = VerifyKernel(impl, SapphireRapids(), options);
    ASSERT_TRUE(report.ok) << Describe(spec) << "\n" << report.first_mismatch << "\n" << Describe(impl);
  }
}

TEST(F16Sums, TheInterpreterRoundsEverySumInItsOrder) {
  std::mt19937_64 random(3);
  std::vector<Decision> decisions;
  for (Spec spec : SmallSpecs()) {
    spec.fixed_order = 1;
    EnumerateDecisions(spec, SapphireRapids(), &decisions);
    for (const Decision& decision : decisions) {
      ExpectInterpretedChains(testing::RandomImplFrom(spec, decision, SapphireRapids(), &random));
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(F16Sums, CodeRoundsEverySumInItsOrder) {
  if (!HostSumsF16()) GTEST_SKIP() << "this host lacks " << MissingOnHost(SapphireRapids().features);
  std::mt19937_64 random(4);
  for (Spec spec : SmallSpecs()) {
    spec.fixed_order = 1;
    ExpectCompiledChains(testing::RandomImpl(spec, SapphireRapids(), &random));
    ASSERT_FALSE(HasFailure());
  }
  for (int round = 0; round < 40; ++round) {
    Spec spec = testing::RandomMatmulSpec({.max_side = 130, .types = kTypes}, &random);
    spec.fixed_order = 1;
    spec.threads = round % 3 == 0 ? 4 : 1;
    ExpectCompiledChains(round % 2 == 0 ? Best(spec) : testing::RandomImpl(spec, SapphireRapids(), &random));
    ASSERT_FALSE(HasFailure());
  }
}

// Interpreter, JIT and header; where the host lacks the instruction, the interpreter alone.
TEST(F16Sums, ChosenProgramsAreRight) {
  for (const char* text :
       {"64x64x64", "7x33x65", "3:5x40x31 accumulate", "1x300x100 rhs=col", "9x30x20 lhs=col rhs=col out=col",
        "12x100x70 const-rhs", "6x20x40 epilogue=mul:n,add:m,max:mn", "5x30x50 epilogue=add:0.1,mul:-3,relu",
        "4x9000x40", "3x5000x7 rhs=col", "8x50x200 column-blocks=48", "30x30x30 fixed-order lda=40 ldc=50"}) {
    const std::string spec = std::string("matmul f16*f16+f16->f16 ") + text;
    const absl::StatusOr<ParsedSpec> parsed = ParseSpec(spec);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    const Impl impl = Best(parsed->spec);
    HeaderOptions header;
    header.swapped = parsed->swapped;
    header.parameters = parsed->parameters;
    const VerifyReport report = VerifyKernel(impl, SapphireRapids(), {}, header);
    EXPECT_TRUE(report.ok) << spec << ": " << report.first_mismatch;
    EXPECT_EQ(report.verdict == Verdict::kVerified, HostSumsF16()) << spec;
  }
}

TEST(F16Sums, TheLoopIsOfMultiplyAddsOf32Lanes) {
  const absl::StatusOr<std::string> assembly = EmitAssembly(
      Lower(Best(ParseSpec("matmul f16*f16+f16->f16 64x64x64")->spec), SapphireRapids(), "kernel"),
      SapphireRapids());
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  EXPECT_NE(assembly->find("vfmadd231ph"), assembly->npos);
  EXPECT_NE(assembly->find("%zmm"), assembly->npos);
  EXPECT_EQ(assembly->find("vcvtph2ps"), assembly->npos);
}

// The bound grows with f16's unit, and tells sums of f16 from such that lack a bit.
TEST(F16Sums, TheBoundHasTheirUnit) {
  const Spec spec = testing::MatmulSpec({.m = 20, .k = 50, .n = 20, .types = kTypes});
  const double u = 0x1p-11;
  EXPECT_NEAR(ErrorBound(spec), 50 * u / (1 - 50 * u), 1e-9);
  EXPECT_NEAR(ErrorBound(testing::MatmulSpec({.k = 512, .types = kTypes})), std::pow(1 + u, 512) - 1, 1e-9);
  EXPECT_GT(ErrorBound(testing::MatmulSpec({.k = 4096, .types = kTypes})), 1);  // and is finite
  EXPECT_LT(ErrorBound(testing::MatmulSpec({.k = 4096, .types = kTypes})), 8);
  const auto passes = [&](InputKind kind, const testing::Flaw& flaw) {
    return Ladder(ContractionProblem(spec), {1000, {{.kind = kind}}})
               .Climb(testing::PlainKernel(spec, flaw), 100)
               .outcome == RungOutcome::kPassed;
  };
  const auto cut = [](double sum) { return std::round(sum * 4) / 4; };
  const auto dropped = [](int64_t, int64_t, int64_t p, double product) { return p == 49 ? 0 : product; };
  for (InputKind kind : {InputKind::kIntegers, InputKind::kUniform, InputKind::kSpread})
    EXPECT_TRUE(passes(kind, {}));
  EXPECT_FALSE(passes(InputKind::kUniform, {.sum = cut}));
  EXPECT_FALSE(passes(InputKind::kIntegers, {.product = dropped}));
}

TEST(F16Sums, IntegersAreExactUnlessThereAreVeryMany) {
  for (uint32_t k : {1u, 20u, 300u, 2048u, 16384u})
    EXPECT_TRUE(SumsOfIntegersAreExact(testing::MatmulSpec({.k = k, .types = kTypes}))) << k;
  EXPECT_FALSE(SumsOfIntegersAreExact(testing::MatmulSpec({.k = 1 << 20, .types = kTypes})));
  EXPECT_TRUE(SumsOfIntegersAreExact(testing::MatmulSpec({.k = 1 << 20})));
}

TEST(F16Sums, AreNamedBetweenTheFactorsAndTheOutput) {
  EXPECT_EQ(ParseSpec("matmul f16*f16+f16->f16 8x8x8 accumulate")->text,
            "matmul f16*f16+f16->f16 8x8x8 accumulate");
  EXPECT_EQ(ParseSpec("matmul f16*f16+f32->f32 8x8x8")->text, "matmul f16*f16->f32 8x8x8");
  EXPECT_EQ(ParseSpec("matmul f16*f16+f64->f16 8x8x8").status().message(),
            "spec:1:16: expected a type that products of f16 and f16 are summed in, got 'f64'");
  EXPECT_EQ(ParseSpec("matmul f16*f16+f17->f16 8x8x8").status().message().substr(0, 10), "spec:1:16:");
  EXPECT_FALSE(ParseSpec("matmul f16*f16+f16->f32 8x8x8").ok());
  EXPECT_FALSE(ParseSpec("matmul f16*f16->f16 8x8x8").ok());
  EXPECT_EQ(
      ParseSpec("matmul f16*f16+f16->f16 8x8x8 epilogue=relu,gelu").status().message(),
      "spec:1:45: expected add, sub, mul, max, min, relu, maxnum or minnum after sums of f16, got 'gelu'");
  EXPECT_EQ(ParseSpec("matmul f16*f16+f16->f16 8x8x8 epilogue=add:65520").status().message(),
            "spec:1:44: expected n, m, mn, scalar or a finite f16, got '65520'");
}

}  // namespace
}  // namespace kirsch
