// SPDX-License-Identifier: Apache-2.0
// Kernels for a caller's own threads: any number of them, each with a range of columns.
#include <gtest/gtest.h>

#include <barrier>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "codegen/verify/known_contraction.h"
#include "codegen/verify/verify_run.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/language/parser.h"
#include "spec/program/impl_program.h"
#include "spec/storage.h"
#include "tests/testing/kernel_header.h"
#include "tests/testing/on_target_test.h"
#include "tests/testing/plain_kernel.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::CompiledKernel;

Impl Best(const Spec& root, const Target& target) {
  const CostModel model(target);
  HashMemo memo;
  return Search(PlaceOperands(root, Residency::kWarm, target), model, memo, {}).impl;
}

size_t Columns(const Spec& root) { return root.size[static_cast<size_t>(BlockDim(root))]; }

// A kernel as its callers use it: thread t of n has the columns from t / n on.
Kernel WithRanges(const Spec& root, Kernel kernel) {
  kernel.run = [columns = Columns(root), run = kernel.run](KernelCall call) {
    const size_t thread = call.thread, threads = call.n_threads;
    call.thread = columns * thread / threads;
    call.n_threads = columns * (thread + 1) / threads;
    run(call);
  };
  return kernel;
}

VerifyTrial TrialOf(const Spec& root, size_t threads = 1) {
  const bool floats = IsFloating(AccumulatorOf(root));
  return {.kind = floats ? InputKind::kSpread : InputKind::kIntegers, .seed = 5, .n_threads = threads};
}

// What `threads` ranges, one after the other and the last first, make of the trial's operands.
std::string Result(const Spec& root, const Kernel& kernel, size_t threads) {
  const VerifyTrial trial = TrialOf(root, threads);
  const ContractionProblem problem(root);
  const auto operands = Operands::Create(problem, trial);
  const absl::Status run = RunGuarded(problem, WithRanges(root, kernel), trial, *operands);
  EXPECT_TRUE(run.ok()) << testing::Describe(root) << " " << threads << " threads: " << run;
  const GuardedBuffer& out = operands->at(MatmulDims::kOut);
  return {static_cast<const char*>(out.data()), out.bytes()};
}

using EveryTarget = testing::OnTargetTest;
INSTANTIATE_TEST_SUITE_P(
    , EveryTarget,
    ::testing::Values(testing::Avx2Target(), testing::Avx512Target(), testing::Avx512DotTarget()),
    [](const auto& info) {
      return std::string(info.index == 0 ? "Avx2" : info.index == 1 ? "Avx512" : "Avx512Dot");
    });

// Copies without panels, of an operand of which blocks have parts side by side in the copy's rows: no part is
// written beyond its end, where another block's begins, or nothing.
TEST_P(EveryTarget, PartsOfDenseCopiesKeepToThemselves) {
  std::mt19937_64 random(11);
  int copies = 0;
  for (const char* const text :
       {"matmul f32 23x33x40 out=col column-blocks=7", "matmul f32 9x5x72 out=col rhs=col column-blocks=7",
        "matmul bf16*f8_e4m3->f32 9x21x71 out=col column-blocks=5"}) {
    const Spec root = ParseSpec(text)->spec;
    for (int i = 0; i < 40; ++i) {
      const Impl impl = testing::RandomImpl(root, GetParam(), &random);
      VerifyOptions options;
      options.header = options.interpreter = false;
      const VerifyReport report = VerifyKernel(impl, GetParam(), options);
      ASSERT_TRUE(report.ok) << text << testing::Describe(impl) << report.first_mismatch;
      const Program program = WriteProgram(impl, GetParam());
      for (const KernelShape& kernel : program.kernels)
        if (const auto* const pack = std::get_if<PackShape>(&kernel); pack != nullptr && pack->exact)
          ++copies;
    }
  }
  EXPECT_GT(copies, 0);
}

// Verified against the reference, and the same bits from any number of threads, more than blocks included:
// programs that were chosen, and such that were drawn from all there are.
TEST_P(EveryTarget, AnyNumberOfThreadsComputesTheSame) {
  std::mt19937_64 random(GetParam().vectors.front().bytes);
  int phases = 0, round = 0;
  for (const MatmulTypes& types : testing::EveryTypes())
    for (int i = 0; i < 6 && !HasFailure(); ++i, ++round) {
      Spec root = testing::RandomMatmulSpec({.max_side = 90, .types = types, .constants = true}, &random);
      if (round % 3 == 0) root = testing::WithRandomEpilogue(root, &random);
      constexpr uint16_t kBlocks[] = {16, 32, 7, 48};
      root.block = kBlocks[random() % std::size(kBlocks)];
      root.block_rows = random() % 4 == 0 ? 1 : 0;
      const Impl impl =
          round % 2 == 0 ? Best(root, GetParam()) : testing::RandomImpl(root, GetParam(), &random);
      const VerifyReport report = VerifyKernel(impl, GetParam(), [] {
        VerifyOptions options;
        options.header = false;
        return options;
      }());
      ASSERT_TRUE(report.ok) << testing::Describe(impl) << report.first_mismatch;
      if (ConstantOperand(root) >= 0) continue;  // what is packed has been verified
      const LoopProgram program = Lower(impl, GetParam(), "kernel");
      const auto jit = JitCompile(program, GetParam());
      ASSERT_TRUE(jit.ok());
      const Kernel kernel = CompiledKernel(**jit, program);
      const std::string one = Result(root, kernel, 1);
      const size_t blocks = (Columns(root) + root.block - 1) / root.block;
      for (size_t threads = 2; threads <= std::min<size_t>(blocks + 3, 12) && !HasFailure(); ++threads)
        EXPECT_TRUE(Result(root, kernel, threads) == one)
            << threads << " threads " << testing::Describe(root) << "\n"
            << testing::Describe(impl);
      phases += program.phases > 1 ? 1 : 0;
    }
  EXPECT_GT(phases, round / 30);
}

// Every block alone, in any order: what all have in common was copied before, by ranges of another kind.
TEST_P(EveryTarget, BlocksOneByOne) {
  for (const char* text : {"matmul f32 37x200x300 lhs=col column-blocks=64",
                           "matmul bf16*bf16->f32 70x150x250 rhs=col column-blocks=32",
                           "matmul u8*s8->s32 2:9x64x200 lhs=col column-blocks=32",
                           "matmul f32 70x90x200 out=col column-blocks=16"}) {
    const Spec root = ParseSpec(text)->spec;
    const LoopProgram program = Lower(Best(root, GetParam()), GetParam(), "kernel");
    const auto jit = JitCompile(program, GetParam());
    Kernel kernel = CompiledKernel(**jit, program);
    const std::string expected = Result(root, kernel, 1);
    const VerifyTrial trial = TrialOf(root);
    const ContractionProblem problem(root);
    const auto operands = Operands::Create(problem, trial);
    kernel.run = [&, run = kernel.run](KernelCall call) {
      const bool blocks = call.phase + 1 == static_cast<size_t>(program.phases);
      const size_t step = blocks ? root.block : 50, end = Columns(root);
      for (size_t first = (end - 1) / step * step + step; first >= step; first -= step) {
        call.thread = first - step, call.n_threads = blocks ? first - step + 1 : first;
        run(call);
      }
    };
    ASSERT_TRUE(RunGuarded(problem, kernel, trial, *operands).ok()) << text;
    EXPECT_EQ(std::memcmp(operands->at(MatmulDims::kOut).data(), expected.data(), expected.size()), 0)
        << text;
  }
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Aligned = std::unique_ptr<void, Free>;
Aligned Allocate(int64_t bytes) {
  return Aligned(std::aligned_alloc(64, static_cast<size_t>((bytes + 127) / 64 * 64)));
}

// Threads at once, with a barrier of their own between phases.
TEST_P(EveryTarget, ThreadsAtOnce) {
  const Spec root = ParseSpec("matmul f32 64x300x500 lhs=col column-blocks=64")->spec;
  const LoopProgram program = Lower(Best(root, GetParam()), GetParam(), "kernel");
  const auto jit = JitCompile(program, GetParam());
  const Kernel kernel = CompiledKernel(**jit, program), ranges = WithRanges(root, kernel);
  const std::string expected = Result(root, kernel, 1);
  const ContractionProblem problem(root);
  for (size_t threads : {1u, 2u, 3u, 5u, 20u}) {
    const auto operands = Operands::Create(problem, TrialOf(root));
    const Aligned shared = Allocate(program.shared_bytes);
    std::barrier phase_done(static_cast<std::ptrdiff_t>(threads));
    const auto work = [&](size_t thread) {
      const Aligned scratch = Allocate(program.scratch_bytes);
      const std::vector<void*> tensors = operands->pointers();
      for (size_t phase = 0; phase < static_cast<size_t>(program.phases); ++phase) {
        ranges.run({tensors, scratch.get(), thread, threads, shared.get(), phase});
        phase_done.arrive_and_wait();
      }
    };
    std::vector<std::jthread> team;
    for (size_t thread = 0; thread < threads; ++thread) team.emplace_back(work, thread);
    team.clear();
    EXPECT_EQ(std::memcmp(operands->at(MatmulDims::kOut).data(), expected.data(), expected.size()), 0)
        << threads;
  }
}

// Ranges may end beyond the last column, and have none.
TEST_P(EveryTarget, RangesBeyondTheEnd) {
  const Spec root = ParseSpec("matmul f32 5x30x200 lhs=col column-blocks=48")->spec;
  const LoopProgram program = Lower(Best(root, GetParam()), GetParam(), "kernel");
  const auto jit = JitCompile(program, GetParam());
  Kernel kernel = CompiledKernel(**jit, program);
  const std::string expected = Result(root, kernel, 1);
  for (size_t cut : {0u, 1u, 48u, 190u, 200u, 300u}) {
    const ContractionProblem problem(root);
    const VerifyTrial trial = TrialOf(root);
    const auto operands = Operands::Create(problem, trial);
    Kernel both = kernel;
    both.run = [&](KernelCall call) {
      call.thread = 0, call.n_threads = cut;
      kernel.run(call);
      call.thread = cut, call.n_threads = SIZE_MAX;
      kernel.run(call);
      call.thread = SIZE_MAX;
      kernel.run(call);
      call.thread = 90, call.n_threads = 40;
      kernel.run(call);
    };
    ASSERT_TRUE(RunGuarded(problem, both, trial, *operands).ok());
    EXPECT_EQ(std::memcmp(operands->at(MatmulDims::kOut).data(), expected.data(), expected.size()), 0) << cut;
  }
}

// The kernel for one thread is hardly better: by the cost model, and whatever its best program walks along.
TEST(ColumnBlocksTest, CostLittle) {
  for (const char* sizes : {"f32 1x1024x2048", "f32 8x512x2048", "bf16*bf16->f32 128x512x1408",
                            "f32 200x512x1024", "u8*s8->s32 64x1024x1024", "f32*bf16->f32 1x1024x4096"}) {
    const Target target = testing::Avx512DotTarget();
    const CostModel model(target);
    HashMemo memo;
    const auto cost = [&](const std::string& options) {
      const Spec root = ParseSpec(std::string("matmul ") + sizes + options)->spec;
      return Search(PlaceOperands(root, Residency::kWarm, target), model, memo, {}).cost;
    };
    EXPECT_LT(static_cast<double>(cost(" column-blocks=64")), 1.06 * static_cast<double>(cost(""))) << sizes;
  }
}

}  // namespace
}  // namespace kirsch
