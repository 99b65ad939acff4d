// SPDX-License-Identifier: Apache-2.0
// The ladder of graphs' kernels: every guard has a kernel that breaks the rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string>

#include "codegen/verify/known_graph.h"
#include "codegen/verify/verify_ladder.h"
#include "spec/element_array.h"
#include "spec/text/cat.h"
#include "tests/testing/plan_testing.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;

// Wrong kernels
// --------------------------------------------------------------------------------------------------

// What one call of a kernel has.
struct Memory {
  float *x, *packed, *out, *scratch, *shared;
  size_t thread, n_threads, phase;
};

// relu(x) in one phase, its product with w, packed as it lies, in the next; rows are shared out.
class GraphRules : public ::testing::Test {
 protected:
  using After = std::function<void(const Memory&)>;
  using AfterPacking = std::function<void(const float* w, float* packed)>;
  static constexpr size_t kRows = 5, kInner = 3, kColumns = 7;

  static void Compute(const Memory& memory) {
    for (size_t i = memory.thread; i < kRows; i += memory.n_threads) {
      float* const row = memory.shared + kInner * i;
      if (memory.phase == 0)
        for (size_t p = 0; p < kInner; ++p) row[p] = std::max(memory.x[kInner * i + p], 0.0f);
      if (memory.phase == 1)
        for (size_t j = 0; j < kColumns; ++j) {
          float sum = 0;
          for (size_t p = 0; p < kInner; ++p) sum += row[p] * memory.packed[kColumns * p + j];
          memory.out[kColumns * i + j] = sum;
        }
    }
  }

  static Kernel PlainKernel(const After& after, const AfterPacking& after_packing) {
    Kernel kernel;
    kernel.name = "plain";
    kernel.scratch_bytes = kernel.shared_bytes = 64;
    kernel.phases = 2;
    kernel.packed = {1};
    kernel.packed_place = 1;
    kernel.packed_bytes = 128;
    kernel.pack = [after_packing](absl::Span<void* const> tensors) {
      auto *const w = static_cast<float*>(tensors[0]), *const packed = static_cast<float*>(tensors[1]);
      std::copy_n(w, kInner * kColumns, packed);
      if (after_packing) after_packing(w, packed);
    };
    kernel.run = [after](const KernelCall& call) {
      const auto floats = [](void* data) { return static_cast<float*>(data); };
      const Memory memory{floats(call.tensors[0]), floats(call.tensors[1]),
                          floats(call.tensors[2]), floats(call.scratch),
                          floats(call.shared),     call.thread,
                          call.n_threads,          call.phase};
      Compute(memory);
      if (after) after(memory);
    };
    return kernel;
  }

  RungReport Climb(const VerifyTrial& trial, const After& after,
                   const AfterPacking& after_packing = {}) const {
    return Ladder(problem_, {1000, {trial}}).Climb(PlainKernel(after, after_packing), 1);
  }

  std::string Failure(const VerifyTrial& trial, const After& after) const {
    const RungReport report = Climb(trial, after);
    EXPECT_EQ(report.outcome, RungOutcome::kFailed);
    return report.text;
  }
  std::string AtEnd(const After& after) const { return Failure({.kind = InputKind::kUniform}, after); }
  std::string AtStart(const After& after) const {
    return Failure({.kind = InputKind::kUniform, .placement = Placement::kAtStart}, after);
  }
  std::string Packing(const AfterPacking& after) const {
    return Climb({.kind = InputKind::kUniform}, {}, after).text;
  }

  const Graph graph_ = testing::GraphOf(
      "kernel made(x: f32[5,3], w: const f32[3,7]):\n"
      "  return matmul(relu(x), w)");
  const GraphProblem problem_{graph_};
};

// What lies between the rows of tensors with strides is neither computed from nor written.
TEST(VerifyStrides, GapsThatAreUsedAreFoundOut) {
  const Graph graph =
      testing::GraphOf("kernel gaps(x: f32[3,4] strides=[6,1]) -> f32[3,4] strides=[5,1]:\n  return relu(x)");
  const GraphProblem problem(graph);
  EXPECT_EQ(problem.tensors()[0].elements, 16);
  EXPECT_EQ(problem.tensors()[1].elements, 14);
  const auto climb = [&](const std::function<void(float* x, float* out)>& after) {
    Kernel kernel;
    kernel.name = "plain";
    kernel.run = [after](const KernelCall& call) {
      auto *const x = static_cast<float*>(call.tensors[0]), *const out = static_cast<float*>(call.tensors[1]);
      for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 4; ++j) out[5 * i + j] = std::max(x[6 * i + j], 0.0f);
      after(x, out);
    };
    return Ladder(problem, {1000, {{.kind = InputKind::kUniform}}}).Climb(kernel, 1);
  };
  EXPECT_EQ(climb([](float*, float*) {}).outcome, RungOutcome::kPassed);
  EXPECT_THAT(climb([](float*, float* out) { out[4] = 0; }).text, HasSubstr("wrote between the rows of out"));
  EXPECT_THAT(climb([](float*, float* out) { out[9] = 1; }).text, HasSubstr("wrote between the rows of out"));
  EXPECT_EQ(climb([](float* x, float* out) { out[0] += x[4]; }).outcome, RungOutcome::kFailed);
}

// Sums of integers in f32 are right as long as they are small.
TEST(VerifyIntegers, SumsInFloatsAreFoundOut) {
  const Graph graph = testing::GraphOf("kernel sums(x: s32[4,9], y: s32[4,9]):\n return add(x, y)");
  const GraphProblem problem(graph);
  const auto climb = [&](auto sum) {
    Kernel kernel;
    kernel.name = "plain";
    kernel.run = [sum](const KernelCall& call) {
      const auto at = [&](size_t tensor) { return static_cast<int32_t*>(call.tensors[tensor]); };
      for (size_t i = 0; i < 36; ++i) at(2)[i] = sum(at(0)[i], at(1)[i]);
    };
    return Ladder(problem, PlanTrials(problem, 1, 1)).Climb(kernel, 5).outcome;
  };
  EXPECT_EQ(climb([](int32_t x, int32_t y) { return static_cast<int32_t>(uint32_t(x) + uint32_t(y)); }),
            RungOutcome::kPassed);
  const auto in_floats = [](int32_t x, int32_t y) {
    return static_cast<int32_t>(std::clamp(float(x) + float(y), -0x1p31f, 0x1.fffffep30f));
  };
  EXPECT_EQ(climb(in_floats), RungOutcome::kFailed);
}

TEST_F(GraphRules, TheRightKernelPassesAllRuns) {
  const TrialPlan plan = PlanTrials(problem_, 5, 1);
  EXPECT_EQ(plan.trials.size(), 5u);
  const RungReport report = Ladder(problem_, plan).Climb(PlainKernel({}, {}), 5);
  EXPECT_EQ(report.outcome, RungOutcome::kPassed) << report.text;
  EXPECT_EQ(report.text, "5 runs, every element compared");
}

TEST_F(GraphRules, ReadingBeyondAnInput) {
  EXPECT_THAT(AtEnd([](const Memory& m) { m.scratch[0] = m.x[15]; }),
              HasSubstr("read 0 bytes after the end of x"));
  EXPECT_THAT(AtStart([](const Memory& m) { m.scratch[0] = m.x[-1]; }),
              HasSubstr("read 4 bytes before the start of x"));
}

TEST_F(GraphRules, WritingAnInput) {
  EXPECT_THAT(AtEnd([](const Memory& m) { m.x[2] = 0; }), HasSubstr("wrote byte 8 of x, an input"));
}

TEST_F(GraphRules, WritingBeyondTheResult) {
  EXPECT_THAT(AtEnd([](const Memory& m) { m.out[35] = 1; }), HasSubstr("wrote 0 bytes after the end of out"));
  EXPECT_THAT(AtEnd([](const Memory& m) { m.out[-1] = 1; }), HasSubstr("wrote beside out"));
  EXPECT_THAT(AtStart([](const Memory& m) { m.out[-1] = 1; }),
              HasSubstr("wrote 4 bytes before the start of out"));
  EXPECT_THAT(AtStart([](const Memory& m) { m.out[35] = 1; }), HasSubstr("wrote beside out"));
}

TEST_F(GraphRules, LeavingScratchAndSharedMemory) {
  EXPECT_THAT(AtEnd([](const Memory& m) { m.scratch[16] = 0; }),
              HasSubstr("wrote 0 bytes after the end of the scratch memory"));
  EXPECT_THAT(AtEnd([](const Memory& m) { m.scratch[-1] = 0; }),
              HasSubstr("wrote beside the scratch memory"));
  EXPECT_THAT(AtEnd([](const Memory& m) { m.scratch[0] = m.shared[16]; }),
              HasSubstr("read 0 bytes after the end of the shared memory"));
  EXPECT_THAT(AtEnd([](const Memory& m) { m.shared[-1] = 0; }), HasSubstr("wrote beside the shared memory"));
}

TEST_F(GraphRules, LeavingWhatIsPackedOrWritingIt) {
  EXPECT_THAT(AtEnd([](const Memory& m) { m.packed[2] = 0; }),
              HasSubstr("wrote byte 8 of the packed memory, an input"));
  EXPECT_THAT(AtEnd([](const Memory& m) { m.scratch[0] = m.packed[32]; }),
              HasSubstr("read 0 bytes after the end of the packed memory"));
  EXPECT_THAT(Packing([](const float*, float* packed) { packed[32] = 0; }),
              HasSubstr("wrote 0 bytes after the end of the packed memory"));
  EXPECT_THAT(Packing([](const float*, float* packed) { packed[-1] = 0; }),
              HasSubstr("wrote beside the packed memory"));
  EXPECT_THAT(Packing([](const float* w, float* packed) { packed[0] += 0 * w[21]; }),
              HasSubstr("read 0 bytes after the end of w"));
}

TEST_F(GraphRules, PackingWrongly) {
  EXPECT_THAT(Packing([](const float*, float* packed) { packed[20] += 1; }),
              HasSubstr("out[0][6]: expected"));
}

TEST_F(GraphRules, UsingWhatWasNotWritten) {
  const auto uses = [](const auto& memory_of) {
    return [memory_of](const Memory& m) { m.out[0] += 0 * memory_of(m); };
  };
  for (const After& after : {After(uses([](const Memory& m) { return m.scratch[3]; })),
                             After(uses([](const Memory& m) { return m.shared[15]; })),
                             After(uses([](const Memory& m) { return m.packed[21]; }))})
    EXPECT_THAT(AtEnd(after), HasSubstr("out[0][0]: expected"));
}

// What a call leaves in scratch memory is not there in the next.
TEST_F(GraphRules, KeepingScratchMemoryFromOnePhaseToTheNext) {
  EXPECT_THAT(AtEnd([](const Memory& m) {
                if (m.phase == 0) m.scratch[0] = 1;
                if (m.phase == 1) m.out[0] *= m.scratch[0];
              }),
              HasSubstr("out[0][0]: expected"));
}

// The last thread goes first: the others' rows are not there as yet.
TEST_F(GraphRules, NotWaitingForTheOtherThreads) {
  EXPECT_THAT(Failure({.kind = InputKind::kUniform, .n_threads = 2},
                      [](const Memory& m) {
                        if (m.phase == 0 && m.thread == 1) m.shared[3] += 0 * m.shared[0];
                      }),
              HasSubstr("out[1][0]: expected"));
}

TEST_F(GraphRules, GettingOneSplitWrong) {
  EXPECT_THAT(Failure({.kind = InputKind::kUniform, .n_threads = 3},
                      [](const Memory& m) { m.out[10] += m.n_threads == 3 ? 1 : 0; }),
              HasSubstr("out[1][3]: expected"));
}

TEST_F(GraphRules, LeavingAnElementUnwritten) {
  EXPECT_THAT(AtEnd([](const Memory& m) { m.out[34] = std::bit_cast<float>(0xffffffffu); }),
              HasSubstr("out[4][6]: expected"));
}

TEST_F(GraphRules, TakingForAlignedWhatIsNot) {
  const auto aligned = [](const Memory& m) {
    __m128 vector;
    __asm__ volatile("movaps (%1), %0" : "=x"(vector) : "r"(m.x) : "memory");
    m.scratch[0] = _mm_cvtss_f32(vector);
  };
  const VerifyTrial shifted{.kind = InputKind::kUniform, .placement = Placement::kAtStart, .shift = 1};
  EXPECT_THAT(Failure(shifted, aligned), HasSubstr("died of signal 11"));
}

TEST_F(GraphRules, AnIllegalInstruction) {
  EXPECT_THAT(AtEnd([](const Memory&) { __builtin_trap(); }), HasSubstr("died of signal 4"));
}

TEST(GraphTrialsTest, TryGuardsMisalignmentSplitsAndKinds) {
  const Graph graph = testing::GraphOf("kernel made(x: f32[9,8]):\n  return tanh(x)");
  const TrialPlan plan = PlanTrials(GraphProblem(graph), 8, 1);
  bool at_start = false, at_end = false, misaligned = false, idle_threads = false, wide = false;
  for (const VerifyTrial& trial : plan.trials) {
    at_start |= trial.placement == Placement::kAtStart && trial.shift == 0;
    at_end |= trial.placement == Placement::kAtEnd && trial.shift == 0;
    misaligned |= trial.placement == Placement::kAtStart && trial.shift % 16 != 0;
    idle_threads |= trial.n_threads > 8;
    wide |= trial.kind == InputKind::kWide;
  }
  EXPECT_TRUE(at_start && at_end && misaligned && idle_threads && wide);
}

// Rows that are not compared, of types that have a NaN and of others.
TEST(SampledGraphTest, WhatIsNotWrittenIsSeen) {
  for (const char* type : {"bf16", "f16", "s32", "s8"}) {
    const Graph graph =
        testing::GraphOf(Cat("kernel made(x: f32[400,3]):\n  return cast(relu(x), ", type, ")"));
    const GraphProblem problem(graph);
    const Dtype dtype = problem.outputs().front().dtype;
    for (bool flawed : {false, true}) {
      Kernel kernel;
      kernel.name = "plain";
      kernel.run = [&](const KernelCall& call) {
        for (int64_t i = 0; i < 1200; ++i) {
          const double value = std::max(0.0f, static_cast<const float*>(call.tensors[0])[i]);
          if (flawed && i == 371) continue;
          StoreElement(dtype, IsFloating(dtype) ? value : std::nearbyint(value), call.tensors[1], i);
        }
      };
      const RungReport report = Ladder(problem, {3, {{.kind = InputKind::kWide}}}).Climb(kernel, 1);
      EXPECT_EQ(report.outcome, flawed ? RungOutcome::kFailed : RungOutcome::kPassed) << report.text;
      EXPECT_THAT(report.text, HasSubstr(flawed ? "out[123][2]: expected" : "1 run, 3 rows compared"))
          << type;
    }
  }
}

// The whole ladder
// -----------------------------------------------------------------------------------------------

constexpr char kLayer[] =
    "kernel layer(x: f32[5,24], w: f32[24,9], b: f32[9]):\n"
    "  return relu(add(matmul(x, w), b))";

VerifyReport Verified(const Plan& plan, const Target& target, const VerifyOptions& options) {
  return VerifyKernel(plan, target, testing::HeaderOf(plan, target), options);
}

TEST(VerifyPlanTest, WhatNothingHasRunIsUnverified) {
  const Target target = testing::Avx2Target();
  const auto found = testing::PlanOf(testing::GraphOf(kLayer), target, 1);
  ASSERT_TRUE(found.ok()) << found.status();
  VerifyOptions options;
  options.host_features = {};
  VerifyReport report = Verified(found->plan, target, options);
  EXPECT_EQ(report.verdict, Verdict::kProgramChecked) << report.first_mismatch;
  options.interpreter = false;
  report = Verified(found->plan, target, options);
  EXPECT_EQ(report.verdict, Verdict::kUnverified);
  EXPECT_FALSE(report.ok);
  ASSERT_EQ(report.rungs.size(), 2u);
  EXPECT_EQ(report.rungs[0].text, "the host lacks avx2");
}

TEST(VerifyPlanTest, EveryEngineIsReportedWithItsLoops) {
  const Target target = testing::Avx2Target();
  const std::string missing = MissingOnHost(target.features);
  if (!missing.empty()) GTEST_SKIP() << "this host lacks " << missing;
  const auto found = testing::PlanOf(testing::GraphOf(kLayer), target, 1);
  ASSERT_TRUE(found.ok()) << found.status();
  VerifyOptions options;
  options.hot_loops = true;
  const VerifyReport report = Verified(found->plan, target, options);
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.first_mismatch;
  ASSERT_EQ(report.rungs.size(), 3u);
  EXPECT_EQ(report.rungs[0].outcome, RungOutcome::kPassed) << report.rungs[0].text;
  for (size_t i : {1, 2}) {
    EXPECT_EQ(report.rungs[i].outcome, RungOutcome::kPassed) << report.rungs[i].text;
    ASSERT_TRUE(report.rungs[i].loops.has_value());
    EXPECT_GT(report.rungs[i].loops->loops, 0);
  }
}

// A target may have more than a kernel's code needs.
TEST(VerifyPlanTest, TheCodeDecidesWhatCanRun) {
  Target target = testing::Avx2Target();
  const auto found = testing::PlanOf(testing::GraphOf(kLayer), target, 1);
  ASSERT_TRUE(found.ok()) << found.status();
  target.features.push_back("avx512fp16");
  VerifyOptions options;
  options.host_features = {"avx2", "fma"};
  const VerifyReport report = Verified(found->plan, target, options);
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.first_mismatch;
}

}  // namespace
}  // namespace kirsch
