// SPDX-License-Identifier: Apache-2.0
// Plans of several loop nests on several threads: phases between which all threads wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "codegen/llvm/jit.h"
#include "spec/program/plan_program.h"
#include "spec/program/program_memory.h"
#include "spec/text/cat.h"
#include "tests/testing/header_testing.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/random_graph.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Of a single row, so that tiles of rows are nothing to share.
constexpr char kMlp[] =
    "kernel mlp(x: f32[1,40], w1: f32[40,72], w2: f32[72,24]):\n"
    " return matmul(relu(matmul(x, w1)), w2)";
constexpr char kGated[] =
    "kernel gated(x: f32[1,64], w1: f32[64,200], w2: f32[64,200], w3: f32[200,48]):\n"
    " return matmul(mul(silu(matmul(x, w1)), matmul(x, w2)), w3)";
constexpr char kNormalised[] =
    "kernel normalised(x: f32[1,64], s: f32[64], w: f32[64,96]):\n"
    " return softmax(matmul(rmsnorm(x, s), w))";
constexpr char kChain[] =
    "kernel chain(x: f32[1,64], a: f32[64,80], b: f32[80,96], c: f32[96,64]):\n"
    " return matmul(matmul(matmul(x, a), b), c)";

// Does a nest that each thread does for itself make what threads share?
bool SharesWhatIsRepeated(const Plan& plan, const Target& target) {
  std::set<std::string> shared;
  for (const Program::Buffer& buffer : WriteProgram(plan, target).buffers)
    if (buffer.memory == Memory::kShared) shared.insert(buffer.name);
  for (const LoopNest& nest : plan.nests)
    for (const Stage& stage : nest.stages)
      if (nest.sharing == Sharing::kNone && shared.contains(Cat("v", stage.operands.back().value)))
        return true;
  return false;
}

// What is wrong with where a program's values lie; empty: nothing.
std::string MemoryError(const Program& program) {
  const std::vector<std::optional<Lifetime>> phases = FindPhases(program);
  for (size_t a = 0; a < phases.size(); ++a) {
    const Program::Buffer& value = program.buffers[a];
    if (value.memory == Memory::kPacked || value.memory == Memory::kCaller || !phases[a]) continue;
    const bool shared = value.memory == Memory::kShared;
    if (shared != (phases[a]->first < phases[a]->last)) return value.name + ": in the wrong memory";
    if (value.offset + value.bytes > (shared ? program.shared_bytes : program.own_bytes))
      return value.name + ": beyond the end";
    for (size_t b = 0; b < a; ++b) {
      const Program::Buffer& other = program.buffers[b];
      const bool overlap =
          value.offset < other.offset + other.bytes && other.offset < value.offset + value.bytes;
      const bool meet = phases[a] && phases[b] && phases[a]->first <= phases[b]->last &&
                        phases[b]->first <= phases[a]->last;
      if (shared && other.memory == Memory::kShared && meet && overlap)
        return Cat(value.name, ", ", other.name, ": both at one place");
    }
  }
  return "";
}

TEST_P(PlanTest, RandomGraphsInPhasesAreRight) {
  std::mt19937 random(29);
  int several = 0;
  const int rounds = Rounds(30);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    const std::string text = RandomKernel(2 + round % 5, random);
    Target target = WithFreeThreads(target_);
    target.barrier_cycles = round % 2 * 300;  // some nests are repeated then
    const Plan plan = VerifiedPlan(text, target, 2 + round / 2 % 2, round % 15 == 0, round % 3 != 0);
    EXPECT_EQ(MemoryError(WriteProgram(plan, target)), "") << text << "\n" << PrintPlan(plan);
    EXPECT_FALSE(SharesWhatIsRepeated(plan, target)) << text << "\n" << PrintPlan(plan);
    several += plan.phases() > 1 ? 1 : 0;
  }
  EXPECT_GT(several, rounds / 4);
}

// Verification runs the last thread first, in each phase: what the others have not made yet is NaN.
TEST_P(PlanTest, AMissingPhaseIsFound) {
  for (const char* text : {kGated, kChain}) {
    const Plan plan = VerifiedPlan(text, WithFreeThreads(target_), 2);
    ASSERT_GT(plan.phases(), 2) << PrintPlan(plan);
    for (int missing = 1; missing < plan.phases(); ++missing) {
      Plan changed = plan;
      for (LoopNest& nest : changed.nests) nest.phase -= nest.phase >= missing ? 1 : 0;
      EXPECT_FALSE(VerifyPlan(changed, target_).ok) << missing << "\n" << PrintPlan(plan);
    }
  }
}

// Threads that wait for each other, and one after the other: always the same bits.
class Runner {
 public:
  Runner(const Plan& plan, const Target& target)
      : program_(Lower(plan, target, "kernel")), code_(*JitCompile(program_, target)) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> real(-1, 1);
    for (const GraphNode& node : plan.graph.nodes) {
      if (node.op != Operation::kInput) break;
      for (float& value : tensors_.emplace_back(node.type.elements())) value = real(random);
    }
    tensors_.emplace_back(plan.graph.TypeOf(plan.graph.results.front()).elements());
  }

  std::vector<float> Run(size_t n_threads) {
    std::vector<void*> pointers;
    for (std::vector<float>& tensor : tensors_) pointers.push_back(tensor.data());
    const Memory shared = NewMemory(program_.shared_bytes);
    std::barrier<> barrier(static_cast<std::ptrdiff_t>(n_threads));
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < n_threads; ++thread)
      threads.emplace_back([&, thread] {
        const Memory scratch = NewMemory(program_.scratch_bytes);
        for (size_t phase = 0; phase < static_cast<size_t>(program_.phases); ++phase) {
          code_->Caller()({pointers, scratch.get(), thread, n_threads, shared.get(), phase});
          barrier.arrive_and_wait();
        }
      });
    for (std::thread& thread : threads) thread.join();
    return std::exchange(tensors_.back(), std::vector<float>(tensors_.back().size()));
  }

 private:
  using Memory = std::unique_ptr<void, decltype(&std::free)>;
  static Memory NewMemory(int64_t bytes) {
    const auto size = static_cast<size_t>((bytes + 127) / 64 * 64);
    Memory memory(std::aligned_alloc(64, size), &std::free);
    std::memset(memory.get(), 0xff, size);
    return memory;
  }

  const LoopProgram program_;
  const std::unique_ptr<JitKernel> code_;
  std::vector<std::vector<float>> tensors_;
};

TEST_P(PlanTest, AnyNumberOfThreadsHasTheSameBits) {
  for (const char* text : {kMlp, kGated, kNormalised, kChain}) {
    const auto result = PlanOf(GraphOf(text), WithFreeThreads(target_), 3);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_GT(result->plan.phases(), 1) << PrintPlan(result->plan);
    Runner runner(result->plan, target_);
    const std::vector<float> alone = runner.Run(1);
    for (size_t n_threads : {2, 3, 7})
      for (int again = 0; again < 5; ++again) {
        const std::vector<float> out = runner.Run(n_threads);
        EXPECT_EQ(std::memcmp(out.data(), alone.data(), out.size() * sizeof(float)), 0) << text;
      }
  }
}

TEST_P(PlanTest, ElementsOfFewRowsAreShared) {
  const Target target = WithFreeThreads(target_);
  EXPECT_THAT(Verified("kernel a(x: f32[1,4096]):\n return gelu(x)", target, 2),
              HasSubstr("4096 rows by 2048, threads share"));
  EXPECT_THAT(Verified("kernel a(x: f32[3,500], y: f32[3,500]):\n return mul(silu(x), y)", target, 2),
              HasSubstr("1500 rows by 768, threads share"));
  EXPECT_THAT(Verified("kernel a(x: f32[1,1003], y: f32[1003], z: f32[]):\n"
                       " return add(exp(cast(mul(x, y), bf16)), z)",
                       target, 3),
              HasSubstr("1003 rows by 384, threads share"));
  // The bias would have to be repeated: whole rows are shared.
  EXPECT_THAT(Verified("kernel a(x: f32[3,500], y: f32[500]):\n return mul(silu(x), y)", target, 3),
              HasSubstr("3 rows by 1, threads share"));
  for (const char* text : {"softmax f32 1x900", "kernel a(x: f32[900]):\n return softmax(x)",
                           "kernel a(x: f32[900]):\n return exp(reduce_sum(x, axis=0))"})
    EXPECT_THAT(Verified(text, target, 2), HasSubstr("1 rows by 1 "));
}

// What is small is done by each thread for itself, unless it costs less to wait.
TEST_P(PlanTest, CostDecidesWhoDoesWhat) {
  constexpr char kText[] =
      "kernel a(x: f32[4,256], s: f32[256], w: f32[256,512]):\n return matmul(rmsnorm(x, s), w)";
  Target target = WithFreeThreads(target_);
  EXPECT_THAT(Verified(kText, target, 2), HasSubstr("phase 1"));
  target.barrier_cycles = 5000;
  const std::string repeated = Verified(kText, target, 2);
  EXPECT_THAT(repeated, HasSubstr("4 rows by 4  #"));
  EXPECT_THAT(repeated, HasSubstr("threads share it"));
  EXPECT_THAT(repeated, Not(HasSubstr("phase")));
  target.fork_join_cycles = 1e7;
  EXPECT_THAT(Verified(kText, target, 2), Not(HasSubstr("share")));
}

TEST_P(PlanTest, ParametersMayBeCalledAsOurOwn) {
  constexpr char kText[] =
      "kernel a(thread: f32[1,40], scratch: f32[40,64], phase: f32[64,40], shared: f32[40,30], "
      "n_threads: f32[30], out: f32[30], shared_: f32[30], scratch_memory: f32[30]):\n"
      " y = matmul(gelu(matmul(gelu(matmul(thread, scratch)), phase)), shared)\n"
      " return mul(add(mul(add(y, n_threads), out), shared_), scratch_memory)";
  EXPECT_GT(VerifiedPlan(kText, WithFreeThreads(target_), 2, true).phases(), 1);
}

TEST_P(PlanTest, WhatALaterPhaseNeedsIsNotRepeated) {
  constexpr char kText[] =
      "kernel a(x: f32[1,256], s: f32[256], w: f32[256,512], v: f32[512,256]):\n"
      " y = rmsnorm(x, s)\n"
      " return mul(softmax(matmul(matmul(y, w), v)), y)";
  Target target = WithFreeThreads(target_);
  target.barrier_cycles = 500;
  const Plan plan = VerifiedPlan(kText, target, 2);
  EXPECT_GT(plan.phases(), 2) << PrintPlan(plan);
  EXPECT_FALSE(SharesWhatIsRepeated(plan, target)) << PrintPlan(plan);
}

INSTANTIATE_TEST_SUITE_P(Isa, PlanTest, ::testing::Values(Avx2Target(), Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

using PhasesHeaderTest = HeaderTest;

INSTANTIATE_TEST_SUITE_P(Isa, PhasesHeaderTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

// Small integers, so that sums are exact.
constexpr char kProgram[] = R"(#include "kernel.h"
static float x[40], w1[40 * 72], w2[72 * 24], out[24];
static float memory[1 << 16];
static void fill(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = (float)(i * 7 % 5) - 2;
}
static float expected(size_t column) {
  float sum = 0;
  for (size_t j = 0; j < 72; ++j) {
    float inner = 0;
    for (size_t k = 0; k < 40; ++k) inner += x[k] * w1[k * 72 + j];
    sum += (inner > 0 ? inner : 0) * w2[j * 24 + column];
  }
  return sum;
}
int main(void) {
  char* const shared = (char*)(((size_t)memory + 63) / 64 * 64);
  char* const scratch = shared + (kernel_shared_bytes() + 63) / 64 * 64;
  fill(x, 40), fill(w1, 40 * 72), fill(w2, 72 * 24);
  for (size_t phase = 0; phase < kernel_phases(); ++phase)
    for (size_t thread = 3; thread-- > 0;) kernel(x, w1, w2, out, SCRATCH thread, 3, shared, phase);
  (void)scratch;
  for (size_t i = 0; i < 24; ++i)
    if (out[i] != expected(i)) return 1;
  return kernel_supported() && kernel_phases() > 1 ? 0 : 2;
}
)";

TEST_P(PhasesHeaderTest, CallersGoFromPhaseToPhase) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  Target target = WithFreeThreads(GetParam() ? Avx512Target() : Avx2Target());
  target.features = target_.features;
  const auto result = PlanOf(GraphOf(kMlp), target, 2);
  ASSERT_TRUE(result.ok()) << result.status();
  HeaderFile header = HeaderOf(result->plan, target);
  const bool scratch = header.functions[0].scratch_bytes() > 0;
  Write("kernel.h", PrintHeaderFile(header));
  const std::string file = Write("main.c", kProgram);
  const std::string define = scratch ? "-DSCRATCH=scratch," : "-DSCRATCH=";
  for (const std::string& compiler : Compilers())
    if (Compile(compiler, Cat("-O1 ", define), file, Path("main"))) Run(Path("main"));
}

// A kernel of one phase for one CPU, and of several for another: the first does all in the first phase.
TEST_P(PhasesHeaderTest, TargetsMayHaveDifferentPhases) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  Target several = WithFreeThreads(Avx2Target()), one = Avx512Target();
  if (!GetParam()) std::swap(several, one);
  several = WithFreeThreads(several);
  one.fork_join_cycles = 1e7;
  const auto first = PlanOf(GraphOf(kMlp), several, 2), second = PlanOf(GraphOf(kMlp), one, 2);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_EQ(second->plan.phases(), 1);
  HeaderFile header = HeaderOf(first->plan, several);
  std::vector<HeaderVariant>& variants = header.functions[0].variants;
  variants[0].programs[0].name = "kernel_several";
  variants.push_back({one, {Lower(second->plan, one, "kernel_one")}, 0, 0, ""});
  variants = BestFirst(variants);
  ASSERT_EQ(variants.size(), 2u);
  Write("kernel.h", PrintHeaderFile(header));
  const std::string file = Write("main.c", kProgram);
  const std::string define = header.functions[0].scratch_bytes() > 0 ? "-DSCRATCH=scratch," : "-DSCRATCH=";
  for (const std::string& compiler : Compilers())
    if (Compile(compiler, Cat("-O1 ", define), file, Path("main"))) Run(Path("main"));
}

}  // namespace
}  // namespace kirsch::testing
