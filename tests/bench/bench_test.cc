// SPDX-License-Identifier: Apache-2.0
// The measuring side of bench/: workloads, the reference, suites, processes. Nothing here depends on how
// fast.
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "bench/harness/expected_result.h"
#include "bench/harness/run.h"
#include "bench/machine/arena.h"
#include "bench/machine/timer.h"
#include "bench/results/statistics.h"
#include "bench/workload/entries.h"
#include "bench/workload/suite.h"
#include "bench/workload/workload.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/language/parser.h"
#include "spec/language/printer.h"
#include "spec/matmul_types.h"
#include "tests/testing/bench_testing.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAreArray;

TEST(Statistics, MedianInterpolates) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(Quantile({10, 20, 30, 40, 50}, 0.25), 20);
}

TEST(Statistics, SpreadIgnoresOneOutlier) {
  EXPECT_EQ(Spread({1, 1, 1, 1, 1, 1, 1, 1000}), 0);
  EXPECT_DOUBLE_EQ(Spread({8, 9, 10, 11, 12}), 0.2);
}

TEST(Statistics, GeometricMean) {
  EXPECT_DOUBLE_EQ(GeometricMean({0.5, 2}), 1);
  EXPECT_EQ(GeometricMean({}), 0);
}

TEST(Timer, OneSwitchedThreadIsPreemptedOnlyWhenItLostTime) {
  const Sample undisturbed{1e-3, 10e-3, 9.99e-3, 0};
  const Sample brief{1e-3, 10e-3, 9.99e-3, 1};
  const Sample lost{1e-3, 10e-3, 6e-3, 1};
  EXPECT_FALSE(Preempted(undisturbed, 1));
  EXPECT_FALSE(Preempted(brief, 1));
  EXPECT_TRUE(Preempted(lost, 1));
}

TEST(Timer, SeveralThreadsAreJudgedByTheirSwitches) {
  const Sample waiting{1e-3, 10e-3, 6e-3, 0};
  const Sample few{1e-3, 40e-3, 40e-3, 3};
  const Sample many{1e-3, 10e-3, 10e-3, 3};
  EXPECT_FALSE(Preempted(waiting, 2));
  EXPECT_FALSE(Preempted(few, 2));
  EXPECT_TRUE(Preempted(many, 2));
}

TEST(Timer, CalibrationFillsTheSample) {
  int calls = 0;
  const int64_t repeats = CalibrateCalls([&calls] { ++calls; }, 0.05);
  EXPECT_GT(repeats, 1);
  EXPECT_GT(calls, 1);
}

TEST(Workload, StridesFollowTheStoredMatrix) {
  Spec spec = MatmulSpec(3, 5, 7, 11);
  spec.operand[0].layout = {LayoutKind::kStrided, Order::kCol, 0, 1, 8};
  spec.operand[1].layout.ld = 13;
  const absl::StatusOr<Workload> workload = MakeWorkload(spec, 1);
  ASSERT_TRUE(workload.ok());
  const Problem* const problem = &workload->problem;
  EXPECT_EQ(problem->lhs_col, 1);
  EXPECT_EQ(problem->lhs_stride, 7u * 8);  // k columns of the stored matrix
  EXPECT_EQ(problem->rhs_stride, 7u * 13);
  EXPECT_EQ(problem->out_stride, 5u * 11);
  EXPECT_EQ(workload->operations, 2.0 * 3 * 5 * 7 * 11);
}

TEST(Workload, RefusesWhatIsNoRootSpec) {
  Spec packed = MatmulSpec(1, 4, 4, 4);
  packed.operand[0].layout.kind = LayoutKind::kPacked;
  EXPECT_THAT(MakeWorkload(packed, 1).status().message(), HasSubstr("lhs: expected a strided matrix"));
  Spec narrow = MatmulSpec(1, 4, 4, 4);
  narrow.operand[2].layout.ld = 3;
  EXPECT_THAT(MakeWorkload(narrow, 1).status().message(),
              HasSubstr("out: leading dimension 3, expected at least 4"));
}

TEST(Workload, OperandsAreAlignedApartAndInBounds) {
  const Placed placed(MatmulSpec(2, 33, 17, 65));
  const Problem& p = placed.problem;
  const char* lhs = static_cast<const char*>(p.lhs);
  const char* rhs = static_cast<const char*>(p.rhs);
  const char* out = static_cast<const char*>(p.out);
  std::set<uintptr_t> offsets;
  for (const char* operand : {lhs, rhs, out}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(operand) % 64, 0u);
    offsets.insert(reinterpret_cast<uintptr_t>(operand) % 4096);
  }
  EXPECT_EQ(offsets.size(), 3u);
  EXPECT_LE(lhs + placed.workload.operands[0].bytes(), rhs);
  EXPECT_LE(rhs + placed.workload.operands[1].bytes(), out);
  EXPECT_LE(out + placed.workload.out().bytes(), lhs + PlacedBytes(placed.workload));
}

TEST(Workload, ValuesAreReproducibleAndVaried) {
  const Placed one(MatmulSpec(1, 20, 30, 40)), two(MatmulSpec(1, 20, 30, 40));
  const size_t count = one.workload.operands[0].elements;
  const float* lhs = static_cast<const float*>(one.problem.lhs);
  EXPECT_TRUE(std::equal(lhs, lhs + count, static_cast<const float*>(two.problem.lhs)));
  const std::set<float> values(lhs, lhs + count);
  EXPECT_GT(values.size(), count - 5);
  EXPECT_GE(*values.begin(), -1);
  EXPECT_LT(*values.rbegin(), 1);
  EXPECT_LT(*values.begin(), -0.9);
  EXPECT_GT(*values.rbegin(), 0.9);
}

TEST(Workload, SetsOfWeightsAreApartAndAlike) {
  const Placed placed(MatmulSpec(1, 20, 30, 40));
  EXPECT_EQ(Weights(*placed.workload.spec), std::vector<size_t>{MatmulDims::kRhs});
  const size_t bytes = RotatedBytes(placed.workload, 3);
  ASSERT_GE(bytes, 3 * placed.workload.operands[MatmulDims::kRhs].bytes());
  const SharedArena memory(bytes);
  ASSERT_TRUE(memory.ok());
  const std::vector<Workload> rotated = Rotated(placed.workload, 3, memory.memory());
  CopyWeights(placed.workload, rotated);
  std::set<const void*> weights = {placed.problem.rhs};
  for (const Workload& copy : rotated) {
    EXPECT_TRUE(weights.insert(copy.problem.rhs).second);
    EXPECT_EQ(copy.problem.rhs, copy.operands[MatmulDims::kRhs].values);
    EXPECT_EQ(copy.problem.lhs, placed.problem.lhs);
    EXPECT_EQ(copy.problem.out, placed.problem.out);
    EXPECT_EQ(std::memcmp(copy.problem.rhs, placed.problem.rhs, copy.operands[MatmulDims::kRhs].bytes()), 0);
  }
}

// Constants; where there are none, what contractions have on the right, through transposes.
TEST(Workload, WeightsOfGraphs) {
  const auto weights_of = [](const std::string& text) {
    return Weights(*ReadEntries(text, "test")->front().graph);
  };
  EXPECT_EQ(
      weights_of("kernel a(x: f32[4,8], w: f32[8,6], b: f32[6]):\n return softmax(add(matmul(x, w), b))"),
      (std::vector<size_t>{1}));
  EXPECT_EQ(weights_of("kernel a(x: f32[4,8], w: f32[6,8], b: f32[6]):\n return softmax(add(matmul(x, "
                       "transpose(w)), b))"),
            (std::vector<size_t>{1}));
  EXPECT_EQ(
      weights_of("kernel a(x: f32[4,8], w: f32[8,6], b: const f32[6]):\n return softmax(add(matmul(x, w), "
                 "b))"),
      (std::vector<size_t>{2}));
  EXPECT_TRUE(weights_of("softmax f32 4x8").empty());
}

struct ReferenceCase {
  uint32_t b, m, k, n;
  Order lhs, rhs;
  uint32_t pad;
  bool accumulate;
};

class ReferenceTest : public ::testing::TestWithParam<ReferenceCase> {
 protected:
  static Spec MakeSpec() {
    const ReferenceCase& c = GetParam();
    Spec spec = MatmulSpec(c.b, c.m, c.k, c.n);
    spec.accumulate = c.accumulate;
    spec.operand[0].layout = {LayoutKind::kStrided, c.lhs, 0, 1, (c.lhs == Order::kRow ? c.k : c.m) + c.pad};
    spec.operand[1].layout = {LayoutKind::kStrided, c.rhs, 0, 1, (c.rhs == Order::kRow ? c.n : c.k) + c.pad};
    spec.operand[2].layout.ld += c.pad;
    return spec;
  }
};

TEST_P(ReferenceTest, TakesARightProductAndRefusesAWrongOne) {
  Placed placed(MakeSpec());
  const Problem& p = placed.problem;
  const ExpectedResult reference = *ComputeReference(placed.workload);
  EXPECT_FALSE(CheckOutput(reference, placed.workload).correct) << "the output before any call";
  Multiply(p);
  const OutputCheck check = CheckOutput(reference, placed.workload);
  EXPECT_TRUE(check.correct);
  EXPECT_LT(check.max_error, 1e-4);

  FillOutputs(placed.workload);
  Multiply(p, /*skipped_k=*/p.k - 1);
  EXPECT_FALSE(CheckOutput(reference, placed.workload).correct) << "one product of each sum left out";
  FillOutputs(placed.workload);
  Multiply(p);
  float* out = static_cast<float*>(p.out);
  out[(p.batch - 1) * p.out_stride + (p.m - 1) * p.ldc + p.n - 1] += 1;
  EXPECT_FALSE(CheckOutput(reference, placed.workload).correct) << "the very last entry";
  out[0] = NAN;
  EXPECT_EQ(CheckOutput(reference, placed.workload).max_error, INFINITY);
}

INSTANTIATE_TEST_SUITE_P(Layouts, ReferenceTest,
                         ::testing::Values(ReferenceCase{1, 1, 1, 1, Order::kRow, Order::kRow, 0, false},
                                           ReferenceCase{1, 200, 30, 170, Order::kRow, Order::kRow, 0, false},
                                           ReferenceCase{3, 20, 90, 31, Order::kCol, Order::kRow, 3, true},
                                           ReferenceCase{2, 1, 300, 5000, Order::kRow, Order::kCol, 1, false},
                                           ReferenceCase{1, 5000, 40, 2, Order::kCol, Order::kCol, 2, true}));

struct ShippedSuite {
  std::string name;
  size_t specs;
  std::vector<std::string> types;
};

// Those that every CPU sums.
std::vector<std::string> EveryTypes() {
  std::vector<std::string> all;
  for (const MatmulTypes& types : kMatmulTypes)
    if (IsOfCallers(types.lhs)) all.push_back(PrintTypes(types));
  return all;
}

class ShippedSuiteTest : public ::testing::TestWithParam<ShippedSuite> {};

TEST_P(ShippedSuiteTest, IsRead) {
  const absl::StatusOr<Suite> suite =
      LoadSuite(std::string(KIRSCH_SUITE_DIR) + "/" + GetParam().name + ".json");
  ASSERT_TRUE(suite.ok()) << suite.status();
  EXPECT_EQ(suite->name, GetParam().name);
  EXPECT_GE(suite->specs.size(), GetParam().specs);
  std::set<std::string> texts, types;
  for (const SuiteSpec& spec : suite->specs) {
    const absl::StatusOr<ParsedSpec> parsed = ParseSpec(spec.text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    const std::vector<std::string> words = absl::StrSplit(PrintSpec(parsed->spec), ' ');
    types.insert(words[1]);
    texts.insert(spec.text);
  }
  EXPECT_EQ(texts.size(), suite->specs.size()) << "a spec is there twice";
  EXPECT_THAT(types, UnorderedElementsAreArray(GetParam().types));
}

INSTANTIATE_TEST_SUITE_P(Names, ShippedSuiteTest,
                         ::testing::Values(ShippedSuite{"gemm_f32", 40, {"f32"}},
                                           ShippedSuite{"gemm_f64", 40, {"f64"}},
                                           ShippedSuite{"gemm_bf16", 25, {"bf16*bf16->f32", "bf16"}},
                                           ShippedSuite{"gemm_int8", 25, {"u8*s8->s32", "s8*s8->s32"}},
                                           ShippedSuite{"headers", 3 * EveryTypes().size(), EveryTypes()}),
                         [](const auto& info) { return info.param.name; });

TEST(Suite, KnowsWhereEachSpecIs) {
  const absl::StatusOr<Suite> suite =
      ParseSuite("{\"specs\": [\"first\",\n  \"se\\\"cond\"], \"name\": \"n\"}", "s.json");
  ASSERT_TRUE(suite.ok()) << suite.status();
  ASSERT_EQ(suite->specs.size(), 2u);
  EXPECT_EQ(suite->specs[0].line, 1);
  EXPECT_EQ(suite->specs[0].column, 13);
  EXPECT_EQ(suite->specs[1].text, "se\"cond");
  EXPECT_EQ(suite->specs[1].line, 2);
  EXPECT_EQ(suite->specs[1].column, 4);
}

TEST(Suite, AnArrayIsTheLinesOfAKernel) {
  const absl::StatusOr<Suite> suite =
      ParseSuite("{\"specs\": [\"first\", [\"kernel f():\",\n  \"  return x\"], \"last\"]}", "s.json");
  ASSERT_TRUE(suite.ok()) << suite.status();
  ASSERT_EQ(suite->specs.size(), 3u);
  EXPECT_EQ(suite->specs[1].text, "kernel f():\n  return x");
  EXPECT_EQ(suite->specs[1].line, 1);
  EXPECT_EQ(suite->specs[1].column, 23);
  EXPECT_EQ(suite->specs[2].text, "last");
}

struct BadSuite {
  std::string text, message;
};

class BadSuiteTest : public ::testing::TestWithParam<BadSuite> {};

TEST_P(BadSuiteTest, OneLineSaysWhereAndWhatWasExpected) {
  const absl::StatusOr<Suite> suite = ParseSuite(GetParam().text, "s.json");
  ASSERT_FALSE(suite.ok());
  EXPECT_EQ(suite.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(suite.status().message());
  EXPECT_THAT(message, StartsWith(GetParam().message));
  EXPECT_THAT(message, AnyOf(HasSubstr("expected"), HasSubstr("malformed")));
  EXPECT_TRUE(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; }))
      << message;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadSuiteTest,
    ::testing::Values(
        BadSuite{"", "s.json:1:1: malformed JSON: "},
        BadSuite{"{\"specs\":\n [\"a\",]}", "s.json:2:7: malformed"},
        BadSuite{"[]", "s.json:1:1: expected {\"name\": \"...\", \"specs\": [\"SPEC\", ...]}, got an array"},
        BadSuite{"{\"specs\": \"a\"}", "s.json:1:11: expected an array of specs, got the string 'a'"},
        BadSuite{"{\"specs\": [\"a\", []]}", "s.json:1:17: expected the lines of a kernel, got none"},
        BadSuite{"{\"specs\": [[\"a\", 1]]}", "s.json:1:18: expected a line of a kernel, a string, got 1"},
        BadSuite{"{\"specs\": [[[\"a\"]]]}",
                 "s.json:1:13: expected a line of a kernel, a string, got an array"},
        BadSuite{"{\"specs\": [\"a\", {}]}", "s.json:1:17: expected a spec, a string, or an array"},
        BadSuite{"{\"name\": null, \"specs\": [\"a\"]}",
                 "s.json:1:10: expected the suite's name, a string, got null"},
        BadSuite{"{\n\"spec\": [\"a\"]}", "s.json:2:1: expected \"name\" or \"specs\", got 'spec'"},
        BadSuite{"{\"specs\": [\"a\"], \"specs\": [\"a\"]}",
                 "s.json:1:18: expected each key once, got 'specs'"},
        BadSuite{"{\"name\": \"n\"}", "s.json:1:1: expected {\"name\""},
        BadSuite{"{\"specs\": []}", "s.json:1:1: expected {\"name\""},
        BadSuite{"{\"specs\": [\"\xff\"]}", "s.json:1:12: malformed JSON: invalid string, got '\"\\xff'"},
        BadSuite{"{\"spe\\u0007\\n\": []}",
                 "s.json:1:2: expected \"name\" or \"specs\", got 'spe\\x07\\x0a'"}));

TEST(Suite, AMissingFileIsNamed) {
  EXPECT_THAT(std::string(LoadSuite("/nonexistent/suite.json").status().message()),
              HasSubstr("'/nonexistent/suite.json': No such file or directory"));
}

// Kernels of ours for the processes to run: 8 x 8 x 8, dense.
float At(const void* values, size_t index) { return static_cast<const float*>(values)[index]; }

void RightKernel(const void* lhs, const void* rhs, void* out, void* scratch, size_t, size_t) {
  static_cast<char*>(scratch)[99] = 1;  // what was asked for is there
  for (size_t i = 0; i < 64; ++i) {
    float sum = 0;
    for (size_t k = 0; k < 8; ++k) sum += At(lhs, i / 8 * 8 + k) * At(rhs, k * 8 + i % 8);
    static_cast<float*>(out)[i] = sum;
  }
}

void WrongKernel(const void*, const void*, void* out, void*, size_t, size_t) {
  static_cast<float*>(out)[0] = 1;
}

void DyingKernel(const void*, const void*, void*, void*, size_t, size_t) { raise(SIGILL); }

// Each thread computes rows of its own; a missing thread leaves rows untouched.
void ThreadedKernel(const void* lhs, const void* rhs, void* out, void* scratch, size_t thread,
                    size_t n_threads) {
  static_cast<char*>(scratch)[thread] = 1;
  for (size_t i = 8 * thread / n_threads; i < 8 * (thread + 1) / n_threads; ++i)
    for (size_t j = 0; j < 8; ++j) {
      float sum = 0;
      for (size_t k = 0; k < 8; ++k) sum += At(lhs, i * 8 + k) * At(rhs, k * 8 + j);
      static_cast<float*>(out)[i * 8 + j] = sum;
    }
}

// A call of a kernel of ours: lhs, rhs, out, scratch, thread, n_threads.
using KernelFn = void(const void*, const void*, void*, void*, size_t, size_t);

Kernel KernelOf(KernelFn* function) {
  Kernel kernel;
  kernel.scratch_bytes = 100;
  kernel.run = [function](const KernelCall& call) {
    function(call.tensors[0], call.tensors[1], call.tensors[2], call.scratch, call.thread, call.n_threads);
  };
  return kernel;
}

// What is measured, and by which kernels; one that does nothing is none.
BenchRequest RequestFor(const std::vector<std::pair<std::string, Kernel>>& kernels) {
  BenchRequest request;
  for (const auto& [text, kernel] : kernels)
    request.entries.push_back({text, ParsedSpec{MatmulSpec(1, 8, 8, 8), false, text}});
  request.ours =
      [of = std::map(kernels.begin(), kernels.end())](const BenchEntry& entry) -> absl::StatusOr<Kernel> {
    if (!of.at(entry.text).run) return absl::FailedPreconditionError("none runs here");
    return of.at(entry.text);
  };
  return request;
}

TEST(RunBench, MeasuresOursAndSaysWhoIsMissing) {
  BenchRequest request = RequestFor({{"right", KernelOf(RightKernel)}});
  request.peers = {"eigen"};
  setenv("KIRSCH_PEER_DIR", "/nonexistent", 1);
  const absl::StatusOr<BenchReport> report = RunBench(request);
  unsetenv("KIRSCH_PEER_DIR");
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->results.size(), 1u);
  const BenchResult& result = report->results[0];
  EXPECT_EQ(result.name, "kirsch");
  EXPECT_TRUE(result.correct);
  EXPECT_LT(result.max_error, 1e-5);
  EXPECT_GT(result.gflops_median, 0);
  EXPECT_GT(result.samples, 0);
  EXPECT_GT(report->machine.BestPeak("fma").gflops, 0);
  EXPECT_GT(report->machine.read_gbytes, 0);
  EXPECT_GT(result.peak_share, 0);
  EXPECT_EQ(result.compulsory_bytes, 3 * 64 * 4);
  EXPECT_GT(report->machine.ghz, 0);
  EXPECT_FALSE(report->machine.cpu.empty());
  ASSERT_EQ(report->missing.size(), 1u);
  EXPECT_EQ(report->missing[0].peer, "eigen");
  EXPECT_THAT(report->missing[0].reason, HasSubstr("No such file"));
}

TEST(RunBench, AWrongKernelIsMarkedAndADeadOneReported) {
  BenchRequest request = RequestFor({{"wrong", KernelOf(WrongKernel)},
                                     {"dying", KernelOf(DyingKernel)},
                                     {"none", {}},
                                     {"right", KernelOf(RightKernel)}});
  request.cold = true;
  const absl::StatusOr<BenchReport> report = RunBench(request);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->results.size(), 2u);
  EXPECT_EQ(report->results[0].spec, "wrong");
  EXPECT_FALSE(report->results[0].correct);
  EXPECT_EQ(report->results[0].max_error, INFINITY);
  EXPECT_EQ(report->results[1].spec, "right");
  EXPECT_TRUE(report->results[1].correct);
  ASSERT_EQ(report->declined.size(), 1u);
  EXPECT_EQ(report->declined[0].spec, "none");
  EXPECT_EQ(report->declined[0].peer, "kirsch");
  ASSERT_EQ(report->failed.size(), 2u);
  EXPECT_EQ(report->failed[0].spec, "dying");
  EXPECT_THAT(report->failed[0].reason, HasSubstr("signal 4"));
  EXPECT_EQ(report->failed[1].spec, "none");
  EXPECT_EQ(report->failed[1].reason, "none runs here");
}

// Takes rhs transposed.
void PackedKernel(const void* lhs, const void* rhs, void* out, void*, size_t, size_t) {
  for (size_t i = 0; i < 64; ++i) {
    float sum = 0;
    for (size_t k = 0; k < 8; ++k) sum += At(lhs, i / 8 * 8 + k) * At(rhs, i % 8 * 8 + k);
    static_cast<float*>(out)[i] = sum;
  }
}

Kernel KernelWithPackedRhs() {
  Kernel kernel = KernelOf(PackedKernel);
  kernel.packed = {1};
  kernel.packed_place = 1;
  kernel.packed_bytes = 256;
  kernel.pack = [](absl::Span<void* const> tensors) {
    for (size_t i = 0; i < 64; ++i) static_cast<float*>(tensors[1])[i] = At(tensors[0], i % 8 * 8 + i / 8);
  };
  return kernel;
}

TEST(RunBench, PacksBeforeItMeasures) {
  for (bool cold : {false, true}) {
    BenchRequest request = RequestFor({{"right", KernelOf(RightKernel)}, {"packed", KernelWithPackedRhs()}});
    request.cold = cold;
    const absl::StatusOr<BenchReport> report = RunBench(request);
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_EQ(report->results.size(), 2u);
    EXPECT_EQ(report->results[0].method, "kernel");
    EXPECT_FALSE(report->results[0].packed);
    EXPECT_EQ(report->results[1].method, "kernel+packed");
    EXPECT_TRUE(report->results[1].packed);
    EXPECT_TRUE(report->results[1].ours());
    EXPECT_TRUE(report->results[1].correct);
    EXPECT_TRUE(report->failed.empty());
    EXPECT_TRUE(report->declined.empty());
  }
}

// Dies where it has not had three different ones after some calls.
void TurnsKernel(const void* lhs, const void* rhs, void* out, void* scratch, size_t thread,
                 size_t n_threads) {
  static std::set<const void*> seen;
  static int calls = 0;
  seen.insert(rhs);
  if (++calls > 10 && seen.size() != 3) raise(SIGILL);
  RightKernel(lhs, rhs, out, scratch, thread, n_threads);
}

TEST(RunBench, CallsTakeSetsOfWeightsInTurn) {
  for (const int sets : {3, 2}) {
    BenchRequest request = RequestFor({{"turns", KernelOf(TurnsKernel)}});
    request.sets = sets;
    const absl::StatusOr<BenchReport> report = RunBench(request);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->rotates);
    EXPECT_EQ(report->failed.empty(), sets == 3);
    if (sets != 3) continue;
    ASSERT_EQ(report->results.size(), 1u);
    EXPECT_TRUE(report->results[0].correct);
    EXPECT_EQ(report->results[0].sets, 3);
  }
  BenchRequest request = RequestFor({{"packed", KernelWithPackedRhs()}});
  request.sets = kBeyondCaches;
  const absl::StatusOr<BenchReport> report = RunBench(request);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->results.size(), 1u);
  EXPECT_TRUE(report->results[0].correct);
  EXPECT_EQ(report->results[0].sets, kMostSets);  // of 256 bytes each
}

TEST(RunBench, RunsEveryThreadOfATeam) {
  BenchRequest request = RequestFor({{"threaded", KernelOf(ThreadedKernel)}});
  request.threads = 2;
  const absl::StatusOr<BenchReport> report = RunBench(request);
  if (report.status().code() == absl::StatusCode::kInvalidArgument) GTEST_SKIP() << report.status();
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->results.size(), 1u);
  EXPECT_TRUE(report->results[0].correct);
}

// What there is nothing to share of is done once, not by every thread at the same time.
TEST(RunBench, OneThreadDoesWhatIsNotShared) {
  Kernel alone = KernelOf([](const void*, const void*, void* out, void*, size_t thread, size_t n_threads) {
    if (thread != 0 || n_threads != 1) raise(SIGILL);
    static_cast<float*>(out)[0] = 1;
  });
  alone.shares_work = false;
  BenchRequest request = RequestFor({{"alone", alone}});
  request.threads = 2;
  const absl::StatusOr<BenchReport> report = RunBench(request);
  if (report.status().code() == absl::StatusCode::kInvalidArgument) GTEST_SKIP() << report.status();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->failed.empty());
}

TEST(RunBench, RefusesRequestsThatMakeNoSense) {
  BenchRequest request;
  EXPECT_THAT(std::string(RunBench(request).status().message()), HasSubstr("expected a spec"));
  request = RequestFor({{"right", KernelOf(RightKernel)}});
  request.peers = {"openblast"};
  EXPECT_THAT(std::string(RunBench(request).status().message()),
              HasSubstr("unknown peer 'openblast', expected one of openblas, blis,"));
  request.peers = {};
  request.threads = 100000;
  EXPECT_THAT(std::string(RunBench(request).status().message()),
              HasSubstr("--threads 100000: expected 1 to"));
}

}  // namespace
}  // namespace kirsch
