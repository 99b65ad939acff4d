// SPDX-License-Identifier: Apache-2.0
// Sums in a fixed order, and blocks of columns: the same bits however the work is split.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "codegen/verify/known_contraction.h"
#include "codegen/verify/verify.h"
#include "codegen/verify/verify_run.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/search.h"
#include "spec/element_array.h"
#include "spec/language/parser.h"
#include "tests/testing/kernel_header.h"
#include "tests/testing/on_target_test.h"
#include "tests/testing/plain_kernel.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::CompiledKernel;

// One chain of fused multiply-adds after the other, as the spec says, in sums of the type.
template <typename Sum>
void ExpectSums(const Spec& root, const Operands& before, const void* out) {
  const AxisArray lhs = RootStrides(root, MatmulDims::kLhs), rhs = RootStrides(root, MatmulDims::kRhs),
                  strides = RootStrides(root, MatmulDims::kOut);
  const ConstOperands in = OperandsOf(before.pointers());
  const auto at = [&](int operand, int64_t place) {
    const Dtype dtype = root.tensor(operand).dtype;
    return static_cast<Sum>(LoadElement(dtype, in[static_cast<size_t>(operand)], place));
  };
  for (int64_t b = 0; b < root.size[MatmulDims::kB]; ++b)
    for (int64_t i = 0; i < root.size[MatmulDims::kM]; ++i)
      for (int64_t j = 0; j < root.size[MatmulDims::kN]; ++j) {
        const int64_t place = b * strides[0] + i * strides[1] + j * strides[2];
        Sum sum = root.accumulate ? at(MatmulDims::kOut, place) : 0;
        for (int64_t p = 0; p < root.size[MatmulDims::kK]; ++p)
          sum = std::fma(at(MatmulDims::kLhs, b * lhs[0] + i * lhs[1] + p * lhs[2]),
                         at(MatmulDims::kRhs, b * rhs[0] + p * rhs[1] + j * rhs[2]), sum);
        Sum stored;
        StoreElement(root.out().dtype, sum, &stored, 0);
        ASSERT_EQ(LoadElement(root.out().dtype, out, place), LoadElement(root.out().dtype, &stored, 0))
            << testing::Describe(root) << " " << i << "," << j;
      }
}

void Expect(const Spec& root, const Operands& before, const void* out) {
  if (AccumulatorOf(root) == Dtype::kF64) return ExpectSums<double>(root, before, out);
  ExpectSums<float>(root, before, out);
}

void ExpectOfProgram(const Impl& impl, const Spec& root, const Target& target) {
  const LoopProgram program = Lower(impl, target, "kernel");
  // What is a single task, every thread would do.
  const VerifyTrial trial{
      .kind = InputKind::kSpread, .seed = 3, .n_threads = program.tasks == 1 ? size_t{1} : 3};
  const ContractionProblem problem(root);
  const auto before = Operands::Create(problem, trial), after = Operands::Create(problem, trial);
  ASSERT_TRUE(before.ok() && after.ok());
  const auto jit = JitCompile(program, target);
  ASSERT_TRUE(jit.ok()) << jit.status();
  const absl::Status run = RunGuarded(problem, CompiledKernel(**jit, program), trial, *after);
  ASSERT_TRUE(run.ok()) << run;
  Expect(root, *before, after->at(MatmulDims::kOut).data());
}

Impl Best(const Spec& root, const Target& target) {
  const CostModel model(target);
  HashMemo memo;
  return Search(PlaceOperands(root, Residency::kWarm, target), model, memo, {}).impl;
}

using EveryTarget = testing::OnTargetTest;
INSTANTIATE_TEST_SUITE_P(
    , EveryTarget,
    ::testing::Values(testing::Avx2Target(), testing::Avx512Target(), testing::Avx512DotTarget()),
    [](const auto& info) {
      return std::string(info.index == 0 ? "Avx2" : info.index == 1 ? "Avx512" : "Avx512Dot");
    });

TEST_P(EveryTarget, ChosenAndDrawnProgramsKeepTheOrder) {
  std::mt19937_64 random(21);
  int round = 0;
  for (const MatmulTypes& types : testing::EveryTypes()) {
    if (!IsFloating(types.lhs)) continue;
    for (int i = 0; i < 12 && !HasFailure(); ++i, ++round) {
      Spec root = testing::RandomMatmulSpec({.max_side = 80, .types = types}, &random);
      root.fixed_order = 1;
      root.lhs_as = LhsAs::kItself;  // nothing is rounded where the order is fixed
      root.threads = round % 3 == 0 ? 4 : 1;
      const Impl impl =
          round % 2 == 0 ? Best(root, GetParam()) : testing::RandomImpl(root, GetParam(), &random);
      ExpectOfProgram(impl, root, GetParam());
    }
  }
}

// A row has the same bits in every matmul that it is a row of. Without the fixed order, it has not.
TEST_P(EveryTarget, BitsDoNotDependOnM) {
  const auto row = [&](uint32_t m, bool fixed) {
    Spec root = testing::MatmulSpec({.m = m, .k = 301, .n = 40, .rhs = Order::kCol});
    root.fixed_order = fixed ? 1 : 0;
    const LoopProgram program = Lower(Best(root, GetParam()), GetParam(), "kernel");
    const auto jit = JitCompile(program, GetParam());
    const VerifyTrial trial{.kind = InputKind::kSpread, .seed = 9};
    const ContractionProblem problem(root);
    const auto operands = Operands::Create(problem, trial);
    EXPECT_TRUE(RunGuarded(problem, CompiledKernel(**jit, program), trial, *operands).ok());
    const auto* out = static_cast<const float*>(operands->at(MatmulDims::kOut).data());
    return std::vector<float>(out, out + 40);
  };
  for (uint32_t m : {2u, 3u, 7u, 16u, 40u}) EXPECT_EQ(row(m, true), row(1, true)) << m;
  EXPECT_NE(row(40, false), row(1, false));
}

TEST_P(EveryTarget, IntegersNeedNoOrder) {
  EXPECT_EQ(ParseSpec("matmul u8*s8->s32 3x4x5 fixed-order")->spec,
            ParseSpec("matmul u8*s8->s32 3x4x5")->spec);
  EXPECT_NE(ParseSpec("matmul f32 3x4x5 fixed-order")->spec, ParseSpec("matmul f32 3x4x5")->spec);
}

// Each of the ranges, on its own, computes its blocks and nothing else.
TEST_P(EveryTarget, RangesCoverTheColumnsOnce) {
  for (const char* text :
       {"matmul f32 5x30x200 column-blocks=48", "matmul f32 5x30x200 out=col column-blocks=7",
        "matmul f32 1x300x100 rhs=col column-blocks=64", "matmul f32 2:3x7x40 column-blocks=100",
        "matmul f32 2:8x3x40 column-blocks=16 accumulate",
        "matmul bf16 3x7x65 column-blocks=16 epilogue=add:n"}) {
    const Spec root = ParseSpec(text)->spec;
    const Impl impl = Best(root, GetParam());
    EXPECT_TRUE(VerifyKernel(impl, GetParam()).ok) << text << VerifyKernel(impl, GetParam()).first_mismatch;
    const LoopProgram program = Lower(impl, GetParam(), "kernel");
    EXPECT_EQ(program.block, root.block);
    const uint32_t columns = root.size[static_cast<size_t>(BlockDim(root))];
    EXPECT_EQ(program.tasks, (columns + root.block - 1) / root.block) << text;
  }
}

TEST_P(EveryTarget, ARangeTouchesNoOtherBlock) {
  const Spec root = ParseSpec("matmul f32 5x30x200 column-blocks=48")->spec;
  const LoopProgram program = Lower(Best(root, GetParam()), GetParam(), "kernel");
  const auto jit = JitCompile(program, GetParam());
  const VerifyTrial trial{};
  // Blocks begin at 0, 48, 96, 144 and 192.
  for (const auto& [first, end, from, to] : std::vector<std::array<size_t, 4>>{{0, 200, 0, 200},
                                                                               {0, 48, 0, 48},
                                                                               {1, 49, 48, 96},
                                                                               {48, 97, 48, 144},
                                                                               {193, 200, 0, 0},
                                                                               {150, 193, 192, 200}}) {
    const ContractionProblem problem(root);
    const auto operands = Operands::Create(problem, trial);
    Kernel kernel = CompiledKernel(**jit, program);
    kernel.run = [&, run = kernel.run](KernelCall call) {
      call.thread = first, call.n_threads = end;
      run(call);
    };
    ASSERT_TRUE(RunGuarded(problem, kernel, trial, *operands).ok());
    const auto* out = static_cast<const float*>(operands->at(MatmulDims::kOut).data());
    for (size_t i = 0; i < 5; ++i)
      for (size_t j = 0; j < 200; ++j)
        EXPECT_EQ(!std::isnan(out[i * 200 + j]), j >= from && j < to) << first << " " << end << " " << j;
  }
}

TEST(BlocksTest, ErrorsSayWhere) {
  EXPECT_EQ(ParseSpec("matmul f32 8x8x8 column-blocks=0").status().message(),
            "spec:1:32: expected columns of a block from 1 to 65535, got '0'");
  EXPECT_EQ(ParseSpec("matmul f32 8x8x8 column-blocks").status().message().substr(0, 10), "spec:1:18:");
  EXPECT_EQ(ParseSpec("matmul f32 8x8x8 column-blocks=3 fixed-order")->text,
            "matmul f32 8x8x8 fixed-order column-blocks=3");
}

}  // namespace
}  // namespace kirsch
